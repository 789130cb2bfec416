"""Runs action plug-ins that are written in Python, for hark.

Descriptor 0 is a socket. Each task comes over it as another socket, which a fork of this process serves: a message there is a line of JSON. The
first tells of the task; with `op` the plug-in asks for something of its host or of the controller, and the next line is the answer; the
last line tells how the plug-in has come out. The base class of plug-ins is that of the ansible-core that is installed. Its connection is
the host's agent, and so is what runs modules.
"""
import base64
import contextlib
import json
import os
import signal
import socket
import sys
import threading

PIECE = 1 << 20  # bytes of a file in one message


class Line(object):
    """The conversation about one task."""

    def __init__(self, sock):
        self.file, self.lock = sock.makefile("rwb"), threading.Lock()

    def say(self, message):
        self.file.write(json.dumps(message).encode() + b"\n")
        self.file.flush()

    def hear(self):
        line = self.file.readline()
        if not line:
            os._exit(1)  # nobody wants to know any more
        return json.loads(line)

    def ask(self, op, **about):
        with self.lock:
            self.say(dict(about, op=op))
            answer = self.hear()
        if answer.get("unreachable"):
            raise AnsibleConnectionFailure(answer["unreachable"])
        if answer.get("error"):
            raise AnsibleError(answer["error"])
        return answer.get("value")

    def tell(self, op, text):
        with self.lock:
            self.say({"op": op, "text": text})


def connection_to(base, line):
    """The connection plug-in that Ansible would use, with the host's agent in place of what it does."""

    class Connection(base):
        has_pipelining = True
        supports_persistence = force_persistence = False
        elevated = False  # the next command is for the user of become

        def _connect(self):
            self._connected = True
            return self

        def exec_command(self, cmd, in_data=None, sudoable=True):
            elevated, self.elevated = self.elevated, False
            out = line.ask("exec", cmd=to_text(cmd, errors="surrogate_or_strict"), stdin=armour(in_data), become=elevated)
            return out["rc"], base64.b64decode(out["out"]), base64.b64decode(out["err"])

        def put_file(self, in_path, out_path):
            with open(to_bytes(in_path, errors="surrogate_or_strict"), "rb") as f:
                piece, more = f.read(PIECE), False
                while piece or not more:
                    line.ask("put", path=to_text(out_path), data=armour(piece), more=more)
                    piece, more = f.read(PIECE), True

        def fetch_file(self, in_path, out_path):
            with open(to_bytes(out_path, errors="surrogate_or_strict"), "wb") as f:
                piece = None
                while piece is None or len(piece) == PIECE:
                    piece = base64.b64decode(line.ask("fetch", path=to_text(in_path), offset=f.tell(), size=PIECE)["data"])
                    f.write(piece)

        def close(self):
            self._connected = False

        def reset(self):
            """The agent needs none."""

        def get_option(self, option, hostvars=None):
            return True if option == "pipelining" else super(Connection, self).get_option(option, hostvars)

    return Connection


def armour(data):
    return base64.b64encode(to_bytes(data or b"", errors="surrogate_or_strict")).decode("ascii")


def execute_module(line, otherwise):
    """What runs modules for plug-ins: the agent, where it has the module or the controller packs it; otherwise Ansible's way over the connection."""

    def _execute_module(self, module_name=None, module_args=None, tmp=None, task_vars=None, persist_files=False, delete_remote_tmp=None, wrap_async=False, **more):
        environment = {}
        self._compute_environment_string(environment)
        args = self._task.args if module_args is None else module_args
        data = line.ask(
            "module", name=module_name or self._task.action, args=encode({k: v for k, v in args.items() if not k.startswith("_ansible_")}),
            check=bool(self._task.check_mode), diff=bool(self._task.diff), job=bool(wrap_async), collections=list(self._task.collections or []),
            environment={str(k): to_text(v, nonstring="simplerepr") for k, v in environment.items()})
        if data is None:
            return otherwise(self, module_name, module_args, task_vars=task_vars, persist_files=persist_files, wrap_async=wrap_async, **more)
        data = decode(data)
        if isinstance(data.get("results"), list):
            data["ansible_module_results"] = data.pop("results")
        for stream in "stdout", "stderr":
            if stream in data:
                data.setdefault(stream + "_lines", (data[stream] or "").splitlines())
        data["_ansible_parsed"] = True
        return data

    return _execute_module


