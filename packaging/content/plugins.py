"""Writes cheap calls of plug-ins of collections: plugins.py COUNT DIRECTORY..., where the directories hold an ansible_collections. What it writes has a
playbook of calls of filters, tests, lookups, actions, connections and become methods, and the names of the plug-ins of other kinds, which take a run
each. COUNT is how many plug-ins of each kind are taken."""
import glob
import importlib
import json
import os
import re
import sys
import warnings

from ansible.plugins import loader as loaders

warnings.simplefilter("ignore")
getattr(loaders, "init_plugin_loader", lambda: None)()

# What they give is made anew each time, they wait for somebody or they look for something far away for minutes.
LEFT_OUT = re.compile(r"random_|uuid|now\b|passwordstore|tss|dsv|k8s|kubectl|crypt|hash|password|dig$|aws_service_ip_ranges|file_glob|onepassword|rabbitmq|ec2|gcp_storage|nmap|jail|zone")
SAMPLES = ['"given"', "3", '["a", "b"]', '{"a": 1}', '[{"a": 1, "b": 2}]', '"10.0.0.1/24"']


def files(kind, roots):
    """The plug-ins of a kind: their full names and files."""
    found = []
    for root in roots:
        for path in sorted(glob.glob(os.path.join(root, "ansible_collections", "*", "*", "plugins", kind, "*.py"))):
            parts = path.split(os.sep)
            short = parts[-1][:-len(".py")]
            if short != "__init__" and not short.startswith("_"):
                found.append((".".join([parts[-5], parts[-4], short]), path))
    return found


def defined(kind, roots):
    """The filters or tests that files define, by full name."""
    names = set()
    for full, path in files(kind, roots):
        parts = full.split(".")
        try:
            module = importlib.import_module("ansible_collections.%s.%s.plugins.%s.%s" % (parts[0], parts[1], kind, parts[2]))
            plugin = getattr(module, {"filter": "FilterModule", "test": "TestModule"}[kind])()
            names.update("%s.%s.%s" % (parts[0], parts[1], name) for name in getattr(plugin, kind + "s")())
        except Exception:
            continue  # it needs what is not here
    return sorted(names)


def some(names, count):
    names = [n for n in names if not LEFT_OUT.search(n)]
    return [names[i * len(names) // count] for i in range(count)] if len(names) > count else names


def play(tasks, **more):
    return dict({"hosts": "localhost", "gather_facts": False, "ignore_errors": True, "ignore_unreachable": True, "timeout": 60, "tasks": tasks}, **more)


def shown(name, text):
    return {"name": name, "debug": {"msg": "{{ %s }}" % text}}


def main(count, roots):
    names = {kind: defined(kind, roots) for kind in ("filter", "test")}
    for kind in "lookup", "action", "connection", "become", "inventory", "cache", "callback", "vars":
        names[kind] = [full for full, _ in files(kind, roots)]
    names = {kind: some(found, count) for kind, found in names.items()}
    tasks = []
    for name in names["filter"]:
        tasks += [shown("%s %d" % (name, i), "%s | %s" % (sample, name)) for i, sample in enumerate(SAMPLES)]
        tasks.append(shown(name + " argument", "%s | %s('given')" % (SAMPLES[3], name)))
    for name in names["test"]:
        tasks += [shown("%s %d" % (name, i), "%s is %s" % (sample, name)) for i, sample in enumerate(SAMPLES)]
    for name in names["lookup"]:
        tasks += [shown(name + " none", "query('%s')" % name), shown(name + " given", "query('%s', 'given')" % name),
                  shown(name + " option", "lookup('%s', 'given', no_such=1)" % name)]
    for name in names["action"]:
        tasks += [{"name": name + " unknown", name: {"hark_no_such": 1}}, {"name": name + " none", name: {}}]
    plays = [play(tasks, check_mode=True, environment={"HOME": "/nonexistent"})]
    for name in names["connection"]:
        ways = {"ansible_connection": name, "ansible_host": "127.0.0.1", "ansible_port": 9, "ansible_timeout": 2, "ansible_user": "nobody"}
        plays.append(play([{"name": name, "ping": {}}], vars=ways))
    for name in names["become"]:
        plays.append(play([{"name": name, "command": "/bin/true", "become": True, "become_method": name}]))
    json.dump({"book": plays, "names": names}, sys.stdout)


main(int(sys.argv[1]), sys.argv[2:])
