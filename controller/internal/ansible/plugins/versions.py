"""What versions of ansible-core do in ways of their own, for the programs that run plug-ins. In a program it goes after codec.py."""
_marks = None


def marks():
    """What marks text as a template, and what tells such text: ansible-core has that since 2.19, before it text is one unless it is unsafe.
    None where there is nothing to mark."""
    global _marks
    if _marks is None:
        try:
            from ansible.template import is_trusted_as_template, trust_as_template
            _marks = trust_as_template, is_trusted_as_template
        except ImportError:
            _marks = ()
    return _marks or None


class Trusted(str):
    """A text that is a template, where ansible-core cannot mark it."""


def trusted(text):
    """A text that is a template."""
    return marks()[0](text) if marks() else text


def engine_of(templar):
    """What Ansible itself renders with, where that is not what plug-ins have."""
    return getattr(templar, "_engine", templar)


def environment_of(templar):
    """What a templar compiles with."""
    return engine_of(templar).environment


def given(v):
    """Reads a value for a plug-in: text is a template, or unsafe, as hark has it."""
    try:
        from ansible.utils.unsafe_proxy import wrap_var
    except ImportError:
        wrap_var = str
    return decode(v, wrap_var, marks()[0] if marks() else None)


def taken(v, marked):
    """Writes what a plug-in gives for variables: text that Ansible would not take for a template is unsafe. marked tells
    that only what is marked is one, which an ansible-core that marks nothing has read from a file then."""
    if not marks() and not marked:
        return encode(v)
    is_trusted = marks()[1] if marks() else read
    return encode(v, lambda text: not is_trusted(text))


def read(text):
    """Tells text of a file of YAML from what a plug-in has made, where ansible-core marks nothing."""
    return isinstance(text, Trusted) or type(text).__name__ == "AnsibleUnicode"


def finder():
    """Lets ansible_collections be imported. Since 2.15 a program has to ask for it."""
    from ansible.plugins import loader
    from ansible.utils.collection_loader import AnsibleCollectionConfig
    if AnsibleCollectionConfig.collection_finder is None:
        loader.init_plugin_loader()
    return AnsibleCollectionConfig


def place(thing, path, line, column):
    """Tells a play or task where it stands."""
    try:
        from ansible._internal._datatag._tags import Origin
    except ImportError:
        from ansible.parsing.yaml.objects import AnsibleMapping
        thing._ds = AnsibleMapping()
        thing._ds.ansible_pos = path, line, column
        return
    thing._ds = Origin(path=path, line_num=line, col_num=column or None).tag({})
    thing._origin = Origin.get_tag(thing._ds)


def resolve(task, name):
    """Tells a task the full name of its action."""
    if hasattr(task, "_resolved_action"):
        task._resolved_action = name
    else:
        task.resolved_action = name


def handler_of(executor, connection, templar):
    """The action plug-in that Ansible takes for a task."""
    choose = executor._get_action_handler
    return choose(connection, templar) if choose.__code__.co_argcount == 3 else choose(templar)


def result_for_callbacks(host, task, data, fields):
    """What callbacks are told of a result."""
    from ansible.executor.task_result import TaskResult
    if hasattr(TaskResult, "clean_copy"):
        return TaskResult(host, task, data, fields).clean_copy()
    return plain_result(TaskResult)(host, task, data, fields)


_kept = "attempts", "changed", "retries", "_ansible_no_log", "exception", "warnings", "deprecations"
_shown = "_ansible_verbose_always", "_ansible_item_label", "_ansible_no_log", "_ansible_verbose_override"
_hidden = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"


def censored(data):
    """A result that must not be seen."""
    return dict({k: v for k, v in data.items() if k in _kept}, censored=_hidden)


def without_internals(v):
    if isinstance(v, dict):
        return {k: without_internals(x) for k, x in v.items() if not str(k).startswith("_ansible_") or k in _shown}
    return [without_internals(x) for x in v] if isinstance(v, list) else v


def clean(task, data):
    """A result without what is for Ansible alone."""
    if task.no_log is True or data.get("_ansible_no_log"):
        out = censored(data)
        if isinstance(data.get("results"), list):
            out["results"] = [censored(x) if isinstance(x, dict) and x.get("_ansible_no_log") else x for x in data["results"]]
    else:
        left_out = {"failed", "skipped"}
        if task.action in ("debug", "ansible.builtin.debug", "ansible.legacy.debug"):
            left_out.add("invocation")
        out = without_internals({k: v for k, v in data.items() if k not in left_out})
    delegated = data.get("_ansible_delegated_vars")
    if isinstance(delegated, dict):
        names = "ansible_host", "ansible_port", "ansible_user", "ansible_connection"
        out["_ansible_delegated_vars"] = {k: v for k, v in delegated.items() if k in names}
    return out


def summary(kind, text, traceback=None, **more):
    """One of Ansible's objects for errors and warnings."""
    from ansible.module_utils._internal import _messages
    return getattr(_messages, kind)(event=_messages.Event(msg=str(text), formatted_traceback=traceback), **more)


def plain_result(base):
    """The class of results for callbacks since 2.19. How those of Ansible are made differs from version to version; what they offer does not."""

    class Result(base):
        def __init__(self, host, task, data, fields):
            self._parts, self._data, self._clean = (host, task, fields), data, clean(task, data)

        host = _host = property(lambda self: self._parts[0])
        task = _task = property(lambda self: self._parts[1])
        task_fields = _task_fields = property(lambda self: self._parts[2])
        result = _result = property(lambda self: self._clean)
        _return_data = property(lambda self: self._data)
        task_name = property(lambda self: str(self.task_fields.get("name", "")) or self.task.get_name())

        @property
        def exception(self):
            if not self.is_failed():
                return None
            return summary("ErrorSummary", self._clean.get("msg") or self._clean.get("censored") or "Unknown error.", self._clean.get("exception"))

        @property
        def warnings(self):
            return [summary("WarningSummary", w) for w in self._clean.get("warnings") or []]

        @property
        def deprecations(self):
            return [summary("DeprecationSummary", d.get("msg"), version=d.get("version"), date=d.get("date"))
                    for d in self._clean.get("deprecations") or [] if isinstance(d, dict)]

        def _any(self, key):
            items = self._data.get("results")
            if key in self._data or not isinstance(items, list):
                return bool(self._data.get(key))
            return any(isinstance(x, dict) and x.get(key) for x in items)

        def is_changed(self):
            return self._any("changed")

        def is_skipped(self):
            items = self._data.get("results")
            if isinstance(items, list) and items and all(isinstance(x, dict) and x.get("skipped") for x in items):
                return True
            return bool(self._data.get("skipped"))

        def is_failed(self):
            items = self._data.get("results")
            judged = [x for x in [self._data] + (items if isinstance(items, list) else []) if isinstance(x, dict) and "failed_when_result" in x]
            return self._any("failed_when_result" if judged else "failed")

        def is_unreachable(self):
            return self._any("unreachable")

    return Result
