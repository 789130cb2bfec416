#!/usr/bin/python3
"""Computes the answers of the cases beside this file with the installed ansible-core.

Usage: answers.py [FILE...]             rewrites the files (default: all) with what Ansible answers now.
       answers.py --compare [FILE...]   tells what this Ansible answers otherwise.

Rewriting is for ansible-core 2.14, and for 2.19 in the files whose first line has "core": "2.19". With 2.19 the other files get their
second column, tagged: what 2.19 answers where that is something else. Another core than the installed one, unpacked somewhere, is used
with PYTHONPATH.

The first line of a file holds what its cases share: vars, files (templates to include), native and extensions. Every other
line is a case: t (the text), mode (expr, file or when; default expr), vars, files, opts (of the template module) and
answer: the repr of the result and its type, or ERR, the class of the exception and its text. A case with ours and why
is a difference that hark keeps: ours is its answer.

The files ip_*, community_* and utils_* are of collections: they need Debian's packages ansible, python3-netaddr and
python3-jmespath; the hashes of passwords need python3-passlib.
"""
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def core():
    from ansible.release import __version__
    return "2.19" if tuple(int(n) for n in __version__.split(".")[:2]) >= (2, 19) else "2.14"


def convert(v, text, unsafe):
    if isinstance(v, dict):
        if "__unsafe__" in v:
            return unsafe(v["__unsafe__"])
        if "__pairs__" in v:
            return {convert(k, text, unsafe): convert(x, text, unsafe) for k, x in v["__pairs__"]}
        return {text(k): convert(x, text, unsafe) for k, x in v.items()}
    if isinstance(v, list):
        return [convert(x, text, unsafe) for x in v]
    return text(v) if isinstance(v, str) else v


def answer(case, shared, folder):
    from ansible.parsing.dataloader import DataLoader
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    for name, text in {**shared.get("files", {}), **case.get("files", {})}.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    loader = DataLoader()
    loader.set_basedir(folder)
    variables = {**shared.get("vars", {}), **case.get("vars", {})}
    try:
        r = (tagged if core() == "2.19" else classic)(case, variables, loader, folder)
        return "%r <%s>" % (r, type(r).__name__)
    except Exception as e:
        return re.sub("at 0x[0-9a-f]+", "at 0x0", "ERR %s: %s" % (type(e).__name__, e))


def classic(case, variables, loader, folder):
    """The answer of a core before 2.19."""
    from ansible.parsing.yaml.objects import AnsibleUnicode
    from ansible.playbook.conditional import Conditional
    from ansible.template import AnsibleEnvironment, Templar
    from ansible.utils.unsafe_proxy import wrap_var
    text, mode = convert(case["t"], AnsibleUnicode, wrap_var), case.get("mode", "expr")
    variables = convert(variables, AnsibleUnicode, wrap_var)
    templar = Templar(loader=loader, variables=variables)
    if mode == "expr":
        return templar.template(text)
    if mode == "when":
        c = Conditional(loader=loader)
        c.when = [text]
        return bool(c.evaluate_conditional(templar, variables))
    env = templar.copy_with_new_env(environment_class=AnsibleEnvironment, searchpath=[folder],
                                    available_variables=variables, **{"trim_blocks": True, **case.get("opts", {})})
    return env.do_template(case["t"], preserve_trailing_newlines=True, escape_backslashes=False)


def tagged(case, variables, loader, folder):
    """The answer of a core that tags data, without the tags."""
    from ansible.template import Templar, trust_as_template
    text, mode = convert(case["t"], trust_as_template, str), case.get("mode", "expr")
    variables = convert(variables, trust_as_template, str)
    templar = Templar(loader=loader, variables=variables)
    if mode == "when":
        return templar.evaluate_conditional(text)
    if mode == "expr":
        return plain(templar.template(text))
    env = templar.copy_with_new_env(searchpath=[folder], available_variables=variables)
    return str(env.template(text, escape_backslashes=False, overrides={"trim_blocks": True, **case.get("opts", {})}))


def plain(v):
    if isinstance(v, dict):
        return {plain(k): plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v._native_copy() if hasattr(v, "_native_copy") else v


def read(path):
    with open(path) as f:
        lines = [json.loads(line) for line in f if line.strip()]
    return lines[0], lines[1:]


def rewrite(path):
    shared, cases = read(path)
    second = shared.get("core", "2.14") != core()
    if second:
        from ansible.release import __version__
        shared["tagged"] = __version__
    with tempfile.TemporaryDirectory(prefix="answers") as folder:
        for case in cases:
            now = anew(case, shared, folder)
            if not second:
                case["answer"] = now
                continue
            case.pop("tagged", None)
            now = now.replace(folder, "DIRECTORY")
            if now != case["answer"]:
                case["tagged"] = now
    with open(path, "w") as f:
        for line in [shared] + cases:
            f.write(json.dumps(line, ensure_ascii=False) + "\n")


def anew(case, shared, folder):
    """The answer of a process of its own, as this core may try what the cases of limits ask for."""
    with multiprocessing.Pool(1) as one:
        try:
            return one.apply_async(answer, (case, shared, folder)).get(10)
        except multiprocessing.TimeoutError:
            return "ERR no answer"


def compare(path):
    shared, cases = read(path)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            now = anew(case, shared, folder)
            if now != case["answer"] and not (now[:4] == case["answer"][:4] == "ERR "):
                print("%s %s\n  was %s\n  is  %s" % (os.path.basename(path), json.dumps(case["t"]), case["answer"], now), flush=True)


def main():
    os.environ["TZ"] = "UTC"
    work, args = rewrite, sys.argv[1:]
    if args[:1] == ["--compare"]:
        work, args = compare, args[1:]
    if len(args) == 2 and args[0] == "--one":
        if core() == "2.19":
            from ansible.plugins.loader import init_plugin_loader
            init_plugin_loader()
        return work(args[1])
    paths = args or sorted(os.path.join(HERE, n) for n in os.listdir(HERE) if n.endswith(".jsonl"))
    for path in paths:
        shared = read(path)[0]
        own = shared.get("core", "2.14") == core()
        if work == rewrite and not own and (core() == "2.14" or os.path.basename(path).startswith(("ip_", "community_", "utils_"))):
            continue
        env = dict(os.environ, ANSIBLE_JINJA2_NATIVE=str(shared.get("native", False)), ANSIBLE_NOCOLOR="1",
                   ANSIBLE_DEPRECATION_WARNINGS="False")
        if shared.get("extensions"):
            env["ANSIBLE_JINJA2_EXTENSIONS"] = ",".join(shared["extensions"])
        mode = ["--compare"] if work == compare else []
        subprocess.run([sys.executable, os.path.abspath(__file__)] + mode + ["--one", path], env=env, check=True)


if __name__ == "__main__":
    main()
