"""Tells which files Ansible itself packs for modules: a name and a path on each line of the input, a line of JSON for each."""
import datetime
import inspect
import io
import json
import sys
import zipfile

from ansible.executor import module_common as common
from ansible.plugins import loader

getattr(loader, "init_plugin_loader", lambda: None)()
builder = getattr(common, "_builder", None)
given = {
    "date_time": datetime.datetime.now(datetime.timezone.utc) if builder else (2020, 1, 1, 0, 0, 0),
    "extension_manager": builder and builder.ExtensionManager(),
}
given = {k: v for k, v in given.items() if k in inspect.signature(common.recursive_finder).parameters}


def files(name, path):
    with open(path, "rb") as f:
        text = f.read()
    if not common.NEW_STYLE_PYTHON_MODULE_RE.search(text) and common.REPLACER not in text:
        return {"style": "other"}
    try:
        entry = common._get_ansible_module_fqn(path)
    except ValueError:
        entry = "ansible.modules." + name.rpartition(".")[2]
    pack = zipfile.ZipFile(io.BytesIO(), "w")
    try:
        common.recursive_finder(name, entry, text.replace(common.REPLACER, b"from ansible.module_utils.basic import *"), pack, **given)
    except Exception as e:
        return {"error": str(e)}
    return {"style": "python", "files": pack.namelist()}


for line in sys.stdin:
    name, path = line.split()
    print(json.dumps(dict(files(name, path), name=name)))
