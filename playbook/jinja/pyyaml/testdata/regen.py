#!/usr/bin/python3
"""Writes dump.jsonl and load.jsonl: what PyYAML with libyaml, as Ansible uses it, makes of random and of chosen values and documents."""
import datetime, json, os, random, yaml
from ansible.parsing.utils.yaml import from_yaml
from ansible.errors import AnsibleError

here = os.path.dirname(os.path.abspath(__file__))
random.seed(11)
WORDS = ["a", "yes", "no", "1", "1.5", "0x1f", "null", "~", "", "a b", "a: b", "a #b", "#x", "- x", "-", "?", "? x", "!x", "&x", "*x",
         "%x", "@x", "`x", "{a", "[a", "]", "}", "a,b", ",a", "'q'", '"dq"', "it's", "line1\nline2", "line1\nline2\n", "\nlead",
         "trail\n\n", "tab\there", "  lead", "trail  ", "größe", "日本語", "\u2028x", "emoji 😀", "back\\slash", "long " + "word " * 30,
         "nospace" + "x" * 100, "{{ x }}", "2020-01-01", "1:30", "0644", "=", "<<", "on", "a:", "a:b", ":a", "a\r\nb", "x\x07y",
         "\u00a0x", "multi\n  indented\n", "a\n\nb", "'", "\"", "\\", "|", ">", "long'quote " + "it's " * 25, "TRUE", "---", "--- a",
         "...", "a ---", "\u0085x", "\ufeffx", "x\u200by", "1_000", "1e3", "1.0e+3", ".5", "+1", "0b1", "0o7", "1.", "k" * 129]

def val(d):
    r = random.random()
    if d > 0 and r < .2:
        return [val(d - 1) for _ in range(random.randint(0, 4))]
    if d > 0 and r < .45:
        return {random.choice(WORDS + ["k1", "k2", "key three"] * 20): val(d - 1) for _ in range(random.randint(0, 4))}
    if r < .9:
        return random.choice(WORDS)
    return random.choice([None, True, False, 1, -5, 1.5, 1e20, 10**20, 0.1, 3.0])

class Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, x):
        return True

STYLES = [{}, {"default_flow_style": False}, {"default_flow_style": True}, {"indent": 4, "default_flow_style": False}, {"width": 30},
          {"allow_unicode": False}, {"sort_keys": False}, {"explicit_start": True, "explicit_end": True}, {"default_style": "'"},
          {"default_style": '"'}, {"default_style": "|"}, {"default_style": ">"}]
with open(os.path.join(here, 'dump.jsonl'), 'w') as f:
    for i in range(600):
        v, style = val(3), STYLES[i % len(STYLES)]
        kw = dict({"allow_unicode": True, "default_flow_style": None}, **style)
        f.write(json.dumps({"value": v, "style": style, "want": yaml.dump(v, Dumper=Dumper, **kw)}) + "\n")

    for v in ['a\n\n', ['a\n\n'], {'k': 'a\n\n', 'z': 1}, ['a\n\n', {}], ['a\n\n', 'b\x07'], {'k': ['a\n\n']}, ['a\n\n', 'b']]:
        for style in STYLES:
            kw = dict({"allow_unicode": True, "default_flow_style": None}, **style)
            f.write(json.dumps({"value": v, "style": style, "want": yaml.dump(v, Dumper=Dumper, **kw)}) + "\n")

