"""Tells what a lookup sees: variables as they are written, rendered by its templar, and those of other hosts."""
import os

from ansible.plugins.lookup import LookupBase

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def plain(v):
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if hasattr(v, 'keys'):
        return {str(k): plain(v[k]) for k in v}
    if isinstance(v, (int, float)) or v is None:
        return v
    return str(v).replace(HERE, 'HERE').replace('{', '<').replace('}', '>')  # not to be rendered again by whoever gets it


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kw):
        how, names = terms[0], terms[1:]
        if how == 'raw':
            return [plain(variables.get(n, 'none')) for n in names]
        if how == 'rendered':
            return [plain(self._templar.template(variables[n])) for n in names]
        if how == 'templar':
            return [plain(self._templar.available_variables.get(n, 'none')) for n in names]
        if how == 'there':
            return [n in variables for n in names]
        if how == 'host':
            return [plain(variables['hostvars'][names[0]].get(n, 'none')) for n in names[1:]]
        if how == 'rawhost':
            return [plain(variables['hostvars'].raw_get(names[0]).get(n, 'none')) for n in names[1:]]
        if how == 'hosts':
            return ['localhost' in variables['hostvars'], 'nobody' in variables['hostvars'], len(variables['hostvars'])]
        if how == 'file':
            return [plain(self.find_file_in_search_path(variables, 'files', n, ignore_missing=True)) for n in names]
        with open(os.path.join(HERE, 'counted'), 'a+') as f:
            f.write('x')
            f.seek(0)
            return [len(f.read())]
