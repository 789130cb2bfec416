#!/usr/bin/env python3
"""Random projects, played by a real ansible-core and by hark side by side.

    plays.py --level 2.19 --ansible PYTHONPATH --hark DIR [--seed N] [--count N] [--keep DIR]

PYTHONPATH is the directory that holds the package ansible of the real one ("" is the machine's own); DIR holds hark's
ansible-playbook. A seed makes one project, always the same (grammar.py). What differs in standard output, exit code or
files is printed as a diff, and the project is kept.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading

import grammar

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80", "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_TRANSPORT": "local", "ANSIBLE_FORKS": "1",
            "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3"}
ALIKE = [(re.compile(r'"(start|end|delta)": "[-0-9: .]+"'), r'"\1": "TIME"'),
         (re.compile(r'"(atime|ctime|mtime)": [0-9.]+'), r'"\1": TIME'), (re.compile(r'"(dev|inode|uid|gid)": \d+'), r'"\1": N'),
         (re.compile(r'"src": "[^"]*(?:ansible-tmp-|\.hark-)[^"]*/\.?source"'), '"src": "TMP"'),
         (re.compile(r"Valid booleans include: .*?(?=\\n|\"|$)", re.M), "Valid booleans include: ALL"),
         (re.compile(r"ansible-tmp-[-0-9.]+|ansible-local-[-\w/]+?(?=/[^/]*$)|\.hark-\d+"), "TMP")]


class Real:
    """A warm process of the real one."""

    def __init__(self, o, number):
        self.home = os.path.join(o.keep, "home-%s-%d" % (o.level, number))
        os.makedirs(self.home, exist_ok=True)
        env = dict(SETTINGS, HOME=self.home)
        if o.ansible:
            env["PYTHONPATH"] = o.ansible
        self.process = subprocess.Popen(["/usr/bin/python3", "-X", "utf8", os.path.join(HERE, "warm.py")], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def play(self, project, at):
        job = {"dir": os.path.join(at, "project"), "args": project.args, "out": at + "/out", "err": at + "/err"}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class Hark:
    def __init__(self, o):
        self.command = os.path.join(o.hark, "ansible-playbook")
        self.home = os.path.join(o.keep, "home-hark-" + o.level)
        os.makedirs(self.home, exist_ok=True)
        self.env = dict(SETTINGS, HOME=self.home, HARK_ANSIBLE=o.level)

    def play(self, project, at):
        with open(at + "/out", "w") as out, open(at + "/err", "w") as err:
            return subprocess.run([self.command] + project.args, cwd=os.path.join(at, "project"), env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=900).returncode


def write(project, at):
    for name, text in project.files.items():
        path = os.path.join(at, "project", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def told(project, at, code, home, errors):
    """What a run printed, its exit code and the files that it left."""
    text = read(at + "/out")
    if errors:
        text += "-- stderr --\n" + read(at + "/err")
    text = text.replace(at, "WORK").replace(home, "HOME")
    for pattern, to in ALIKE:
        text = pattern.sub(to, text)
    lines = text.splitlines()
    if project.free:  # hosts go by themselves: how often a task is announced is chance
        announced = {line for line in lines if re.match(r"(TASK|RUNNING HANDLER) \[", line)}
        lines = sorted([line for line in lines if line and line not in announced] + list(announced))
    lines.append("exit %d" % code)
    top = os.path.join(at, "project")
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, top)
            if relative not in project.files or read(path) != project.files[relative]:
                lines.append("-- %s %o --" % (relative, os.stat(path).st_mode & 0o7777))
                lines += read(path).replace(at, "WORK").splitlines()
    return lines


def compare(seed, o, real, hark):
    project = grammar.Project(seed, o.level).make()
    at = os.path.join(o.keep, "%s-%d" % (o.level, seed))
    shutil.rmtree(at, ignore_errors=True)
    both = []
    for engine, name in ((real, "ansible"), (hark, "hark")):
        work = os.path.join(at, name)
        os.makedirs(work)
        write(project, work)
        code = engine.play(project, work)
        both.append(told(project, work, code, engine.home, o.stderr))
    if both[0] == both[1]:
        shutil.rmtree(at)
        return ""
    return "\n".join(difflib.unified_diff(both[0], both[1], "ansible", "hark", lineterm="", n=4))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--level", required=True)
    p.add_argument("--ansible", required=True)
    p.add_argument("--hark", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--stderr", action="store_true", help="standard error counts too")
    p.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "plays"))
    o = p.parse_args()
    hark, local, bad = Hark(o), threading.local(), 0

    def one(seed):
        if not hasattr(local, "real"):
            local.real = Real(o, threading.get_ident())
        try:
            diff = compare(seed, o, local.real, hark)
        except Exception as e:
            diff = "%s: %s" % (type(e).__name__, e)
        return diff and "== seed %d\n%s" % (seed, diff)
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        seeds = range(o.seed, o.seed + o.count)
        for done in concurrent.futures.as_completed({pool.submit(one, seed): seed for seed in seeds}):
            bad += done.result() != ""
            print(done.result() or ".", flush=True)
    print("%d of %d plays differ" % (bad, o.count))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
