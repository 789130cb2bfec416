"""Values as hark's codec writes them (playbook/jinja/value): what JSON lacks is an object with one key."""
import base64
import collections.abc
import datetime


def decode(v, unsafe=str, template=None):
    """Reads a value; unsafe makes what text that must not be templated becomes, template what other text becomes."""
    if isinstance(v, str):
        return template(v) if template else v
    if isinstance(v, list):
        return [decode(x, unsafe, template) for x in v]
    if not isinstance(v, dict):
        return v
    if len(v) == 1:
        (key, x), = v.items()
        if key in ("!u", "!nu"):
            return unsafe(x)
        if key == "!t":
            return tuple(decode(i, unsafe, template) for i in x)
        if key == "!b":
            return base64.b64decode(x)
        if key == "!f":
            return float(x)
        if key == "!m":
            return (datetime.datetime if " " in x else datetime.date).fromisoformat(x)
        if key == "!d":
            return {decode(k, unsafe): decode(i, unsafe, template) for k, i in x}
        if key == "!v":
            if x[1] is None:
                raise ValueError(x[2])
            return x[1]
    return {k: decode(x, unsafe, template) for k, x in v.items()}


def marked(text):
    return getattr(text, "__UNSAFE__", False)


def encode(v, unsafe=marked):
    """Writes a value; unsafe tells text that must not be templated."""
    if v is None or isinstance(v, bool):
        return v
    if isinstance(v, str):
        return {"!u": str(v)} if unsafe(v) else str(v)
    if isinstance(v, int):
        return int(v)
    if isinstance(v, float):
        v = float(v)
        return v if v - v == 0 else {"!f": repr(v)}
    if isinstance(v, (bytes, bytearray)):
        return {"!b": base64.b64encode(v).decode("ascii")}
    if isinstance(v, tuple):
        return {"!t": [encode(x, unsafe) for x in v]}
    if isinstance(v, collections.abc.Mapping):
        if all(isinstance(k, str) and not k.startswith("!") for k in v):
            return {str(k): encode(x, unsafe) for k, x in v.items()}
        return {"!d": [[encode(k, unsafe), encode(x, unsafe)] for k, x in v.items()]}
    if isinstance(v, datetime.date):
        return {"!m": str(v)}
    if isinstance(v, (datetime.time, datetime.timedelta)):
        return str(v)
    if isinstance(v, collections.abc.Iterable):
        return [encode(x, unsafe) for x in v]
    return str(v)
