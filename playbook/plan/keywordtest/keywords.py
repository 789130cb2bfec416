"""Prints what ansible-core's classes say of keywords, for keywords.txt: name, what it is, its default, how it is inherited, where it stands."""
from ansible.cli.playbook import PlaybookCLI

PlaybookCLI(["ansible-playbook", "x.yml"]).parse()

from ansible.playbook.block import Block
from ansible.playbook.handler import Handler
from ansible.playbook.loop_control import LoopControl
from ansible.playbook.play import Play
from ansible.playbook.playbook_include import PlaybookInclude
from ansible.playbook.role.include import RoleInclude
from ansible.playbook.role.metadata import RoleMetadata
from ansible.playbook.task import Task
from ansible.playbook.task_include import TaskInclude
from ansible.release import __version__
from ansible.vars.reserved import get_reserved_names

places = {"play": Play, "role": RoleInclude, "block": Block, "task": Task, "handler": Handler, "import": PlaybookInclude, "loop": LoopControl, "meta": RoleMetadata}
rows = {}
for place, kind in places.items():
    for name, a in kind.fattributes.items():
        row = rows.setdefault(name, {"a": a, "on": []})
        row["on"].append(place)
        if place == "task":
            row["a"] = a
for name in TaskInclude.VALID_INCLUDE_KEYWORDS:
    rows[name]["on"].append("include")
reserved = get_reserved_names()
print("# Made by keywords.py with ansible-core %s." % __version__)
for name, row in sorted(rows.items()):
    a = row["a"]
    if set(row["on"]) == {"meta"}:
        continue  # no keyword of playbooks
    if name in reserved:
        row["on"].append("reserved")
    default = a.default() if callable(a.default) else a.default
    if default == "smart":
        default = "ssh"  # as tasks show it
    if a.isa == "class" or default in ([], {}, ""):
        default = None
    how = "own"
    if hasattr(a, "extend"):
        how = "nearest" if not a.extend else "inner" if a.prepend else "outer"
    print("%s: %s %s %s %s" % (name, a.isa or "any", default, how, ",".join(row["on"])))
