import json

from ansible.plugins.cache import BaseFileCacheModule

DOCUMENTATION = """
name: kept
description: keeps facts
options:
  _uri: {required: true, type: path, env: [{name: ANSIBLE_CACHE_PLUGIN_CONNECTION}]}
  _prefix: {env: [{name: ANSIBLE_CACHE_PLUGIN_PREFIX}]}
  _timeout: {default: 86400, type: integer, env: [{name: ANSIBLE_CACHE_PLUGIN_TIMEOUT}]}
"""


class CacheModule(BaseFileCacheModule):
    def _load(self, filepath):
        with open(filepath) as f:
            return json.load(f)

    def _dump(self, value, filepath):
        with open(filepath, 'w') as f:
            json.dump(value, f)
