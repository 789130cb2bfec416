"""A way of the project's own to become another user."""
from ansible.plugins.become import BecomeBase

DOCUMENTATION = """
name: mine
short_description: Says who it would be
description: In a variable.
author: none
options:
  become_user:
    description: Who.
    default: root
    vars: [{name: ansible_become_user}]
  become_exe:
    description: Not used.
  become_flags:
    description: Not used.
"""


class BecomeModule(BecomeBase):
    name = "mine"

    def build_become_command(self, cmd, shell):
        super(BecomeModule, self).build_become_command(cmd, shell)
        return "env BECAME=%s %s" % (self.get_option("become_user"), self._build_success_command(cmd, shell))