SCALARS = """yes no on off Yes NO oN true TRUE tRUE y n null Null NULL ~ 0 1 -1 +1 00 01 0644 08 0o17 0x1f 0X1F 0xg 0b101 0b2 1_000 _1 1__0
1:30 -1:30:00 1:60 1:30.5 0:0 190:20:30 1.5 1. .5 . -.5 +.5 1e3 1.e3 1.0e3 1.0e+3 1.5E-2 -1.5e+3 .inf -.inf +.inf .Inf .INF .iNF .nan .NaN .NAN
1_0.5_0 123456789012345678901234567890 2020-01-01 2020-1-1 2020-13-01 20200101 1-1-1 = << a:b a#b --- x-y""".split()
TEXTS = ["a: %s" % s for s in SCALARS] + ["%s: a" % s for s in SCALARS if s not in ('=', '---')] + [
    "2001-12-14 21:59:43", "a: 2001-12-14t21:59:43.10-05:00", "a: 2001-12-14 21:59:43.1 -5", "a: 2001-12-14 21:59:43Z",
    "a: 2001-12-14 21:59", "a: 2001-12-14 1:02:03.1234567",
    "", "---", "# x", "- a\n- b", "{a: 1, b: [x, y]}", '{"a": 1, "b": [true, null, 1.5e3, "\\u00e4\\ud83d\\ude00\\n"]}', "[1, 2,]", '{"a": NaN, "b": -Infinity}',
    '{"a": 1, "a": 2}', "a: 1\na: 2", "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}", "- &a {x: 1, y: 2}\n- &b {x: 5, z: 3}\n- {<<: [*a, *b], w: 1}\n- {x: 9, <<: *a}\n- {<<: *a, <<: *b}",
    "a: |\n  x\n   y\n\n  z\n", "a: |-\n  x\n\n", "a: |+\n  x\n\n", "a: >\n  x\n  y\n\n  z\n   w\n", "a: |2\n    x\n", "a: 'it''s'", 'a: "\\t\\x41\\u00e4\\U0001f600\\e\\_\\L\\\n  joined"',
    "a:\n  plain text\n  goes on\n\n  here", "? a\n: b", "? [1, 2]\n: x", "? {a: b}\n: x", "a: !!str 1", "a: !!int '1'", "a: !!float 1", "a: !!bool 'yes'", "a: !!null ''",
    "a: !!binary aGVsbG8=", "a: !!set {x, y}", "a: !!omap [x: 1, y: 2]", "a: !!pairs [x: 1, x: 2]", "a: !!omap [x]", "a: !!omap {x: 1}", "!!map [1]", "!!seq {a: 1}", "a: !foo 1",
    "a: !!python/object:os.system x", "a: !!python/tuple [1]", "a: ! 12", "a: !unsafe '{{ x }}'", "a: !unsafe 12", "a: !unsafe [a, 1]", "a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162",
    "a: !vault [x]", "*a", "a: 1\n---\nb: 2", "a: [1", "a: ]", "a: b: c", "\ta: 1", "a:\n\tb: 1", "a: \x07", "a: \x85b", "a: \ufeffb", "\ufeffa: 1", "%YAML 1.1\n---\na: 1", "%TAG ! tag:x,2000:\n--- !foo a",
    "<<: 1", "<<: [1]", "- &a [*a]", "a: @x", "a: `x", "a: %x", "a: \"\\q\"", "a: 'x", "a: \"x", "- a\nb: 1", "a\nb: 1", "a: b\n c: d", "größe: ü", "a:1", "[a: 1, b]", "{a, b: }", "[[1, [2]], {x: {y: z}}]",
    "w:\n  x:\n    : 1\n", ": a", "a: 1\n: b", "{: a}", "{a: 1, : b}", "...\na: 1", "# c\n\n...\na: 1", "a: 1\n...\n\nb: 2", "a: 1\n...\n...\n",
    "a: 1\n...\n# x\n  b: 2", "a: *\\1 x", "a: *x\\y z", "a: *x: b", "a: 1\n...\n%YAML 1.1\n---\nb: 1", "c: &q {d: 1}\nc: &q {d: 1}", "s: x\n- a\n  v: 1",
    'k: "dq" z: 1', "k: [1] z: 1", "b:\n - x\n  - y: z", "a: *nope\nb: [", "a: *nope\nb: c: d", "\u00e4: \x07", 'a: "\\x4"', "a: {b: *c\nd: 1", "- a\n b: 1\n", "a:\n- b\n c: 1",
    "a: null\nb:\nc: ''", "'a': 1\n\"b\": 2", "1: a\n1.5: b\ntrue: c\nnull: d\n2020-01-01: e"]

LEAVES = ["a", "b", "1", "yes", "~", "'q'", '"d\\n"', "x y", "0x1f", "1:30", "2020-01-01", "!!str 5", "!!int '3'", "!foo z", "&A v", "&B v", "*A", "*B", "",
          "!unsafe '{{x}}'", "! q", "! '1.5'", "<<", "=", ".inf", "0o7", "'a\n  b'", "plain\n   cont", "?x", "-x", ":x", "#c", "x #c", "'x'# c", "{}", "[]",
          "!!binary aGk=", "!!omap [a: 1]", "!!float 3", "!!bool no", "[-]", "{? x: y}", "[a:1, b: c]"]
