#!/usr/bin/python3
"""Measures Jinja2 on the templates of engines_test.go. Prints lines of go test's form, so that one script reads both."""
import json
import os
import time

import jinja2

HERE = os.path.dirname(os.path.abspath(__file__))


def works():
    many = {"v": "text", "port": 8080, "env": "prod"}
    many.update(("var_%d" % i, "value") for i in range(500))
    with open(os.path.join(HERE, "nginx.conf.j2")) as f:
        text = f.read()
    with open(os.path.join(HERE, "nginx.json")) as f:
        nginx = json.load(f)
    return [
        ("trivial", "{{ v }}", many),
        ("when", "{% if env == 'prod' and port > 80 and nope is not defined %}True{% else %}False{% endif %}", many),
        ("nginx", text, nginx),
    ]


def clock(work):
    """The fastest of many short rounds, in nanoseconds."""
    best, rounds = None, 20
    end = time.monotonic() + 1
    while time.monotonic() < end:
        begin = time.perf_counter_ns()
        for _ in range(rounds):
            work()
        spent = (time.perf_counter_ns() - begin) / rounds
        best = min(best or spent, spent)
    return best


def main():
    for name, text, variables in works():
        environment = jinja2.Environment(trim_blocks=True)
        template = environment.from_string(text)
        print("BenchmarkEval/jinja2/%s 1 %.0f ns/op" % (name, clock(lambda: template.render(variables))))
        print("BenchmarkCompile/jinja2/%s 1 %.0f ns/op" % (name, clock(lambda: jinja2.Environment(trim_blocks=True).from_string(text))))
    print("jinja2 %s" % jinja2.__version__)


if __name__ == "__main__":
    main()
