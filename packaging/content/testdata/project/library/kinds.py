#!/usr/bin/python
"""Tells of what kind its arguments are, warns and fails."""
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common. \
    text.converters import to_text
if AnsibleModule: from ansible.module_utils import urls; import ansible.module_utils.six as six


def main():
    nested = dict(type='dict', options=dict(x=dict(type='int', required=True)))
    module = AnsibleModule(supports_check_mode=True, argument_spec=dict(
        a=dict(type='raw'), i=dict(type='int'), secret=dict(no_log=True), d=nested, do=dict(choices=['fail', 'raise', 'warn', 'junk', 'nan'])))
    p = module.params
    if p['do'] == 'warn':
        module.warn('careful')
        module.deprecate('old thing', version='9.9', collection_name='acme.x')
        module.deprecate('dated thing', date='2030-01-01', collection_name='acme.x')
    if p['do'] == 'raise':
        raise ValueError('dead')
    if p['do'] == 'junk':
        print('something before')
    if p['do'] == 'fail':
        module.fail_json(msg='no way', why=[1, 2.0], rc=3)
    module.exit_json(changed=True, a=p['a'], kind=type(p['a']).__name__, i=p['i'], said=p['secret'], check=module.check_mode, d=p['d'],
                     nan=float('nan') if p['do'] == 'nan' else 0, text=to_text(b'x'), imported=[urls.__name__, six.__name__])


if __name__ == '__main__':
    main()