KEYS = ["a", "b", "c", "k e", "'q'", '"d"', "1", "yes", "~", "<<", "? x\n%s", "&A k", "*A ", "2020-01-01", "!!str k", "[x]", "{x: y}", ""]

def flow(d):
    r = random.random()
    if d <= 0 or r < .5:
        return random.choice(["a", "1", "'q'", '"d"', "*A", "&B c", "x y", "", "~", "!!str 1", "yes", "-"])
    if r < .75:
        return "[" + ", ".join(random.choice([flow(d - 1), "k: " + flow(d - 1)]) for _ in range(random.randint(0, 3))) + random.choice(["", ",", "\n"]) + "]"
    return "{" + ", ".join(random.choice(["a", "b", "'q'", "<<", "*A", "? x", "1"]) + random.choice([": ", ": ", ":", ""]) + flow(d - 1)
                           for _ in range(random.randint(0, 3))) + random.choice(["", " ", ","]) + "}"

def leaf(indent):
    p, r = " " * indent, random.random()
    if r < .2:
        return random.choice("|>") + random.choice(["", "-", "+", "2", "1-", "+1", " # c"]) + "\n" + "\n".join(
            random.choice([p, p, p + " ", "", p + "  "]) + random.choice(["lit", "# no", "a: b", "- x", "", "\ttab"]) for _ in range(random.randint(0, 4)))
    return flow(2) if r < .4 else random.choice(LEAVES)

def block(d, indent):
    p, r, out = " " * indent, random.random(), []
    if d <= 0 or r < .15:
        return None
    for _ in range(random.randint(1, 4)):
        inner = block(d - 1, indent + random.choice([1, 2, 2, 2, 4]))
        if r < .6:
            key = random.choice(KEYS).replace("%s", p)
            if inner is None:
                out.append(p + key + random.choice([": ", ":  ", ": ", ":"]) + leaf(indent + 2))
            else:
                out.append(p + key + ":" + random.choice(["", "", " &A", " &B", " !!map", " !!seq", " # c"]) + "\n" + inner)
        elif inner is None:
            out.append(p + "- " + leaf(indent + 2))
        else:
            out.append(p + "-" + random.choice(["", " &A", " &B"]) + "\n" + inner)
    return "\n".join(out)

def mutated(t):
    for _ in range(random.randint(1, 3)):
        i = random.randint(0, len(t))
        t = t[:i] + random.choice(["", random.choice(":-#,[]{}&*!|>'\"?\n \t%@`"), "- ", ": ", "\n  ", "---\n", "...\n", "<<: *A\n", "&A "]) + t[i + random.randint(0, 1):]
    return t

def documents(n):
    for _ in range(n):
        d = block(3, 0) or leaf(2)
        yield d
        yield mutated(d)

def plain(v):
    if isinstance(v, set):
        return {"list": [plain(x) for x in sorted(v)]}
    if isinstance(v, tuple):
        return {"tuple": [plain(x) for x in v]}
    if isinstance(v, list):
        return {"list": [plain(x) for x in v]}
    if isinstance(v, dict):
        return {"dict": [[plain(k), plain(x)] for k, x in v.items()]}
    if isinstance(v, bytes):
        return {"bytes": v.hex()}
    if isinstance(v, (datetime.date, datetime.datetime)):
        return {"text": str(v)}
    if hasattr(v, '_ciphertext'):
        return {"vault": v._ciphertext.decode()}
    if isinstance(v, str):
        return {"unsafe" if hasattr(v, '__UNSAFE__') else "text": str(v)}
    return {"repr": repr(v)}

with open(os.path.join(here, 'load.jsonl'), 'w') as f:
    for text in TEXTS + list(documents(500)):
        entry = {"text": text}
        try:
            entry["value"] = plain(from_yaml(text))
        except AnsibleError as e:
            if e.orig_exc is None or 'but found another document' not in str(e.orig_exc):
                pass
            x = e.orig_exc
            mark = getattr(x, 'problem_mark', None)
            entry["error"] = "%d:%d: %s" % (mark.line + 1, mark.column + 1, x.problem) if mark else str(x)
        except Exception as e:
            continue  # PyYAML itself breaks on it
        if text not in TEXTS and "unacceptable key" in entry.get("error", ""):
            continue  # of several, PyYAML finds the least nested first; we find the first
        f.write(json.dumps(entry) + "\n")
