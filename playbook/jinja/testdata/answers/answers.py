#!/usr/bin/python3
"""Computes the answers of the cases beside this file with the installed ansible-core.

Usage: answers.py [FILE...]     rewrites the files (default: all) with what Ansible answers now.

The first line of a file holds what its cases share: vars, files (templates to include) and native. Every other
line is a case: t (the text), mode (expr, file or when; default expr), vars, files, opts (of the template module) and
answer: the repr of the result and its type, or ERR, the class of the exception and its text. A case with ours and why
is a difference that hark keeps: ours is its answer.

The files ip_*, community_* and utils_* are of collections: they need Debian's packages ansible, python3-netaddr and
python3-jmespath; the hashes of passwords need python3-passlib.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def convert(v):
    from ansible.parsing.yaml.objects import AnsibleUnicode
    from ansible.utils.unsafe_proxy import wrap_var
    if isinstance(v, dict):
        if "__unsafe__" in v:
            return wrap_var(v["__unsafe__"])
        if "__pairs__" in v:
            return {convert(k): convert(x) for k, x in v["__pairs__"]}
        return {AnsibleUnicode(k): convert(x) for k, x in v.items()}
    if isinstance(v, list):
        return [convert(x) for x in v]
    return AnsibleUnicode(v) if isinstance(v, str) else v


def answer(case, shared, folder):
    from ansible.parsing.dataloader import DataLoader
    from ansible.playbook.conditional import Conditional
    from ansible.template import AnsibleEnvironment, Templar
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    for name, text in {**shared.get("files", {}), **case.get("files", {})}.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    loader = DataLoader()
    loader.set_basedir(folder)
    variables = convert({**shared.get("vars", {}), **case.get("vars", {})})
    templar = Templar(loader=loader, variables=variables)
    mode = case.get("mode", "expr")
    try:
        if mode == "expr":
            r = templar.template(convert(case["t"]))
        elif mode == "when":
            c = Conditional(loader=loader)
            c.when = [convert(case["t"])]
            r = bool(c.evaluate_conditional(templar, variables))
        else:
            env = templar.copy_with_new_env(environment_class=AnsibleEnvironment, searchpath=[folder],
                                            available_variables=variables, **{"trim_blocks": True, **case.get("opts", {})})
            r = env.do_template(case["t"], preserve_trailing_newlines=True, escape_backslashes=False)
        return "%r <%s>" % (r, type(r).__name__)
    except Exception as e:
        return re.sub("at 0x[0-9a-f]+", "at 0x0", "ERR %s: %s" % (type(e).__name__, e))


def rewrite(path):
    with open(path) as f:
        lines = [json.loads(line) for line in f if line.strip()]
    shared, cases = lines[0], lines[1:]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            case["answer"] = answer(case, shared, folder)
    with open(path, "w") as f:
        for line in [shared] + cases:
            f.write(json.dumps(line, ensure_ascii=False) + "\n")


def main():
    os.environ["TZ"] = "UTC"
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        return rewrite(sys.argv[2])
    paths = sys.argv[1:] or sorted(os.path.join(HERE, n) for n in os.listdir(HERE) if n.endswith(".jsonl"))
    for path in paths:
        with open(path) as f:
            native = json.loads(f.readline()).get("native", False)
        env = dict(os.environ, ANSIBLE_JINJA2_NATIVE=str(native), ANSIBLE_NOCOLOR="1")
        subprocess.run([sys.executable, os.path.abspath(__file__), "--one", path], env=env, check=True)


if __name__ == "__main__":
    main()
