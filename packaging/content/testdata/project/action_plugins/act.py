from ansible.errors import AnsibleActionFail, AnsibleActionSkip, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        do = self._task.args.get('do')
        errors = {'fail': AnsibleActionFail, 'skip': AnsibleActionSkip, 'error': AnsibleError, 'raise': ValueError}
        if do in errors:
            raise errors[do]('act says ' + do)
        if do == 'module':
            return self._execute_module(module_name='kinds', module_args={'do': self._task.args['module']}, task_vars=task_vars)
        if do == 'native':
            stat = self._execute_module(module_name='stat', module_args={'path': '/etc/hostname'}, task_vars=task_vars)
            return dict(result, exists=stat['stat']['exists'])
        if do == 'command':
            return dict(result, **self._low_level_execute_command('echo hi; exit 3'))
        if do == 'see':
            names = 'tmpl', 'of_task', 'unused', 'round', 'was_set'
            raw = [str(task_vars.get(n, 'none')).replace('{', '<').replace('}', '>') for n in names]
            there = [n in task_vars for n in ('hostvars', 'vars', 'omit', 'groups', 'play_hosts', 'role_path', 'environment', 'item', 'ansible_delegated_vars')]
            return dict(result, raw=raw, there=there, of=[self._templar.template(task_vars['of_task']), task_vars['hostvars']['h1']['inventory_hostname']])
        if do == 'warn':
            result['warnings'] = ['from act']
            Display().warning('display warns')
        result.update(self._execute_module(module_name='kinds', module_args={'a': self._task.args.get('a')}, task_vars=task_vars))
        return dict(result, raw=task_vars['tmpl'], host=task_vars['inventory_hostname'], own=self._task.get_name())
