"""What callbacks are given: objects of Ansible's own classes, made of what hark knows of plays, tasks, hosts and results."""
import uuid

from ansible import constants as C
from ansible import context
from ansible.errors import AnsibleError
from ansible.executor.stats import AggregateStats
from ansible.inventory.data import InventoryData
from ansible.inventory.group import Group
from ansible.inventory.host import Host
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook import Playbook
from ansible.playbook.block import Block
from ansible.playbook.handler import Handler
from ansible.playbook.handler_task_include import HandlerTaskInclude
from ansible.playbook.included_file import IncludedFile
from ansible.playbook.loop_control import LoopControl
from ansible.playbook.play import Play
from ansible.playbook.play_context import PlayContext
from ansible.playbook.role import Role
from ansible.playbook.role_include import IncludeRole
from ansible.playbook.task import Task
from ansible.playbook.task_include import TaskInclude
from ansible.plugins import callback
from ansible.plugins.loader import callback_loader
from ansible.release import __version__
from ansible.utils.display import Display
from ansible.vars.manager import VariableManager

display = Display()
omit = "__omit_place_holder__" + uuid.uuid4().hex


class Variables(VariableManager):
    """Gives the variables that hark has of a host."""

    def __init__(self, **known):
        chosen, C.CACHE_PLUGIN = C.CACHE_PLUGIN, "memory"  # hark keeps the facts
        try:
            super(Variables, self).__init__(**known)
        finally:
            C.CACHE_PLUGIN = chosen

    def get_vars(self, play=None, host=None, task=None, **_):
        out = link.ask(host.name if host else "") or {}
        out["omit"] = omit
        out["vars"] = dict(out)
        if task is not None:
            out.update(task.get_vars())
        return out


