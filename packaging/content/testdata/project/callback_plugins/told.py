"""Writes what callbacks are told, a line of JSON for each event."""
import json
import os

from ansible.plugins.callback import CallbackBase

UNTOLD = 'invocation', 'exception', 'module_stderr', 'module_stdout', 'ansible_job_id', 'results_file', 'stderr', 'stderr_lines', '_ansible_no_log', 'deprecations', 'started', 'finished'

if os.environ.get('TOLD_INVOCATION'):
    UNTOLD = UNTOLD[1:]


def plain(result, *more):
    """A result without what differs from run to run and from version to version."""
    return {k: [plain(x, 'failed') if isinstance(x, dict) else x for x in v] if k == 'results' and isinstance(v, list) else v
            for k, v in result.items() if k not in UNTOLD + more}


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'told'

    def say(self, *words):
        with open(os.environ['TOLD'], 'a') as f:
            f.write(json.dumps(words, sort_keys=True, default=str) + '\n')

    def result(self, event, result, **more):
        told = plain(result._result)
        going = sorted(d['msg'] for d in result._result.get('deprecations', []) if d.get('collection_name') == 'acme.x')
        self.say(event, result._host.get_name(), result._task.get_name(), result._task.action, told, going, more, result.is_changed())

    def v2_playbook_on_start(self, playbook):
        self.say('start', os.path.basename(playbook._file_name))

    def v2_playbook_on_play_start(self, play):
        self.say('play', play.get_name(), play.hosts)

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.say('task', task.get_name(), task.action, task.get_path().rpartition('/')[2])

    def v2_runner_on_ok(self, result):
        self.result('ok', result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.result('failed', result, ignored=ignore_errors)

    def v2_runner_on_skipped(self, result):
        self.result('skipped', result)

    def v2_runner_item_on_ok(self, result):
        self.result('item', result)

    def v2_playbook_on_stats(self, stats):
        self.say('stats', {h: stats.summarize(h) for h in sorted(stats.processed)})
