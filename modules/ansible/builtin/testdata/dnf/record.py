#!/usr/bin/python3
"""Record what Ansible's dnf module answers to the steps of steps.json.

    record.py LEVEL PYTHONPATH > answers-LEVEL.json

PYTHONPATH has the ansible-core of that level; the Python is /usr/bin/python3, which has the library of dnf. It needs root
and what repository.sh needs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def answer(args, check, path, work):
    request = dict(args, _ansible_check_mode=check, _ansible_remote_tmp=str(work), _ansible_keep_remote_files=False)
    file = work / "args.json"
    file.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": request}))
    done = subprocess.run(["/usr/bin/python3", "-m", "ansible.modules.dnf", str(file)],
                          env=dict(os.environ, PYTHONPATH=path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {"traceback": done.stderr.strip().splitlines()[-1]}
    found.pop("invocation", None)
    found.pop("exception", None)
    if isinstance(found.get("results"), list):
        found["results"].sort(key=json.dumps)
    return found


def packages(root):
    done = subprocess.run(["rpm", "--root", str(root), "-qa"], stdout=subprocess.PIPE, text=True, check=True)
    return sorted(done.stdout.split())


def main():
    path = sys.argv[2]
    work = pathlib.Path(tempfile.mkdtemp())
    subprocess.run(["bash", str(HERE / "repository.sh"), str(work)], check=True)
    conf = work / "dnf.conf"
    root = work / "root"
    conf.write_text((HERE / "dnf.conf").read_text().replace("$REPO", str(work / "repo")).replace("$ROOT", str(root)))
    lines = []
    for name, steps in json.loads((HERE / "steps.json").read_text()).items():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        for i, step in enumerate(steps):
            args = {"installroot": str(root), "conf_file": str(conf), "releasever": "1", "disable_gpg_check": True}
            args.update(json.loads(json.dumps(step["args"]).replace("$REPO", str(work / "repo")).replace("$DIR", str(work))))
            args = {k: v for k, v in args.items() if v is not None}
            line = json.dumps({"scenario": name, "step": i, "want": answer(args, step.get("check", False), path, work),
                               "packages": packages(root)})
            for real, word in ((root, "$ROOT"), (work / "repo", "$REPO"), (work, "$DIR")):
                line = line.replace(str(real), word)
            lines.append(line)
            print(name, i, file=sys.stderr)
    shutil.rmtree(work)
    print("[\n" + ",\n".join(lines) + "\n]")


main()