class Events(object):
    """Makes calls of what hark tells, and keeps the objects that several of them share."""

    def __init__(self):
        self.loader = DataLoader()
        self.hosts, self.groups, self.uuids = {}, {}, {}
        self.play, self.tasks, self.roles = None, {}, {}
        self.inventory = InventoryManager(loader=self.loader, sources=None, parse=False)
        self.inventory._inventory = InventoryData()
        self.variables = None

    def calls(self, q, plugins):
        """The method that an event calls, with its arguments; there may be another one before it."""
        for h in q.get("hosts") or []:
            self.learn(h)
        if q.get("task"):
            self.task(q["task"])
        return getattr(self, "on_" + q["kind"])(q, plugins)

    def learn(self, h):
        host = self.host(h["name"])
        host.address, host.implicit = h["address"] or h["name"], h["implicit"]
        host.vars = {"inventory_file": h["file"], "inventory_dir": h["dir"]} if h["file"] else {}
        host.vars.update(given(h["vars"] or {}))
        host.groups = []
        for name in h["groups"] or []:
            group = self.groups.setdefault(name, Group(name))
            self.inventory._inventory.groups[name] = group
            host.groups.append(group)
            if host not in group.hosts:
                group.hosts.append(host)

    def host(self, name):
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = self.inventory._inventory.hosts[name] = Host(name)
        return host

    def on_playbook(self, q, _):
        playbook = Playbook(self.loader)
        playbook._file_name = q["path"]
        playbook._basedir = os.path.abspath(os.path.dirname(q["path"]))
        self.loader.set_basedir(playbook._basedir)
        return [("v2_playbook_on_start", (playbook,), {})]

    def on_play(self, q, plugins):
        self.tasks, self.roles = {}, {}
        self.play = self.made_play(q)
        play_context = PlayContext(self.play, {})
        for plugin in plugins:
            if hasattr(plugin, "set_play_context"):
                plugin.set_play_context(play_context)
        return [("v2_playbook_on_play_start", (self.play,), {})]

    def made_play(self, q):
        play = Play()
        play.name, play.hosts = q["play"], q["pattern"]
        play._uuid = self.uuids.setdefault(q["id"].partition(".")[0], play._uuid)
        play.strategy, play.check_mode, play.tags = q["strategy"], q["play_check"], q["tags"] or []
        placed(play, q["place"])
        if self.variables is None:
            self.variables = Variables(loader=self.loader, inventory=self.inventory)
        play._variable_manager, play._loader = self.variables, self.loader
        play.tasks = [self.made_block(play, names or []) for names in q["tasks"] or []]
        return play

    def made_block(self, play, names):
        """A block of which no more is known than the names of its tasks."""
        block = Block(play=play)
        block.block = [Task(block) for _ in names]
        for task, name in zip(block.block, names):
            task.name = name
        return block

    def on_no_hosts_matched(self, q, _):
        return [("v2_playbook_on_no_hosts_matched", (), {})]

    def on_no_hosts_remaining(self, q, _):
        return [("v2_playbook_on_no_hosts_remaining", (), {})]

    def on_task(self, q, _):
        task = self.tasks[q["id"]]
        if isinstance(task, Handler):
            return [("v2_playbook_on_handler_task_start", (task,), {})]
        return [("v2_playbook_on_task_start", (task,), {"is_conditional": False})]

    def on_start(self, q, _):
        return [("v2_runner_on_start", (self.host(q["host"]), self.tasks[q["id"]]), {})]

    def on_item(self, q, _):
        status = {"unreachable": "failed", "changed": "ok"}.get(q["status"], q["status"])
        return self.with_diff(q, status, "v2_runner_item_on_" + status, {})

    def on_done(self, q, _):
        status = {"changed": "ok"}.get(q["status"], q["status"])
        if status != "failed":
            return self.with_diff(q, status, "v2_runner_on_" + status, {})
        ignored = self.tasks[q["id"]].ignore_errors
        return self.with_diff(q, status, "v2_runner_on_failed", {"ignore_errors": ignored if ignored is None else q["ignored"]})

    def with_diff(self, q, status, method, kw):
        result = self.result(q)
        calls = [(method, (result,), kw)]
        if q["diff"] and status == "ok":
            calls.insert(0, ("v2_on_file_diff", (result,), {}))
        return calls

    def on_retry(self, q, _):
        return [("v2_runner_retry", (self.result(q),), {})]

    def on_poll(self, q, _):
        return [("v2_runner_on_async_poll", (self.result(q),), {})]

    def on_async(self, q, _):
        status = "ok" if q["status"] in ("ok", "changed") else "failed"
        return [("v2_runner_on_async_" + status, (self.result(q),), {})]

    def on_include(self, q, _):
        task = self.tasks[q["id"]]
        values = {"_ansible_item_label": q["label"], "item": q["label"]} if q["label"] else {}
        included = IncludedFile(q["file"], {}, values, task, is_role=isinstance(task, IncludeRole))
        for name in q["names"]:
            included.add_host(self.host(name))
        return [("v2_playbook_on_include", (included,), {})]

    def on_notify(self, q, _):
        handler = Handler()
        handler.name = q["handler"]
        return [("v2_playbook_on_notify", (handler, self.host(q["host"])), {})]

    def on_prompt(self, q, _):
        return [("v2_playbook_on_vars_prompt", tuple(q["args"]), {})]

    def on_stats(self, q, _):
        stats = AggregateStats()
        for host, counts in q["counts"].items():
            stats.processed[host] = 1
            for name, n in counts.items():
                if n:
                    getattr(stats, name)[host] = n
        stats.custom = decode(q["custom"] or {})
        return [("v2_playbook_on_stats", (stats,), {})]

    def task(self, t):
        """Keeps a task; one that is there already gets its new name."""
        task = self.tasks.get(t["id"])
        if task is None:
            task = self.tasks[t["id"]] = self.made_task(t)
        task.name = t["name"]

    def made_task(self, t):
        kinds = {"": (Task, Handler), "file": (TaskInclude, HandlerTaskInclude), "role": (IncludeRole, IncludeRole)}
        task = kinds[t["include"]][t["handler"]](Block(play=self.play))
        task.action = t["action"]
        resolve(task, t["resolved"] or None)
        for name, v in t["keywords"].items():
            setattr(task, name, decode(v))
        if t["loop_control"]:
            task.loop_control = LoopControl()
            for name, v in t["loop_control"].items():
                setattr(task.loop_control, name, decode(v))
        task._role = self.role(t["role"])
        if t["include"] == "role":
            task._role_name = task.args.get("name", task.args.get("role"))
        placed(task, t["place"])
        return task

    def role(self, r):
        if not r:
            return None
        role = self.roles.get(r["path"])
        if role is None:
            role = self.roles[r["path"]] = Role(play=self.play)
            role._role_name, role._role_path, role._role_collection = r["name"], r["path"], r["collection"]
        return role

    def result(self, q):
        task = self.tasks[q["id"]]
        data = decode(q["result"])
        if not isinstance(data, dict):
            data = {}
        if q["no_log"]:
            data["_ansible_no_log"] = True
        if q["attempts"]:
            data.setdefault("attempts", q["attempts"])
        if q["kind"] == "retry":
            data["retries"] = q["retries"]
        fields = task.dump_attrs()
        fields["name"] = q["name"] if task.name else ""
        fields["args"] = dict(fields["args"] or {}, _ansible_version=__version__, _ansible_check_mode=bool(q["check"]))
        if q["delegated"]:
            fields["delegate_to"] = q["delegated"]
        invocation = data.get("invocation")
        given = invocation.get("module_args") if isinstance(invocation, dict) else None
        if isinstance(given, dict):  # what the task gave, rendered
            fields["args"].update((k, v) for k, v in given.items() if k in fields["args"])
        seen = task.copy(exclude_parent=True, exclude_tasks=True)
        seen._parent = task._parent
        seen.from_attrs(fields)
        return result_for_callbacks(self.host(q["host"]), seen, data, fields)


def placed(thing, where):
    """Tells a thing where it stands in a playbook, which is given as file:line or file:line:column."""
    parts = (where or "").rsplit(":", 2)
    if len(parts) == 2:
        parts.append("1")
    if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
        place(thing, parts[0], int(parts[1]), int(parts[2]))


events = Events()
main()
