"""What plug-ins import of Ansible, for controllers that have none: the classes of its errors and the base of lookups.

It goes before serve.py in one program.
"""
import collections.abc
import functools
import importlib
import sys
import types


class AnsibleError(Exception):
    def __init__(self, message="", obj=None, show_content=True, suppress_extended_error=False, orig_exc=None):
        super(AnsibleError, self).__init__(message if orig_exc is None else "%s. %s" % (message, orig_exc))
        self.message, self.obj, self.orig_exc = str(message), obj, orig_exc


def to_text(obj, encoding="utf-8", errors=None, nonstring="simplerepr"):
    if isinstance(obj, bytes):
        return obj.decode(encoding, errors or "surrogateescape")
    return obj if isinstance(obj, str) or nonstring == "passthru" else str(obj)


def to_bytes(obj, encoding="utf-8", errors=None, nonstring="simplerepr"):
    if isinstance(obj, bytes) or nonstring == "passthru" and not isinstance(obj, str):
        return obj
    return str(obj).encode(encoding, errors or "surrogateescape")


class Display(object):
    """Shows what plug-ins have to say on standard error."""

    verbosity = 0

    def warning(self, msg, formatted=False):
        print("[WARNING]: %s" % msg, file=sys.stderr)

    def deprecated(self, msg, **_):
        print("[DEPRECATION WARNING]: %s" % msg, file=sys.stderr)

    def display(self, msg, *_, **__):
        print(msg, file=sys.stderr)

    def error(self, msg, wrap_text=True):
        print("ERROR! %s" % msg, file=sys.stderr)

    def verbose(self, *_, **__):
        """Details are shown to nobody."""

    v = vv = vvv = vvvv = vvvvv = debug = verbose


class LookupBase(object):
    """The base of lookups: their options are those of their documentation, by variables, arguments and defaults."""

    def __init__(self, loader=None, templar=None, **_):
        self._loader, self._templar, self._options, self._display = loader, templar, {}, Display()

    def set_options(self, task_keys=None, var_options=None, direct=None):
        self._options = {}
        for name, spec in documented(self).items():
            self._options[name] = spec.get("default")
            for source in spec.get("vars") or []:
                if source.get("name") in (var_options or {}):
                    self._options[name] = var_options[source["name"]]
        self._options.update(direct or {})

    def get_option(self, option, hostvars=None):
        if option not in self._options:
            raise KeyError("Requested entry (%s) was not defined in configuration." % option)
        return self._options[option]

    def has_option(self, option):
        return option in self._options

    def get_options(self):
        return dict(self._options)

    @staticmethod
    def _flatten(terms):
        out = []
        for term in terms:
            out.extend(term if isinstance(term, (list, tuple)) else [term])
        return out


class BaseVarsPlugin(object):
    """The base of vars plug-ins."""

    def __init__(self):
        self._display = Display()

    def get_vars(self, loader, path, entities):
        self._basedir = path


class Entity(object):
    """What vars plug-ins are asked about."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


class Host(Entity):
    """A host."""


class Group(Entity):
    """A group."""


def documented(plugin):
    """The options that the documentation of a plug-in describes; none where there is no YAML to read it with."""
    text = getattr(sys.modules[type(plugin).__module__], "DOCUMENTATION", "")
    try:
        import yaml
    except ImportError:
        return {}
    return (yaml.safe_load(text) or {}).get("options") or {}


def six():
    """What plug-ins from the days of two Pythons take from ansible.module_utils.six."""
    import io
    import urllib.error
    import urllib.parse
    import urllib.request
    module = package("ansible.module_utils.six")
    known = dict(
        PY2=False, PY3=True, string_types=(str,), integer_types=(int,), class_types=(type,), text_type=str, binary_type=bytes, StringIO=io.StringIO,
        BytesIO=io.BytesIO, iteritems=lambda d, **kw: iter(d.items(**kw)), iterkeys=lambda d, **kw: iter(d.keys(**kw)),
        itervalues=lambda d, **kw: iter(d.values(**kw)), u=str, add_metaclass=add_metaclass)
    moves = package("ansible.module_utils.six.moves")
    for name, v in known.items():
        setattr(module, name, v)
    for name, v in dict(zip=zip, map=map, filter=filter, range=range, xrange=range, input=input, reduce=functools.reduce, urllib=urllib).items():
        setattr(moves, name, v)
    for name in "urllib", "urllib.parse", "urllib.error", "urllib.request":
        sys.modules["ansible.module_utils.six.moves." + name] = sys.modules[name]


def add_metaclass(metaclass):
    return lambda c: metaclass(c.__name__, c.__bases__, {k: v for k, v in vars(c).items() if k not in ("__dict__", "__weakref__")})


def package(name):
    """A module that plug-ins may import, with those that it lies in: what is there is left as it is."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module = types.ModuleType(name)
        module.__path__ = []
        sys.modules[name] = module
        before, _, last = name.rpartition(".")
        if before:
            setattr(package(before), last, module)
        return module


def stand_in():
    """Puts the stand-ins where an Ansible would be, if there is none."""
    try:
        importlib.import_module("ansible.errors")
        return
    except ImportError:
        pass
    errors = package("ansible.errors")
    names = "AnsibleError AnsibleFilterError AnsibleFilterTypeError AnsibleLookupError AnsibleOptionsError AnsibleParserError"
    names += " AnsibleRuntimeError AnsiblePluginError AnsibleUndefinedVariable AnsibleFileNotFound AnsibleTemplateError AnsibleAssertionError"
    for name in names.split():
        setattr(errors, name, AnsibleError if name == "AnsibleError" else type(name, (AnsibleError,), {}))
    package("ansible.plugins.lookup").LookupBase = LookupBase
    package("ansible.utils.display").Display = Display
    package("ansible.plugins.vars").BaseVarsPlugin = BaseVarsPlugin
    package("ansible.inventory.host").Host = Host
    package("ansible.inventory.group").Group = Group
    six()
    compat = package("ansible.module_utils.common._collections_compat")
    for name in "Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "Iterable", "Hashable":
        setattr(compat, name, getattr(collections.abc, name))
    sequences = package("ansible.module_utils.common.collections")
    sequences.is_string = lambda v: isinstance(v, (str, bytes))
    sequences.is_iterable = lambda v, include_strings=False: isinstance(v, collections.abc.Iterable) and (include_strings or not isinstance(v, (str, bytes)))
    sequences.is_sequence = lambda v, include_strings=False: isinstance(v, collections.abc.Sequence) and (include_strings or not isinstance(v, (str, bytes)))
    for name in "ansible.module_utils.common.text.converters", "ansible.module_utils._text":
        converters = package(name)
        for key, function in ("to_text", to_text), ("to_native", to_text), ("to_bytes", to_bytes):
            if not hasattr(converters, key):
                setattr(converters, key, function)
