#!/usr/bin/python3
"""Writes kv.jsonl and tasks.jsonl: how ansible-core splits arguments and reads tasks."""
import json, os, yaml
from ansible.parsing.splitter import parse_kv, split_args
from ansible.parsing.mod_args import ModuleArgsParser
from ansible.parsing.utils.yaml import from_yaml
from ansible.utils.sentinel import Sentinel

here = os.path.dirname(os.path.abspath(__file__))
KV = r'''
|a=1|a=1 b=2|a=1  b=2|a = 1|a= b|a=b=c|a="b c"|a='b c'|a="b 'c' d"|a='b "c" d'|a="b|a=b"c d"e|"a b"=c|a b c|a b=c d|=a|a=|a=""|a=" "|a="b\"c d"|a=b\ c
a\=b|a\=b=c|a=b\=c|\=x|a='it''s'|a=b\nc|a="b\tc"|a=\x41\u00e4\U0001F600|a=\q|a=\\n|a={{ b }}|a={{ b c }} d=e|a="{{ b }} c"|a={{ "b c" }}|{{ a }}=b|{{ a b }}|a={{ b|c a=d
a={% if b %}c d{% endif %} e=f|a={# x y #}b|a={{ b }}{{ c }}|a={{b}}c d|x{{ a }} y|{{ a }} {{ b }}|a=}} b|a={{{ b }}}|echo "a b" | grep x|echo hi > /tmp/x creates=/tmp/x|echo a=b chdir=/x warn=no
ls -l --foo=bar executable=/bin/sh|creates="/a b" touch x|a=1,2,3|a=[1, 2]|a={"b": "c d"}|a={'b': 1}|a=b;c|a=b#c|a='#'|größe=ü x|a=b c='d|"unbalanced|{{ unbalanced|'''
TEXTS = [t for line in KV.split('\n') for t in line.split('|')] + [
    "a=1\nb=2", "a=1\n  b=2", "echo a\necho b", "echo a \\\n  b", "echo 'a\nb' c", "a={{ b\n c }}", "a=\"b\nc\" d=e", "echo a\n\necho b", "  a=1", " a=1", "\na=1", "a=1\n", "a=1 ", "a=1 \\\nb=2",
    "for i in a b; do\n  echo $i\ndone", "echo {% raw %}{{ x }}{% endraw %}", "a\tb=c", "echo a | grep b", "cat <<EOF\n a=b\nEOF", "a='{{ b }}' c=\"{{ d }}\"", "stdin=x y stdin_add_newline=no",
    "\\", "a \\ b", "echo \\", "\\a=b", "a=b\\", "''", '""', "a=''", "'a'=b", "a='b'c'd'", "=", "==", "a==b"]

with open(os.path.join(here, 'kv.jsonl'), 'w') as f:
    for text in TEXTS:
        for raw in (False, True):
            try:
                got = parse_kv(text, check_raw=raw)
            except Exception as e:
                got = "error: %s" % e
            f.write(json.dumps({"text": text, "free": raw, "want": got}) + "\n")

TASKS = r'''
debug:
---
debug: msg=hi
---
debug: {msg: hi, var: x}
---
ansible.builtin.debug: msg=hi
---
command: echo hi
---
command: echo hi creates=/x
---
command: echo hi
args: {chdir: /tmp, creates: /y}
---
command: echo hi creates=/x
args: {creates: /y}
---
command: {argv: [a, b]}
---
command:
  cmd: echo hi
  chdir: /x
---
shell: |
  echo a
  echo b
---
shell: echo {{ a }} b=c | cat
---
action: debug msg=hi
---
action: command echo hi creates=/x
---
action: {module: copy, src: a, dest: b}
---
action: {module: copy src=a, dest: b}
---
action: {module: copy, args: {src: a, dest: b}}
---
action: {module: copy, args: src=a dest=b}
---
action: shell echo "a b"
---
action:
  module: shell echo hi
  chdir: /x
---
local_action: command echo hi
---
local_action: {module: copy, src: a}
---
local_action: debug msg=x
delegate_to: other
---
debug: "{{ args_var }}"
---
copy: "{{ args_var }} src=x"
---
debug:
args: "{{ args_var }}"
---
debug: msg=hi
args: "{{ args_var }}"
---
set_fact: a=1 b="x y"
---
set_fact: {a: 1}
---
include_vars: file.yml
---
include_tasks: file.yml a=1
---
include_tasks: {file: x.yml}
---
import_role: name=x tasks_from=y
---
meta: flush_handlers
---
group_by: key=x_{{ y }}
---
add_host: name=x groups=a,b
---
raw: echo a=b
---
script: x.sh --a=b creates=/y
---
copy: src=a dest="b c" mode=0644
---
copy: src=a dest={{ b }}/c
---
template: src='a b' dest=b
---
action: ping
---
ping:
args:
  data: x
---
command: "echo 'it''s'"
---
command: echo "{{ a | default('b c') }}"
---
debug: msg="a
  b"
---
shell: "echo \\\"x\\\""
---
copy: content="a\nb" dest=x
---
copy:
  content: "a\nb"
  dest: x
---
ansible.legacy.command: echo hi creates=/x
---
win_shell: dir a=b
---
command: ''
---
ping: ''
---
command:
---
debug: msg='{{ "a" }}' verbosity=1
'''
with open(os.path.join(here, 'tasks.jsonl'), 'w') as f:
    for text in TASKS.strip('\n').split('\n---\n'):
        ds = from_yaml(text)
        try:
            action, args, delegate = ModuleArgsParser(task_ds=ds).parse(skip_action_validation=True)
            got = {"action": action, "args": args, "delegate_to": None if delegate is Sentinel else delegate}
        except Exception as e:
            got = "error: %s" % str(e).split("\n")[0]
        f.write(json.dumps({"task": text, "want": got}) + "\n")
