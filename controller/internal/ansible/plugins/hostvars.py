"""The variables of all hosts, for the programs that run plug-ins: Ansible's own mapping of them, over what the controller knows. In a program it
goes after versions.py."""


class Hosts(object):
    """The inventory and its variables as far as that mapping asks for them. ask gives the raw variables of a host, None if there is none."""
    _hostvars = _loader = None

    def __init__(self, names, ask):
        self.hosts, self._ask, self._known = dict.fromkeys(names), ask, {}

    @property
    def localhost(self):
        """The host of such a name, which may be one that no source has but somebody wanted."""
        return next((n for n in ("localhost", "127.0.0.1", "::1") if n in self.hosts or self._known.get(n)), None)

    def get_host(self, name):
        return None if self.get_vars(name) is None else name

    def get_vars(self, host, **more):
        if host not in self._known:
            known = self._ask(str(host))
            self._known[host] = known if known is None else given(known)
        return self._known[host]


def with_hostvars(variables, ask, loader):
    """Adds to the variables of a task those that are made of others: hostvars, and vars. Gives what answers for the hosts."""
    from ansible.vars.hostvars import HostVars
    names = variables.get("groups", {}).get("all", [])
    hosts = Hosts(names, ask)
    variables["hostvars"] = HostVars(hosts, hosts, loader)
    variables["vars"] = dict(variables)
    return hosts
