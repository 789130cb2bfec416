#!/usr/bin/python
"""Runs itself again in another interpreter, as modules do that need the system's libraries."""
import sys
from ansible.module_utils.basic import *
from ansible.module_utils.common.respawn import has_respawned, respawn_module

module = AnsibleModule(argument_spec=dict(python=dict()))
if not has_respawned():
    respawn_module(module.params['python'])
module.exit_json(respawned=has_respawned(), same=sys.executable == module.params['python'])
