from ansible.plugins.inventory import BaseInventoryPlugin, Constructable

DOCUMENTATION = """
name: inv
description: names hosts
options:
  plugin: {description: inv, required: true, choices: [inv]}
  names: {description: hosts, type: list, default: []}
extends_documentation_fragment: [constructed]
"""


class InventoryModule(BaseInventoryPlugin, Constructable):
    NAME = 'inv'

    def verify_file(self, path):
        return path.endswith('inv.yml')

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        for name in self.get_option('names'):
            self.inventory.add_host(name, group='all')
            self.inventory.set_variable(name, 'n', name.upper())
            self._set_composite_vars(self.get_option('compose'), self.inventory.hosts[name].get_vars(), name)
            self._add_host_to_keyed_groups(self.get_option('keyed_groups'), self.inventory.hosts[name].get_vars(), name)