def show(line, verbosity):
    """Has the controller show what plug-ins have to say."""

    def display(self, msg, color=None, stderr=False, *args, **kwargs):
        if stderr:
            print(to_text(msg), file=sys.stderr)
        elif not kwargs.get("log_only"):
            line.tell("say", to_text(msg))

    def warning(self, msg, *args, **kwargs):
        line.tell("warn", to_text(msg))

    Display.display, Display.warning = display, warning
    Display().verbosity = verbosity


def vault_of(line, known):
    """What opens vaults for the loader of files: the controller has their passwords."""

    class Vault(VaultLib):
        def decrypt(self, vaulttext, filename=None, obj=None):
            return base64.b64decode(line.ask("decrypt", data=armour(vaulttext), name=to_text(filename or "")))

    return Vault([("default", None)] if known else [])


def task_of(about, loader):
    """The task as plug-ins see it, everything rendered."""

    class StepTask(Task):
        def get_path(self):
            return about["place"]

        def get_search_path(self):
            return list(about["search"])

    play = Play()
    play.name = about["play"]
    task = StepTask(block=Block(play=play), role=role_of(about.get("role")))
    for name, v in about["task"].items():
        setattr(task, name, v)
    task.module_defaults = task._load_module_defaults("module_defaults", about["task"]["module_defaults"])
    resolve(task, about["name"])
    task._loader = loader
    return task


def role_of(about):
    if not about:
        return None
    role = Role()
    role._role_name, role._role_path, role._role_collection = about["name"], about["path"], about["collection"] or None
    return role


def configured(plugin, kind, templar, keys):
    """Gives a plug-in its options, as variables and keywords of the task say."""
    known = templar.available_variables
    names = C.config.get_plugin_vars(kind, plugin._load_name)
    plugin.set_options(task_keys=keys, var_options={n: templar.template(known[n]) for n in names if n in known})
    return plugin


def connect(line, task, context, templar):
    """The connection of the task, its shell and its become."""
    name = context.connection
    base = loaders.connection_loader.get(name, class_only=True) or loaders.connection_loader.get("ssh", class_only=True)
    connection = connection_to(base, line)(context, os.devnull)
    keys = task.dump_attrs()
    configured(connection, "connection", templar, keys)
    configured(connection._shell, "shell", templar, keys)
    connection._connect()
    if not task.become:
        return connection
    become = configured(loaders.become_loader.get(task.become_method), "become", templar, keys)

    def build_become_command(cmd, shell):
        connection.elevated = True
        return cmd

    become.build_become_command = build_become_command
    connection.set_become_plugin(become)
    context.set_become_plugin(become)
    return connection


def directly(task, context, templar, known, loader):
    """The plug-in that Ansible takes for the task, over the connection that it opens: no agent has a part in it."""
    from ansible.executor import task_executor
    templar = engine_of(templar)
    kind = type("Executor", (task_executor.TaskExecutor,), {"_task": None})  # since 2.21 it asks for the task of the worker
    executor = kind.__new__(kind)
    executor._task, executor._loader, executor._shared_loader_obj, executor._job_vars = task, loader, loaders, known
    executor._host = executor._connection = executor._final_q = executor._variable_manager = None
    executor._new_stdin = open(os.devnull)
    context = executor._play_context = context.set_task_and_variable_override(task=task, variables=known, templar=templar)
    cvars = known["ansible_delegated_vars"].get(task.delegate_to, known) if task.delegate_to else known
    templar.available_variables = cvars
    connection = executor._connection = executor._get_connection(cvars, templar, context.connection)
    executor._set_connection_options(cvars, templar)
    templar.available_variables = known
    connection.update_vars(known)
    connection._play_context = context
    if connection.supports_persistence and C.USE_PERSISTENT_CONNECTIONS or connection.force_persistence:
        context.timeout = connection.get_option("persistent_command_timeout")
        connection._socket_path = task_executor.start_connection(context, connection.get_options(), task._uuid)
    if "ansible_network_os" in cvars:
        known.setdefault("ansible_python_interpreter", sys.executable)
    return handler_of(executor, connection, templar)


def variables_of(line, about, loader):
    known = about["vars"]
    hosts = with_hostvars(known, lambda host: line.ask("hostvars", host=host), loader)
    delegated = hosts.get_vars(about["host"]) if about["task"]["delegate_to"] else None
    if delegated is not None:
        known["ansible_delegated_vars"] = {about["host"]: dict({"ansible_facts": {}}, **delegated)}
    known.setdefault("ansible_facts", {})
    return known


