"""Writes a playbook of cheap calls of modules, told one a line as a name and a path: with an argument that none has, without any, and as the
first example of its documentation says, all in check mode."""
import ast
import json
import re
import sys

import yaml
from ansible.errors import AnsibleError
from ansible.plugins import loader as loaders

DANGEROUS = re.compile(r"reboot|shutdown|poweroff|power_off|halt|wait_for|pause")


class Loader(yaml.SafeLoader):
    """Takes tags of Ansible's for what they stand before."""


def tagged(loader, suffix, node):
    for kind, construct in ((yaml.ScalarNode, loader.construct_scalar), (yaml.SequenceNode, loader.construct_sequence)):
        if isinstance(node, kind):
            return construct(node)
    return loader.construct_mapping(node)


Loader.add_multi_constructor("", tagged)


def examples(path):
    """What the documentation of a module shows, None if that cannot be read."""
    try:
        with open(path, encoding="utf-8") as f:
            tree = ast.parse(f.read())
        for node in tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EXAMPLES":
                return yaml.load(ast.literal_eval(node.value), Loader)
    except (ValueError, SyntaxError, yaml.YAMLError):
        pass
    return None


def first(v, names):
    """The arguments of the first task with one of the names, wherever it stands."""
    if isinstance(v, list):
        return next((a for a in (first(x, names) for x in v) if a is not None), None)
    if not isinstance(v, dict):
        return None
    for name in names:
        if isinstance(v.get(name), dict):
            return v[name]
    return next((a for a in (first(x, names) for x in v.values()) if a is not None), None)


def constant(v):
    """Without templates: nobody defines what they read."""
    if isinstance(v, dict):
        return {str(k): constant(x) for k, x in v.items()}
    if isinstance(v, list):
        return [constant(x) for x in v]
    if isinstance(v, str) and ("{{" in v or "{%" in v):
        return "given"
    return v if isinstance(v, (str, int, float)) or v is None else str(v)


def found(name):
    """Tells whether Ansible resolves a name: collections leave files of modules behind that they have removed."""
    try:
        return loaders.module_loader.find_plugin_with_context(name).resolved
    except AnsibleError:
        return False


getattr(loaders, "init_plugin_loader", lambda: None)()
tasks = []
for line in sys.stdin:
    name, path = line.split()
    if not found(name):
        continue
    calls = [("unknown", {"hark_no_such": 1})]
    if not DANGEROUS.search(name):
        calls.append(("none", {}))
        args = first(examples(path), (name, name.rpartition(".")[2]))
        if args is not None:
            calls.append(("example", constant(args)))
    tasks += [{"name": "%s %s" % (name, call), name: args} for call, args in calls]
json.dump([{"hosts": "localhost", "gather_facts": False, "check_mode": True, "ignore_errors": True, "ignore_unreachable": True, "timeout": 60,
            "environment": {"HOME": "/nonexistent"}, "tasks": tasks}], sys.stdout)
