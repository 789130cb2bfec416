#!/usr/bin/python3
"""Ask the installed ansible-playbook which layer wins for every pair of layers.

Usage: ./regenerate.py > precedence.txt

The result has one line for each pair and mode: MODE LOWER HIGHER VALUE-AS-JSON. In every pair both layers hold
a dict {"common": LAYER, LAYER: 1} under the pair's own name, so that the value tells which layer won, or how
they were merged. Lines that start with "magic" tell for a magic variable which of the layers that set it won
("magic" if none did).
"""
import itertools
import json
import os
import subprocess
import tempfile

LAYERS = [
    "play_role_defaults", "role_defaults", "group", "host", "facts", "play", "vars_files", "play_role_vars",
    "role_vars", "block", "task", "include_vars", "set_fact", "role_params", "include_params", "extra",
]
MAGIC = ["role_name", "playbook_dir", "inventory_hostname", "group_names", "ansible_check_mode", "ansible_version",
         "ansible_role_names", "ansible_play_hosts", "ansible_facts", "ansible_host", "ansible_search_path"]
MAGIC_LAYERS = ["role_defaults", "host", "facts", "play", "task", "set_fact", "include_params", "extra"]


def holds(layer):
    out = {}
    for low, high in itertools.combinations(LAYERS, 2):
        if layer in (low, high):
            out["v_%s__%s" % (low, high)] = {"common": layer, layer: 1}
    return out


def write(root, name, data):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(data if isinstance(data, str) else json.dumps(data))


def project(root, layer_vars, expressions):
    """A project that sets layer_vars[layer] in each layer and writes the expressions' values to out."""
    def v(layer):
        return layer_vars.get(layer, {})
    write(root, "inventory.yml", {"all": {"children": {"g": {
        "hosts": {"h1": dict(v("host"), ansible_connection="local")}, "vars": v("group")}}}})
    write(root, "library/give.py", "#!/usr/bin/python3\nimport json\nprint(json.dumps({'ansible_facts': json.loads(%r)}))\n"
          % json.dumps(v("facts")))
    write(root, "vf.yml", v("vars_files"))
    write(root, "roles/other/defaults/main.yml", v("play_role_defaults"))
    write(root, "roles/other/vars/main.yml", v("play_role_vars"))
    write(root, "roles/mine/defaults/main.yml", v("role_defaults"))
    write(root, "roles/mine/vars/main.yml", v("role_vars"))
    write(root, "roles/mine/vars/iv.yml", v("include_vars"))
    write(root, "roles/mine/tasks/main.yml", [
        {"give": {}}, {"include_vars": "iv.yml"}, {"set_fact": dict(v("set_fact"), unused=1)},
        {"include_tasks": "inner.yml", "vars": v("include_params")}])
    write(root, "roles/mine/tasks/inner.yml", [
        {"vars": v("block"), "block": [{"vars": v("task"), "copy": {
            "dest": root + "/out", "content": "{{ [%s] | to_json }}" % ", ".join(expressions)}}]}])
    write(root, "extra.yml", v("extra"))
    write(root, "site.yml", [{"hosts": "h1", "gather_facts": False, "vars": v("play"), "vars_files": ["vf.yml"],
                              "roles": ["other", dict(v("role_params"), role="mine")]}])


def run(layer_vars, expressions, merge):
    with tempfile.TemporaryDirectory() as root:
        project(root, layer_vars, expressions)
        env = dict(os.environ, ANSIBLE_HASH_BEHAVIOUR="merge" if merge else "replace", ANSIBLE_LOCALHOST_WARNING="0")
        subprocess.run(["ansible-playbook", "-i", "inventory.yml", "site.yml", "-e", "@extra.yml"],
                       cwd=root, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(root + "/out") as f:
            return json.load(f)


def main():
    print("# made by regenerate.py from a real run of Ansible; see there")
    pairs = list(itertools.combinations(LAYERS, 2))
    for mode in ("replace", "merge"):
        values = run({layer: holds(layer) for layer in LAYERS}, ["v_%s__%s" % p for p in pairs], mode == "merge")
        for (low, high), value in zip(pairs, values):
            print(mode, low, high, json.dumps(value))
    for layer in MAGIC_LAYERS:
        for name in MAGIC:
            try:
                value = run({layer: {name: "set"}}, [name + ' == "set"'], False)[0]
            except subprocess.CalledProcessError:
                value = "error"
            print("magic", name, layer, "wins" if value is True else "loses" if value is False else value)


if __name__ == "__main__":
    main()
