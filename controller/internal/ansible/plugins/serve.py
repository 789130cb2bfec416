"""Runs filters, tests, lookups, inventory, vars and cache plug-ins that are written in Python, for hark.

A request is a line of JSON on standard input, its answer a line on the descriptor that standard output was; what plug-ins print goes to
standard error. codec.py, context.py, vars.py and cache.py, which go before it in one program, write the values and run plug-ins of those kinds.
"""
import importlib
import importlib.util
import json
import os
import sys
import types

wire = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

shared = None  # the directories of playbooks that Python knows of
loaded = {}  # by kind and directory: the plug-ins of its files, by name


places = set()  # directories of playbooks and roles that Ansible's loaders know of


def say(message):
    wire.write(json.dumps(message) + "\n")
    wire.flush()


class Missing(Exception):
    """There is no plug-in of the name."""


def share(books):
    """Lets plug-ins import ansible_collections: by Ansible's own finder, or where there is no Ansible from the directories themselves."""
    try:
        finder().playbook_paths = list(books)
    except ImportError:
        roots = [os.path.join(b, "collections") for b in books] + os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(":")
        package = sys.modules.setdefault("ansible_collections", types.ModuleType("ansible_collections"))
        package.__path__ = [os.path.join(r, "ansible_collections") for r in roots]


def module_of(kind, path):
    """Imports a file; one of a collection under its full name, so that its relative imports work, others under a name of their own."""
    _, mark, inside = path.partition("/ansible_collections/")
    if mark:
        name = "ansible_collections." + inside[:-len(".py")].replace("/", ".")
        return importlib.import_module(name)
    name = os.path.basename(path)[:-len(".py")]
    name = "ansible.plugins.lookup." + name if kind == "lookup" else "ansible.plugins.%s.%d_%s" % (kind, len(sys.modules), name)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def warn(text):
    print("[WARNING]: " + text, file=sys.stderr)


def files_of(directory):
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    return [os.path.join(directory, n) for n in names if n.endswith(".py") and n != "__init__.py"]


def jinja_plugins(kind, directory):
    """All filters or tests that the files of a directory define, by name."""
    known = loaded.get((kind, directory))
    if known is None:
        known = loaded[kind, directory] = {}
        for path in files_of(directory):
            try:
                plugin = getattr(module_of(kind, path), {"filter": "FilterModule", "test": "TestModule"}[kind], None)
                if plugin is not None:
                    for name, function in getattr(plugin(), kind + "s")().items():
                        known.setdefault(name, function)
            except Exception as e:
                warn("Skipping %s plugin (%s) as it seems to be invalid: %s" % (kind, path, e))
    return known


def find(kind, name, dirs):
    for directory in dirs:
        function = jinja_plugins(kind, directory).get(name.rpartition(".")[2])
        if function is not None:
            return function
    raise Missing(name)


def lookup(q, terms, variables, kw):
    try:
        from ansible.parsing.dataloader import DataLoader
        from ansible.plugins.loader import lookup_loader
        from ansible.template import Templar
    except ImportError:
        plugin = bare_lookup(q["name"], q["dirs"], q.get("basedir") or ".", variables)
    else:
        add_places(q.get("places") or [])
        if q["full"].count(".") < 2:
            for directory in q["dirs"]:
                lookup_loader.add_directory(directory)
        loader = DataLoader()
        loader.set_basedir(q.get("basedir") or ".")
        with_hostvars(variables, hostvars, loader)
        plugin = lookup_loader.get(q["full"], loader=loader, templar=Templar(loader=loader, variables=variables))
    if plugin is None:
        raise Missing(q["full"])
    return plugin.run(terms, variables=variables, **kw)


def ask(**question):
    """Asks what has to be known before the answer."""
    say(question)
    told = json.loads(sys.stdin.readline() or os._exit(1))
    if told.get("error"):
        raise ValueError(told["error"])
    return told["value"]


def hostvars(host):
    """Asks for the variables of a host."""
    return ask(hostvars=host)


def context():
    """Asks for the variables of the template that uses a filter or test."""
    return given(ask(context=True) or {})


def add_places(directories):
    """Lets what lookups render use the plug-ins of playbooks and roles."""
    from ansible.plugins.loader import add_all_plugin_dirs
    for directory in directories:
        if directory not in places:
            places.add(directory)
            add_all_plugin_dirs(directory)


