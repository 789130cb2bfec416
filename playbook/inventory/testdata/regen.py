#!/usr/bin/python3
"""Rewrites the want.* files of the archives here with what ansible-inventory and ansible print.

The first lines of an archive are settings: "sources: a b" are the inventory sources, "env: K=V" is set for
Ansible. The file "patterns" holds host patterns, a line each."""
import os, re, stat, subprocess, sys, tempfile

PATTERNS = '''
import sys
from ansible.parsing.dataloader import DataLoader
from ansible.inventory.manager import InventoryManager
inv = InventoryManager(DataLoader(), sources=sys.argv[2:])
for line in open(sys.argv[1], encoding='utf-8').read().splitlines():
    try:
        print('%s => %s' % (line, ' '.join(h.name for h in inv.get_hosts(line))))
    except Exception as e:
        print('%s => ERROR %s' % (line, e))
'''

def regen(path):
    text = open(path, encoding='utf-8').read()
    head, *rest = re.split(r'^-- (\S+) --\n', text, flags=re.M)
    files = [(n, b) for n, b in zip(rest[::2], rest[1::2]) if not n.startswith('want.')]
    env = dict(os.environ, ANSIBLE_NOCOLOR='1')
    sources = ['hosts']
    for line in head.splitlines():
        if line.startswith('sources: '):
            sources = line[9:].split()
        elif line.startswith('env: '):
            k, v = line[5:].split('=', 1)
            env[k] = v
    with tempfile.TemporaryDirectory() as d:
        d = os.path.realpath(d)
        for name, body in files:
            f = os.path.join(d, name)
            os.makedirs(os.path.dirname(f), exist_ok=True)
            with open(f, 'w', encoding='utf-8') as o:
                o.write(body)
            if body.startswith('#!'):
                os.chmod(f, 0o755)
        args = [a for s in sources for a in ('-i', s)]
        def run(*more):
            p = subprocess.run(['ansible-inventory', *args, *more], cwd=d, env=env, capture_output=True, text=True)
            return p.stdout, p.stderr
        out = head + ''.join('-- %s --\n%s' % f for f in files)
        wants = []
        stdout, stderr = run('--list')
        wants.append(('list', stdout))
        wants.append(('warnings', re.sub(r'\s+', ' ', stderr).strip().replace(' [WARNING]', '\n[WARNING]') + '\n' if stderr else ''))
        wants.append(('export', run('--list', '--export')[0]))
        wants.append(('graph', run('--graph', '--vars')[0]))
        wants.append(('yaml', run('--list', '--yaml')[0]))
        wants.append(('yamlexport', run('--list', '--yaml', '--export')[0]))
        wants.append(('toml', run('--list', '--toml')[0]))
        if any(n == 'patterns' for n, _ in files):
            p = subprocess.run(['/usr/bin/python3', '-c', PATTERNS, 'patterns', *sources], cwd=d, env=env, capture_output=True, text=True)
            wants.append(('patterns', p.stdout))
        out += ''.join('-- want.%s --\n%s' % (n, (b if b.endswith('\n') or not b else b + '\n').replace(d, '$DIR')) for n, b in wants)
    open(path, 'w', encoding='utf-8').write(out)

here = os.path.dirname(os.path.abspath(__file__))
for name in sys.argv[1:] or sorted(os.listdir(here)):
    if name.endswith('.txtar'):
        regen(os.path.join(here, name))
