from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.text.converters import to_text
from ansible.utils.unsafe_proxy import wrap_var


def refuse(v):
    raise AnsibleFilterError('bad %s' % to_text(v))


class FilterModule:
    def filters(self):
        return {'twice': lambda v: v * 2, 'refuse': refuse, 'unsafe': wrap_var, 'setof': set, 'tupled': tuple}
