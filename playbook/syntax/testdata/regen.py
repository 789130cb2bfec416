#!/usr/bin/python3
"""Rewrites the .want files of errors.txtar with what ansible-playbook --syntax-check says of the .yml files, with its exit code."""
import os, re, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
archive = os.path.join(here, 'errors.txtar')
text = open(archive, encoding='utf-8').read()
head, *rest = re.split(r'^-- (\S+) --\n', text, flags=re.M)
files = list(zip(rest[::2], rest[1::2]))
with tempfile.TemporaryDirectory() as d:
    d = os.path.realpath(d)
    out = head
    for name, body in files:
        if name.endswith('.want'):
            continue
        with open(os.path.join(d, name), 'w', encoding='utf-8') as f:
            f.write(body)
    for name, body in files:
        if name.endswith('.want'):
            continue
        out += '-- %s --\n%s' % (name, body)
        if name.startswith('_'):
            continue
        env = dict(os.environ, ANSIBLE_NOCOLOR='1', ANSIBLE_DEPRECATION_WARNINGS='0', ANSIBLE_LOCALHOST_WARNING='0', ANSIBLE_INVENTORY_UNPARSED_WARNING='0')
        p = subprocess.run(['ansible-playbook', '--syntax-check', '-i', 'localhost,', name], cwd=d, env=env, capture_output=True, text=True)
        want = p.stderr[p.stderr.find('ERROR! ') + 7:] if 'ERROR! ' in p.stderr else ''
        out += '-- %s --\n%s' % (name[:-4] + '.want', (want.rstrip('\n') + '\n[exit %d]\n' % p.returncode).replace(d, '$DIR'))
open(archive, 'w', encoding='utf-8').write(out)
