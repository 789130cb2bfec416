#!/usr/bin/python3
"""Write into the cases what Ansible makes of them. Usage: ./oracle.py *.txt

Every case gets a part "-- ansible --": for each task that Ansible's own loader gives for the case's site.yml, in order, a
line of JSON with what the task inherits. Handlers come last. Cases with the setting "oracle: no" are left alone.
"""
import json
import os
import subprocess
import sys
import tempfile

KEYWORDS = ["when", "notify", "ignore_errors", "ignore_unreachable", "any_errors_fatal", "run_once", "delegate_to", "delegate_facts",
            "no_log", "check_mode", "diff", "timeout", "throttle", "become", "become_user", "become_method", "become_flags", "become_exe",
            "remote_user", "port", "debugger", "environment"]


def last(items):
    """The items without those that come again later: Ansible hands some down by two ways."""
    return [x for i, x in enumerate(items) if x not in items[i + 1:]]


def describe(task):
    out = {"action": task.action, "name": task.name or ""}
    raw = task.args.get("_raw_params")
    if raw is not None:
        out["raw"] = raw
    if task.implicit:
        return {"action": "meta", "raw": raw, **({"role": task._role.get_name()} if task._role else {})}
    if task.tags:
        out["tags"] = sorted(set(map(str, task.tags)))
    for name in KEYWORDS:
        value = getattr(task, name)
        if value is None or value == [] or (name, value) in DEFAULTS:
            continue
        out[name] = last(value) if name in ("when", "environment") else value
    for name, value in (("vars", task.get_vars()), ("include_vars", task.get_include_params())):
        if value:
            out[name] = value
    if task._role:
        chain = task.get_dep_chain()
        out["role"] = task._role.get_name()
        for name, value in (("role_defaults", task._role.get_default_vars(chain)),
                            ("role_vars", task._role.get_vars(chain, include_params=False)),
                            ("role_params", task._role.get_role_params(chain))):
            if value:
                out[name] = value
    out["search"] = task.get_search_path()
    return out


def compiled(root, settings):
    """The lines of the case in this directory; runs in a process of its own, since Ansible keeps what it has read."""
    import yaml
    from ansible import context
    from ansible.module_utils.common.collections import ImmutableDict
    import ansible.constants as C
    context.CLIARGS = ImmutableDict(tags=settings.get("tags", "all").split(), skip_tags=settings.get("skip_tags", "").split(),
                                    extra_vars=(settings["extra"],) if "extra" in settings else (), check=False, diff=False,
                                    **yaml.safe_load(settings.get("keywords", "{}")))
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader
    from ansible.playbook import Playbook
    from ansible.vars.manager import VariableManager
    loader = DataLoader()
    loader.set_basedir(root)
    variables = VariableManager(loader=loader, inventory=InventoryManager(loader=loader, sources=["h1,h2,"]))
    lines, seen = [], set()
    for play in Playbook.load(root + "/site.yml", variable_manager=variables, loader=loader).get_plays():
        all_vars = variables.get_vars(play=play)
        for block in play.compile():
            for task in block.filter_tagged_tasks(all_vars).get_tasks():
                lines.append(describe(task))
        for block in play.compile_roles_handlers() + play.handlers:
            for task in block.block:
                if id(task) in seen:  # a role that stands twice in the play gives its handlers twice
                    continue
                seen.add(id(task))
                lines.append(dict(describe(task), handler=True))
    text = "\n".join(json.dumps(line, sort_keys=True, default=str) for line in lines)
    return text.replace(root, "$DIR") + "\n"


DEFAULTS = [("no_log", False), ("check_mode", False), ("diff", False), ("throttle", 0), ("timeout", 0), ("any_errors_fatal", False)]


def split(text):
    head, *parts = ("\n" + text).split("\n-- ")
    settings = dict(line.split(": ", 1) for line in head.strip().split("\n"))
    files = []
    for part in parts:
        name, body = part.split(" --\n", 1)
        files.append((name, body))
    return head.lstrip("\n"), settings, files


def main():
    for path in sys.argv[1:]:
        with open(path) as f:
            cases = f.read().rstrip("\n").split("\n---\n")
        for i, case in enumerate(cases):
            head, settings, files = split(case)
            if settings.get("oracle") == "no" or any(name == "error" for name, _ in files):
                continue
            files = [(name, body) for name, body in files if name != "ansible"]
            with tempfile.TemporaryDirectory() as root:
                root = os.path.realpath(root)
                for name, body in files:
                    if name in ("plan", "fragment", "list", "warning"):
                        continue
                    target = os.path.join(root, name)
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "w") as f:
                        f.write(body + "\n")
                env = dict(os.environ, ANSIBLE_ROLES_PATH=root + "/elsewhere", ANSIBLE_COLLECTIONS_PATH=root,
                           ANSIBLE_HASH_BEHAVIOUR="merge" if "merge" in settings else "replace", ANSIBLE_DEPRECATION_WARNINGS="0")
                got = subprocess.run([sys.executable, __file__, "--case", root, json.dumps(settings)], cwd=root, env=env,
                                     stdout=subprocess.PIPE, check=True).stdout.decode()
            at = next((n for n, (name, _) in enumerate(files) if name in ("plan", "fragment", "list", "warning")), len(files))
            files.insert(at, ("ansible", got.rstrip("\n")))
            cases[i] = head.rstrip("\n") + "".join("\n-- %s --\n%s" % f for f in files)
        with open(path, "w") as f:
            f.write("\n---\n".join(cases) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        sys.stdout.write(compiled(sys.argv[2], json.loads(sys.argv[3])))
    else:
        main()
