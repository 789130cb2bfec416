#!/usr/bin/python
"""Takes what it imports from where it was."""
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.acme.x.plugins.module_utils.old.sizes import SIZE
try:
    from ansible_collections.acme.missing.plugins.module_utils.x import y
except ImportError:
    y = None
from ..module_utils import sizes

module = AnsibleModule(argument_spec=dict(a=dict(type='raw')))
module.exit_json(a=module.params['a'], size=SIZE, same=sizes.SIZE == SIZE, y=y)
