"""Runs modules of ansible-core, each in a fork of one Python that has imported them. Each line of the input is a call
as JSON: module, args, env, dir. Each line of the output is what the module printed, as a JSON text."""
import importlib
import json
import os
import sys
import traceback

from ansible.module_utils import basic, urls  # noqa: F401 (imported once for all calls)

importlib.import_module("ansible.modules.uri")
importlib.import_module("ansible.modules.get_url")


def run(call):
    os.environ.clear()
    os.environ.update(call["env"])
    os.chdir(call["dir"])
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": dict(call["args"], _ansible_remote_tmp=call["dir"])}).encode()
    basic._ANSIBLE_PROFILE = "legacy"
    try:
        importlib.import_module(call["module"]).main()
    except SystemExit:
        pass
    except BaseException:
        print(json.dumps({"crash": traceback.format_exc().strip().splitlines()[-1]}))
    sys.stdout.flush()


for line in sys.stdin:
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(w, 1)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.close(r)
        run(json.loads(line))
        os._exit(0)
    os.close(w)
    with os.fdopen(r, errors="surrogateescape") as f:
        printed = f.read()
    os.waitpid(pid, 0)
    print(json.dumps(printed), flush=True)
