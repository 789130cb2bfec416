from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

DOCUMENTATION = """
name: l
description: joins
options:
  pre: {type: str, default: zz, vars: [{name: l_pre}], env: [{name: L_PRE}]}
"""


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kw):
        self.set_options(var_options=variables, direct=kw)
        if terms and terms[0] == 'fail':
            raise AnsibleLookupError('lookup says no')
        return [self.get_option('pre') + str(t) for t in terms] + [self._loader.get_basedir() != '']
