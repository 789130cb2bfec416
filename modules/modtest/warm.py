"""Runs modules of ansible-core, each in a fork of one Python that has imported them. Each line of the input is a call
as JSON: module, args, env, dir, seconds. Each line of the output is what the module printed, as a JSON text."""
import importlib
import json
import os
import signal
import sys
import traceback

from ansible.module_utils import basic, urls  # noqa: F401 (imported once for all calls)


def late(signum, frame):
    print(json.dumps({"late": True}), flush=True)
    os.killpg(0, signal.SIGKILL)


def crashed(kind, what, trace):
    """Prints what a module prints that ends with an exception: some have a hook for that."""
    if sys.excepthook is not sys.__excepthook__:
        try:
            return sys.excepthook(kind, what, trace)
        except SystemExit:
            return
        except BaseException:
            pass
    print(json.dumps({"crash": traceback.format_exception_only(kind, what)[-1].strip()}))


def run(call):
    os.setsid()
    signal.signal(signal.SIGALRM, late)
    signal.alarm(call.get("seconds") or 0)
    os.environ.clear()
    os.environ.update(call["env"])
    os.chdir(call["dir"])
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": dict({"_ansible_remote_tmp": call["dir"]}, **call["args"])}).encode()
    basic._ANSIBLE_PROFILE = "legacy"
    try:
        importlib.import_module(call["module"]).main()
    except SystemExit:
        pass
    except BaseException:
        crashed(*sys.exc_info())
    sys.stdout.flush()


for line in sys.stdin:
    call = json.loads(line)
    try:
        importlib.import_module(call["module"])
    except ImportError as e:
        print(json.dumps(json.dumps({"no_module": str(e)})), flush=True)
        continue
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(w, 1)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.close(r)
        run(call)
        os._exit(0)
    os.close(w)
    with os.fdopen(r, errors="surrogateescape") as f:
        printed = f.read()
    os.waitpid(pid, 0)
    print(json.dumps(printed), flush=True)
