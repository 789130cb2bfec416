"""Runs callback plug-ins that are written in Python, for hark, with the classes of the ansible-core that is installed.

Requests are lines of JSON on descriptor 3, answers lines on 4; standard output and error are hark's own, so what callbacks print is on the
screen before the answer is written. codec.py goes before this file in one program, callback_objects.py after it.
"""
import atexit
import importlib
import json
import os
import signal
import sys
import threading
import traceback

stdout_callback = None  # the one on the screen, None if hark's own view has it
others = []  # those beside it, in the order in which they are called
already = "Skipping callback '%s', as we already have a stdout callback."
busy = False  # a plug-in runs: an interrupt is for it


class Link(object):
    """The lines to and from hark."""

    def __init__(self):
        self.requests = os.fdopen(3, encoding="utf-8")
        self.answers = os.fdopen(4, "w", encoding="utf-8")

    def answer(self, a):
        sys.stdout.flush()
        sys.stderr.flush()
        self.answers.write(json.dumps(a) + "\n")
        self.answers.flush()

    def ask(self, q):
        """Asks hark something while a request of its own is in hand."""
        self.answer({"ask": q})
        return given(json.loads(self.requests.readline()))


def interrupted(*_):
    if busy:
        raise KeyboardInterrupt


def command_line(argv):
    """Reads the command line as Ansible's command does: callbacks look at its options."""
    if argv[0] == "ansible":
        from ansible.cli.adhoc import AdHocCLI as Command
    else:
        from ansible.cli.playbook import PlaybookCLI as Command
    sys.argv = argv
    command = Command(argv)
    command.init_parser()
    options = command.parser.parse_known_args(argv[1:])[0]
    context._init_global_context(command.post_process_args(options))


def load(q):
    """Chooses and makes the callbacks as Ansible does. The answer tells their order: True for one in Python, the name of one of hark's own."""
    global stdout_callback
    command_line(q["command"])
    finder().playbook_paths = q["books"] or []
    for directory in q["dirs"] or []:
        callback_loader.add_directory(directory)
    name = q.get("stdout")
    if name:
        stdout_callback = callback_loader.get(name)
        if stdout_callback is None:
            return {"missing": name}
        stdout_callback.set_options()
    builtin = os.path.dirname(callback.__file__)
    found = list(callback_loader.all(class_only=True))
    own = [c for c in found if os.path.dirname(c._original_path) != builtin]
    for c in found:
        if c not in own and c.CALLBACK_TYPE == "stdout":
            display.vv(already % name_of(c))
    chosen, known = own[:], {name_of(c) for c in own}
    enabled = q["enabled"] or []
    for e in enabled:
        if e in known:
            continue
        if e.rpartition(".")[2] in q["native"]:
            chosen.append(e)
            continue
        c = callback_loader.get(e, class_only=True)
        if c is None:
            display.warning("Skipping callback plugin '%s', unable to load" % e)
        elif c not in chosen:
            chosen.append(c)
    return {"order": [c if isinstance(c, str) else True for c in chosen if isinstance(c, str) or add(c, enabled)]}


def name_of(c):
    """The name that settings call a callback by."""
    names = getattr(c, "_redirected_names", None)
    return names[0] if names else os.path.splitext(os.path.basename(c._original_path))[0]


def add(c, enabled):
    """Makes a callback for beside the screen, if it is wanted there, and tells whether it did."""
    name = name_of(c)
    display.vvvvv("Attempting to use '%s' callback." % name)
    if getattr(c, "CALLBACK_TYPE", "") == "stdout":
        display.vv(already % name)
        return False
    if getattr(c, "CALLBACK_NEEDS_ENABLED", getattr(c, "CALLBACK_NEEDS_WHITELIST", False)) and name not in enabled:
        return False
    try:
        plugin = c()
        if not plugin:
            display.warning("Skipping callback '%s', as it does not create a valid plugin instance." % name)
            return False
        plugin.set_options()
    except Exception as e:
        display.warning("Skipping callback '%s', unable to load due to: %s" % (name, e))
        return False
    others.append(plugin)
    return True


def send(plugins, method, *args, **kw):
    """Calls a method of plug-ins. Whatever they do, the run goes on."""
    global busy
    for plugin in plugins:
        if getattr(plugin, "disabled", False):
            continue
        for name in method, "v2_on_any":
            function = getattr(plugin, name, None) or getattr(plugin, name[len("v2_"):], None)
            if function is None:
                continue
            try:
                busy = True
                function(*args, **kw)
            except KeyboardInterrupt:
                pass
            except BaseException as e:
                busy = False
                display.warning("Failure using method (%s) in callback plugin (%s): %s" % (method, plugin, e))
                display.vvv("Callback Exception: \n" + " ".join(traceback.format_tb(e.__traceback__)))
            finally:
                busy = False


def answer(q):
    if q["kind"] == "load":
        return load(q)
    plugins = [stdout_callback] if q["first"] < 0 else others[q["first"]:q["end"]]
    for method, args, kw in events.calls(q, plugins):
        send(plugins, method, *args, **kw)
    return {}


def main():
    signal.signal(signal.SIGINT, interrupted)
    for line in link.requests:
        q = json.loads(line)
        try:
            reply = answer(q)
        except AnsibleError as e:
            reply = {"error": str(e)}
        except Exception as e:
            display.vvv("".join(traceback.format_tb(e.__traceback__)))
            reply = {"error": "%s: %s" % (type(e).__name__, e)}
        link.answer(reply)
    # What plug-ins do at the end may take its time. A Python that hangs after that, over a lock that a thread left behind, is killed.
    threading._shutdown()
    atexit._run_exitfuncs()
    link.answer({})


sys.path.extend(sys.argv[1:])
link = Link()
try:
    importlib.import_module("ansible.plugins.callback")
except ImportError:
    link.requests.readline()
    link.answer({"coreless": True})
    sys.exit()
