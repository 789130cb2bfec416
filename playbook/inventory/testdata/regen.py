#!/usr/bin/python3
"""Rewrites the want.* files of the archives here with what ansible-inventory and ansible print.

The first lines of an archive are settings: "sources: a b" are the inventory sources, "env: K=V" is set for
Ansible, "playbook: dir" is a playbook's directory. The file "patterns" holds host patterns, a line each, "dynamic"
changes at run time."""
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

DYNAMIC = '''
import json, sys
from ansible.parsing.dataloader import DataLoader
from ansible.inventory.manager import InventoryManager
inv = InventoryManager(DataLoader(), sources=sys.argv[2:])
def show():
    print(json.dumps({"groups": {n: sorted(h.name for h in g.get_hosts()) for n, g in inv.groups.items()},
        "hosts": {h.name: {k: v for k, v in h.vars.items() if not k.startswith('inventory_') and k != 'group_names'} for h in inv.hosts.values()}}, sort_keys=True))
for line in open(sys.argv[1], encoding='utf-8').read().splitlines():
    do = json.loads(line)
    try:
        result = {}
        if 'host' in do:
            inv.add_dynamic_host({'host_name': do['host'], 'groups': do.get('groups', []), 'host_vars': do.get('vars', {})}, result)
        elif 'refresh' in do:
            inv.refresh_inventory()
        elif 'limit' in do:
            inv.subset(do['limit'])
            print([h.name for h in inv.get_hosts('all')])
            inv.subset(None)
        else:
            result = {'add_group': do['group'], 'parent_groups': do.get('parents', [])}
            inv.add_dynamic_group(inv.get_host(do['by']), result)
        print(result.get('changed', ''))
    except Exception as e:
        print('ERROR', e)
show()
'''

def regen(path):
    text = open(path, encoding='utf-8').read()
    head, *rest = re.split(r'^-- (\S+) --\n', text, flags=re.M)
    files = [(n, b) for n, b in zip(rest[::2], rest[1::2]) if not n.startswith('want.')]
    env = dict(os.environ, ANSIBLE_NOCOLOR='1')
    sources, playbook = ['hosts'], ''
    for line in head.splitlines():
        if line.startswith('sources: '):
            sources = line[9:].split()
        elif line.startswith('env: '):
            k, v = line[5:].split('=', 1)
            env[k] = v
        elif line.startswith('playbook: '):
            playbook = line[10:]
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
        if playbook:
            args += ['--playbook-dir', playbook]
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
        if any(n == 'dynamic' for n, _ in files):
            p = subprocess.run(['/usr/bin/python3', '-c', DYNAMIC, 'dynamic', *sources], cwd=d, env=env, capture_output=True, text=True)
            wants.append(('dynamic', p.stdout))
        out += ''.join('-- want.%s --\n%s' % (n, (b if b.endswith('\n') or not b else b + '\n').replace(d, '$DIR')) for n, b in wants)
    open(path, 'w', encoding='utf-8').write(out)

here = os.path.dirname(os.path.abspath(__file__))
for name in sys.argv[1:] or sorted(os.listdir(here)):
    if name.endswith('.txtar'):
        regen(os.path.join(here, name))
