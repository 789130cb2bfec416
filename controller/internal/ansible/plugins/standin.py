"""What plug-ins import of Ansible, for controllers that have none: the classes of its errors and the base of lookups.

It goes before serve.py in one program, which asks hark for its filters and for what templates come to.
"""
import collections.abc
import contextlib
import functools
import importlib
import os
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


    def find_file_in_search_path(self, myvars, subdir, needle, ignore_missing=False):
        for place in list(myvars.get("ansible_search_path") or []) + [self._loader.get_basedir()]:
            for path in os.path.join(place, subdir, needle), os.path.join(place, needle):
                if os.path.exists(path):
                    return os.path.realpath(path)
        if not ignore_missing:
            self._display.warning("Unable to find '%s' in expected paths (use -vvvvv to see paths)" % needle)
        return None


class DataLoader(object):
    """Finds and reads files of the controller; it opens no vaults."""

    def __init__(self, basedir="."):
        self._basedir = basedir

    def get_basedir(self):
        return self._basedir

    def path_dwim(self, given):
        return os.path.realpath(os.path.join(self._basedir, os.path.expanduser(to_text(given))))

    path_exists, is_file, is_directory = (staticmethod(f) for f in (os.path.exists, os.path.isfile, os.path.isdir))

    def _get_file_contents(self, file_name):
        with open(self.path_dwim(file_name), "rb") as f:
            return f.read(), True


class Templar(object):
    """Renders templates as hark does, with the variables of the task or with those that it is given."""

    def __init__(self, loader=None, variables=None, own=True):
        self._loader, self._variables, self._own = loader, variables or {}, own

    @property
    def available_variables(self):
        return self._variables

    @available_variables.setter
    def available_variables(self, variables):
        self._variables, self._own = variables, True

    def template(self, variable, convert_bare=False, fail_on_undefined=True, *_, **__):
        if convert_bare and isinstance(variable, str) and variable.split(".")[0].split("[")[0] in self._variables:
            variable = "{{ %s }}" % variable
        return decode(asked(template=encode(variable), vars=encode(self._variables) if self._own else None))

    do_template = template

    def is_template(self, data):
        if isinstance(data, (list, tuple)):
            return any(self.is_template(x) for x in data)
        if isinstance(data, dict):
            return any(self.is_template(x) for pair in data.items() for x in pair)
        return isinstance(data, str) and any(mark in data for mark in ("{{", "{%", "{#"))

    @contextlib.contextmanager
    def set_temporary_context(self, available_variables=None, **_):
        before = self._variables, self._own
        if available_variables is not None:
            self.available_variables = available_variables
        try:
            yield
        finally:
            self._variables, self._own = before


def asked(**question):
    """Asks what hark makes of a filter or template."""
    try:
        return ask(**question)
    except ValueError as e:
        raise AnsibleError(str(e))


def filter_of(name):
    """A filter of hark's as a function."""
    def function(*args, **kw):
        return decode(asked(filter=name, args=encode(list(args)), kw=encode(kw)))

    function.__name__ = name
    return function


# The files that Ansible has filters in, and the functions there that are not called as their filters.
FILTERS = {
    "core": "b64decode b64encode basename bool checksum combine comment dict2items dirname expanduser expandvars extract flatten from_json from_yaml from_yaml_all "
            "hash items2dict mandatory md5 password_hash path_join quote random realpath regex_escape regex_findall regex_replace regex_search relpath sha1 shuffle "
            "split splitext strftime subelements ternary to_datetime to_json to_nice_json to_nice_yaml to_uuid to_yaml type_debug win_basename win_dirname win_splitdrive",
    "mathstuff": "difference human_readable human_to_bytes intersect log pow rekey_on_member root symmetric_difference union unique zip zip_longest",
    "urls": "urldecode urlencode",
    "urlsplit": "urlsplit",
}
OTHERWISE = {
    "to_bool": "bool", "rand": "random", "randomize_list": "shuffle", "get_hash": "hash", "get_encrypted_password": "password_hash",
    "dict_to_list_of_dict_key_value_elements": "dict2items", "list_of_dict_key_value_elements_to_dict": "items2dict",
    "logarithm": "log", "power": "pow", "inversepower": "root", "do_urldecode": "urldecode", "do_urlencode": "urlencode", "split_url": "urlsplit",
}


def core_filters():
    """What filters in Python take from those of Ansible, which are hark's own here."""
    for file, names in FILTERS.items():
        module = package("ansible.plugins.filter." + file)
        known = {name: filter_of(name) for name in names.split()}
        for function, name in OTHERWISE.items():
            if name in known:
                setattr(module, function, known[name])
        for name, function in known.items():
            setattr(module, name, function)
        module.FilterModule = type("FilterModule", (), {"filters": lambda self, known=known: dict(known)})


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
    package("ansible.template").Templar = Templar
    core_filters()
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
