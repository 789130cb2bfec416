"""Prints what the become plug-ins of ansible-core and of collections say, for become.json: their options with the variables, settings
and defaults, and the commands that they build.

    ANSIBLE_COLLECTIONS_PATH=DIRECTORY /usr/bin/python3 become.py > become.json

DIRECTORY has the collections community.general and ansible.netcommon below ansible_collections."""
import json
import shlex

from ansible import constants as C
from ansible.errors import AnsibleError
from ansible.plugins.loader import become_loader, shell_loader
from ansible.release import __version__
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

_AnsibleCollectionFinder(paths=C.COLLECTIONS_PATHS)._install()

METHODS = ["sudo", "su", "runas"]
METHODS += ["community.general." + n for n in "doas dzdo ksu machinectl pbrun pfexec pmrun run0 sesu sudosu".split()]
METHODS += ["ansible.netcommon.enable"]

TRIES = [
    {},
    {"ansible_become_user": "joe"},
    {"ansible_become_user": "joe", "ansible_become_pass": "secret"},
    {"ansible_become_user": "joe", "ansible_become_exe": "/opt/it", "ansible_become_flags": "-x -y"},
    {"ansible_become_user": "joe", "ansible_become_flags": "-n -E", "ansible_become_pass": "secret"},
]


def options(plugin):
    out = {}
    for name, d in C.config.get_configuration_definitions("become", plugin._load_name).items():
        out[name] = {
            "default": d.get("default"),
            "vars": [v["name"] for v in d.get("vars", [])],
            "env": [v["name"] for v in d.get("env", [])],
            "ini": ["%s.%s" % (i["section"], i["key"]) for i in d.get("ini", [])],
        }
    return out


def command(name, variables):
    plugin = become_loader.get(name)
    try:
        plugin.set_options(var_options=variables)
    except AnsibleError:
        return None  # an option that it demands
    text = plugin.build_become_command("PROGRAM", shell_loader.get("sh", class_only=False))
    return shlex.split(text.replace(plugin._id or "none", "ID"))


out = {"core": __version__, "methods": {}}
for name in METHODS:
    plugin = become_loader.get(name)
    out["methods"][name] = {
        "name": plugin.name,
        "fail": list(plugin.fail),
        "missing": list(plugin.missing),
        "prompt": plugin.prompt,
        "tty": plugin.require_tty,
        "options": options(plugin),
        "commands": [{"variables": v, "argv": command(name, v)} for v in TRIES],
    }
print(json.dumps(out, indent=1))