def bare_lookup(name, dirs, basedir, variables):
    """A lookup where there is no Ansible; None if there is none of the name, nor one that is kept under it (_name.py)."""
    for path in [os.path.join(d, n + ".py") for n in (name, "_" + name) for d in dirs]:
        if os.path.isfile(path):
            loader = DataLoader(basedir)
            return module_of("lookup", path).LookupModule(loader=loader, templar=Templar(loader, variables, own=False))
    return None


def fill(data, present):
    """Puts into an inventory what the sources before made, and gives the variables that each thing has then."""
    for name in present["hosts"]:
        data.add_host(name)
    for name in present["groups"]:
        data.add_group(name)
    for name, group in present["groups"].items():
        for member in decode(group["hosts"]) + decode(group["children"]):
            data.add_child(name, member)
        data.groups[name].vars.update(readable(group["vars"]))
    for name, variables in present["hosts"].items():
        data.hosts[name].vars.update(readable(variables))
    return {id(thing): dict(thing.vars) for things in (data.hosts, data.groups) for thing in things.values()}


def readable(variables):
    """Variables but for those that are sealed and cannot be opened."""
    found = {}
    for name, v in variables.items():
        try:
            found[name] = given(v)
        except ValueError:
            pass
    return found


def inventory(q, path, present):
    """What an inventory plug-in makes of a source: its hosts with their variables and its groups, in order; None if it does not want it.
    Variables that were there before and are the same are not told again."""
    try:
        from ansible.inventory.data import InventoryData
        from ansible.parsing.dataloader import DataLoader
        from ansible.plugins.loader import inventory_loader
    except ImportError:
        raise RuntimeError("it is written in Python and needs ansible-core on this machine")
    for directory in q.get("dirs") or []:
        inventory_loader.add_directory(directory)
    plugin = inventory_loader.get(q["full"])
    if plugin is None:
        raise Missing(q["full"])
    if path is None:
        return True
    if not plugin.verify_file(path):
        return None
    loader = DataLoader()
    loader.set_basedir(q.get("basedir") or ".")
    data = InventoryData()
    before = fill(data, present)
    data.current_source = path
    if (marks() or q.get("marked")) and getattr(plugin, "trusted_by_default", False):
        trust(data)
    plugin.parse(data, loader, path, cache=True)
    getattr(plugin, "update_cache_if_changed", lambda: None)()

    def told(thing):
        known = before.get(id(thing), {})
        return {name: v for name, v in thing.vars.items() if name not in known or known[name] is not v}

    groups = {}
    for name, group in data.groups.items():
        groups[name] = {"hosts": [h.name for h in group.hosts], "children": [g.name for g in group.child_groups], "vars": told(group)}
    return {"hosts": {name: told(host) for name, host in data.hosts.items()}, "groups": groups}


def trust(data):
    """Takes all text that an inventory plug-in sets for a template: since 2.19 plug-ins say whether Ansible shall."""
    set_variable, mark = data.set_variable, marks()[0] if marks() else Trusted
    data.set_variable = lambda entity, name, v: set_variable(entity, name, decode(encode(v), str, mark))


def answer(q):
    dirs, kind = q.get("dirs") or [], q["kind"]
    global shared
    if shared != (q.get("books") or []):
        shared = q.get("books") or []
        share(shared)
    if kind == "names":
        return sorted({name for d in dirs for name in jinja_plugins(q["name"], d)})
    if kind == "inventory":
        path, present = q["args"]
        return inventory(q, decode(path), present)
    if kind == "lookup":
        return lookup(q, given(q.get("args") or []), given(q.get("vars") or {}), given(q.get("kw") or {}))
    args, kw = decode(q.get("args") or []), decode(q.get("kw") or {})
    if kind == "vars":
        return vars_plugins(q, *args)
    if kind == "cache":
        return cache(q, *args)
    function = find(kind, q["name"], dirs)
    wants = wanted(function)
    return within(q, wants, function, args, kw) if wants else function(*args, **kw)


def raised(e, q):
    """The class of an error: since 2.19 those of plug-ins have one for all."""
    name = type(e).__name__
    if name == "AnsibleTemplatePluginError":
        name = "AnsibleLookupError" if q["kind"] == "lookup" else "AnsibleFilterError"
    return name


def main():
    sys.path.extend(sys.argv[1:])
    stand_in()
    for line in iter(sys.stdin.readline, ""):
        try:
            q = json.loads(line)
            given_for = q["kind"] in ("inventory", "vars")
            reply = {"value": taken(answer(q), q.get("marked")) if given_for else encode(answer(q))}
        except Missing:
            reply = {"missing": True}
        except Exception as e:
            reply = {"error": str(e), "class": raised(e, q)}
        say(reply)


main()
