"""A connection of the project's own: ansible-core opens it, whoever plays."""
from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: tunnel
short_description: Runs things here
description: As local does.
author: none
options:
  become_success_timeout:
    description: What local of ansible-core 2.19 looks at.
    type: int
    default: 10
  become_strip_preamble:
    description: And this.
    type: bool
    default: true
extends_documentation_fragment: [connection_pipelining]
"""


class Connection(Local):
    transport = "tunnel"
