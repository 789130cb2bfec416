#!/usr/bin/env python3
"""Plays with the ansible-core of PYTHONPATH, each time in a fork of one process that has imported it already.

Reads jobs from standard input, one JSON object a line (dir, args, out, err), and answers each with its exit code.
"""
import gc
import importlib
import json
import os
import signal
import sys

WARM = ["ansible.cli.playbook", "ansible.executor.playbook_executor", "ansible.executor.task_queue_manager",
        "ansible.plugins.strategy.linear", "ansible.plugins.strategy.free", "ansible.plugins.connection.local",
        "ansible.plugins.action.normal", "ansible.plugins.action.debug", "ansible.plugins.action.set_fact",
        "ansible.plugins.action.template", "ansible.plugins.shell.sh", "ansible.plugins.become.sudo", "ansible.template",
        "ansible.executor.module_common", "ansible.plugins.filter.core", "ansible.plugins.test.core"]


def play(job):
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, job["out"], os.O_WRONLY | os.O_CREAT),
                                (2, job["err"], os.O_WRONLY | os.O_CREAT)):
        fd = os.open(path, flags, 0o644)
        os.dup2(fd, number)
        os.close(fd)
    sys.stdin = open(0)
    os.chdir(job["dir"])
    os.environ["PWD"] = job["dir"]
    sys.argv = ["ansible-playbook"] + job["args"]
    code = 99
    try:
        sys.modules["ansible.cli.playbook"].PlaybookCLI.cli_executor(sys.argv)
    except SystemExit as e:
        code = e.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 98)


def main():
    for name in WARM:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.disable()
    for line in iter(sys.stdin.buffer.readline, b""):
        job = json.loads(line)
        pid = os.fork()
        if not pid:
            os.setpgid(0, 0)
            play(job)
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
        signal.alarm(1500)
        _, status = os.waitpid(pid, 0)
        signal.alarm(0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
