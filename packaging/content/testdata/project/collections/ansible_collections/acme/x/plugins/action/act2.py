from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        return self._execute_module(module_name='acme.x.m1', module_args={'a': 0.5}, task_vars=task_vars)