def prepare(line, about):
    """The plug-in of a task, and the variables that it gets."""
    for directory in about["dirs"]:
        loaders.add_all_plugin_dirs(directory)
    finder().playbook_paths = about["books"]
    show(line, about["verbosity"])
    loader = DataLoader()
    loader.set_basedir(about["basedir"])
    loader._vault = vault_of(line, about["secrets"])
    known = variables_of(line, about, loader)
    templar = Templar(loader=loader, variables=known)
    task = task_of(about, loader)
    context = PlayContext()
    for name, v in about["context"].items():
        setattr(context, name, v)
    context._internal_verbosity = about["verbosity"]
    for name in "no_log", "check_mode", "diff", "become", "become_user", "become_method", "environment":
        setattr(context, name, getattr(task, name))
    if about["direct"]:
        return directly(task, context, templar, known, loader), known
    ActionBase._execute_module = execute_module(line, ActionBase._execute_module)
    connection = connect(line, task, context, templar)
    connection.update_vars(known)
    plugin = loaders.action_loader.get(
        about["plugin"], task=task, connection=connection, play_context=context, loader=loader, templar=templar,
        shared_loader_obj=loaders, collection_list=task.collections)
    if plugin is None:
        raise AnsibleError("cannot load the action plug-in %s" % about["path"])
    return plugin, known


def words_of(e):
    """What an error says; one that says nothing is told by its class."""
    return to_text(e, nonstring="simplerepr") or type(e).__name__


def perform(line, about):
    """Runs the plug-in; how that came out is what Ansible would make of it."""
    plugin = None
    try:
        plugin, known = prepare(line, about)
        result = plugin.run(task_vars=known)
        result["_ansible_no_log"] = bool(result.get("_ansible_no_log", False))
        return {"result": encode(result)}
    except AnsibleAction as e:
        result = dict(e.result)
        for kind, name in (AnsibleActionFail, "failed"), (AnsibleActionSkip, "skipped"):
            if isinstance(e, kind):
                result[name] = True
                result.setdefault("msg", e.message)
        return {"result": encode(result), "ended": True}
    except AnsibleConnectionFailure as e:
        return {"unreachable": words_of(e)}
    except AnsibleError as e:
        return {"error": words_of(e)}
    except Exception as e:
        return {"error": to_text(e), "class": type(e).__name__}
    finally:
        if plugin is not None:
            with contextlib.suppress(AnsibleError):
                plugin.cleanup()
                if about["direct"]:
                    plugin._connection.close()


def serve(sock):
    """One task, in a process of its own that leads its group."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    line = Line(sock)
    line.say({"pid": os.getpid()})
    about = given(line.hear())
    if about["direct"] and not ANSIBLE:
        line.say({"unreachable": "its connection %s is a plug-in in Python, which takes ansible-core on this machine: install it, or use ssh" % about["direct"], "over": True})
        return
    line.say(dict(perform(line, about) if ANSIBLE else {"error": "cannot run the action plug-in %s: it is written in Python and needs ansible-core on this machine" % about["path"]}, over=True))


def main():
    os.dup2(2, 1)
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        said, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not said:
            return
        sock = socket.socket(fileno=fds[0])
        sock.set_inheritable(False)  # what a plug-in leaves running would keep the conversation open
        if os.fork() == 0:
            control.close()
            status = 1
            try:
                serve(sock)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        sock.close()


sys.path.extend(sys.argv[1:])
try:
    from ansible import constants as C
    from ansible.errors import AnsibleAction, AnsibleActionFail, AnsibleActionSkip, AnsibleConnectionFailure, AnsibleError
    from ansible.module_utils.common.text.converters import to_bytes, to_text
    from ansible.parsing.dataloader import DataLoader
    from ansible.parsing.vault import VaultLib
    from ansible.playbook.block import Block
    from ansible.playbook.play import Play
    from ansible.playbook.play_context import PlayContext
    from ansible.playbook.role import Role
    from ansible.playbook.task import Task
    from ansible.plugins import loader as loaders
    from ansible.plugins.action import ActionBase
    from ansible.template import Templar
    from ansible.utils.display import Display
    ANSIBLE = True
    finder()
except ImportError:
    ANSIBLE = False
main()
