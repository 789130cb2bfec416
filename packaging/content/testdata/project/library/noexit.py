#!/usr/bin/python
"""Does not say how it ended."""
from ansible.module_utils.basic import AnsibleModule
print('x')
