"""The grammar of plays: what plays.py plays."""
import json
import random
import re

HOSTS = ["h1", "h2", "h3"]
NAMES = ["v1", "v2", "v3", "v4", "v5"]
TAGS = ["t1", "t2", "t3"]
PLAIN = re.compile(r"[A-Za-z_/][\w./=-]*( [\w./=<>!-]+)*$")
AMBIGUOUS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
LISTS = [[1, 2], ["a", "b", "c"], [{"n": "x", "l": [1, 2]}, {"n": "y", "l": []}], "{{ l1 }}", "{{ l1 + [v1 | default(0)] }}",
         "{{ d1 | dict2items }}", "{{ range(2) | list }}", [], "{{ r2.results | default([]) }}", ["{{ v1 | default('x') }}", "q"],
         "{{ groups.a }}", "{{ query('sequence', 'start=1 end=2') }}", [True, None, 1.5], "{{ [[1, 2], [3]] | flatten }}"]


def scalar(v):
    if v is None or isinstance(v, (bool, int, float)):
        return json.dumps(v)
    if PLAIN.match(v) and v.lower() not in AMBIGUOUS:
        return v
    return json.dumps(v, ensure_ascii=False)


def flow(v):
    if isinstance(v, dict):
        return "{%s}" % ", ".join("%s: %s" % (scalar(k), flow(x)) for k, x in v.items())
    if isinstance(v, list):
        return "[%s]" % ", ".join(flow(x) for x in v)
    return scalar(v)


def block(v, style):
    """A value as lines of YAML. style says whether a mapping or list is written in one line."""
    if isinstance(v, list) and v and not style(v):
        out = []
        for x in v:
            lines = block(x, style)
            out += ["- " + lines[0]] + ["  " + line for line in lines[1:]]
        return out
    if isinstance(v, dict) and v and not style(v):
        out = []
        for k, x in v.items():
            lines = block(x, style)
            if isinstance(x, (dict, list)) and x and not (len(lines) == 1 and lines[0][0] in "{["):
                out += ["%s:" % scalar(k)] + ["  " + line for line in lines]
            else:
                out += ["%s: %s" % (scalar(k), lines[0])] + ["  " + line for line in lines[1:]]
        return out
    return [flow(v)]


def sizes(v):
    return 1 + sum(map(sizes, v.values() if isinstance(v, dict) else v)) if isinstance(v, (dict, list)) else 1


class Project:
    """A project that a seed makes. files are its files, args the arguments of ansible-playbook."""

    def __init__(self, seed, level):
        self.r = random.Random(seed)
        self.level = level
        self.files = {}
        self.n = 0
        self.free = False
        self.handlers = ["ha", "hb", "hc"]
        self.roles = ["ra", "rb", "rc"]
        self.role = None
        self.budget = self.r.choice([8, 16, 26])

    def chance(self, p):
        return self.r.random() < p

    def pick(self, items):
        return self.r.choice(items)

    def number(self):
        self.n += 1
        return self.n

    def dump(self, v):
        return "\n".join(block(v, lambda x: sizes(x) <= 6 and self.chance(0.5))) + "\n"

    def value(self):
        return self.pick([1, "text", True, "{{ v1 | default(7) }}", [1, 2], {"k": 1}, "{{ inventory_hostname }}",
                          "{{ v2 | default('d') }}-x", None, 1.5, "{{ [v3 | default(0), 2] }}", "{{ {'k': v4 | default(1)} }}",
                          "{{ ansible_play_batch | length }}", "no", "", "{{ omit }}" if self.chance(0.1) else "0"])

    def text(self, item=False):
        parts = ["{{ %s | default('none') }}" % self.pick(NAMES), "{{ inventory_hostname }}", "{{ %s is defined }}" % self.pick(NAMES),
                 "{{ r1 | default({}) | type_debug }}", "{{ (r1 | default({})).msg | default('no msg') }}",
                 "{{ r1.changed | default('-') }} {{ r1.failed | default('-') }} {{ r1.skipped | default('-') }}",
                 "{{ r2.results | default([]) | length }}", "{{ (r2.results | default([{}]))[-1].item | default('-') }}",
                 "{{ role_name | default('no role') }}", "{{ ansible_play_hosts | join(',') }}", "{{ group_names | sort | join(',') }}",
                 "{{ hostvars['h2'].v1 | default('nn') }}", "{{ f1 | default('-') }}", "{{ f2 | default('-') }}",
                 "{{ p1 | default('-') }}", "{{ ansible_failed_task.name | default('-') }}", "{{ ansible_loop_var | default('-') }}",
                 "{{ l1 | map('string') | join('+') }}", "{{ d1.a if d1 is defined else 'nd' }}",
                 "{{ ansible_parent_role_names | default([]) }}", "{{ ansible_failed_result.msg | default('-') }}",
                 "{{ ansible_check_mode }}", "{{ ansible_play_name | default('-') }}", "{{ groups.new | default([]) }}",
                 "{{ ansible_play_hosts_all | length }}", "{{ hostvars | length }}", "{{ ansible_role_name | default('-') }}",
                 "{{ d1 | to_json }}", "{{ d1 | combine({'z': 1}) | dict2items | map(attribute='key') | list }}",
                 "{{ l1 | select('match', 'x') | list }}", "{{ v1 | default('q') | string | upper | regex_replace('I', '_') }}",
                 "{{ v1 is string }} {{ v1 is number }}" if self.chance(0.3) else "{{ l1 is sequence }}",
                 "{{ lookup('vars', 'v1', default='lv') }}", "{{ query('items', l1) }}", "{{ lookup('env', 'NOPE') }}",
                 "{{ r1 is changed }}" if self.chance(0.2) else "{{ r1 is defined and r1 is changed }}",
                 "{{ hostvars[inventory_hostname].f1 | default('hf') }}", "{{ (l1 | first) ~ '-' ~ (l1 | last) }}",
                 "{{ 3 + 4 * 2 }}", "{{ '%02d' | format(5) }}", "{{ v1 | default('a') | ternary('T', 'F') }}",
                 "{% for x in l1 %}{{ loop.index }}{{ x }};{% endfor %}", "{% if v1 is defined %}D{% else %}U{% endif %}",
                 "{{ ansible_loop.index | default('-') }}", "{{ play_hosts | length }}", "{{ playbook_dir | basename }}",
                 "{{ undefined_thing }}" if self.chance(0.15) else "{{ undefined_thing | default('ut') }}",
                 "{{ d1.nokey }}" if self.chance(0.15) else "{{ d1.nokey | default('nk') }}", "{{ 'a,b' | split(',') }}",
                 "{{ (r2.results | default([]) | selectattr('changed', 'defined') | map(attribute='changed') | list) }}"]
        if item:
            parts += ["{{ item }}"] * 12 + ["{{ item.n | default(item) }}", "{{ item[0] | default(item) }}", "{{ item | type_debug }}"]
        return " ".join(self.pick(parts) for _ in range(self.r.randint(1, 2)))

    def condition(self, item=False):
        some = ["inventory_hostname == 'h1'", "inventory_hostname != 'h2'", "%s is defined" % self.pick(NAMES),
                "%s is undefined" % self.pick(NAMES), "true", "false", "r1 is defined", "r1 is defined and r1 is not failed",
                "r1 is defined and r1 is skipped", "r1.changed | default(false)", "v1 | default(1) | int > 1", "f1 is defined and f1 == 'x'",
                "not (f2 | default(false) | bool)", "'a' in group_names", "inventory_hostname in groups.b", "l1 | length > 1",
                "r1 is failed" if self.chance(0.2) else "r1 is defined and r1 is failed", "ansible_play_hosts | length > 2"]
        if item:
            some += ["item != 2", "item is string", "item is defined", "item != 'b'"]
        return self.pick(some)

    def loop(self, t):
        """Gives a task a loop; tells the name of its item, None if it is not item."""
        kind = self.pick(["loop"] * 6 + ["with_items", "with_list", "with_indexed_items", "with_together",
                                         "with_nested", "with_dict", "with_sequence", "with_subelements", "with_random_choice",
                                         "with_fileglob", "with_inventory_hostnames", "with_first_found"])
        a = self.pick(LISTS)
        if kind in ("with_together", "with_nested"):
            a = [a, [8, 9]]
        elif kind == "with_dict":
            a = self.pick(["{{ d1 }}", {"k1": 1, "k2": {"z": 2}}])
        elif kind == "with_sequence":
            a = self.pick(["start=1 end=3", "count=2 format=i%02x", "start=4 end=0 stride=-2"])
        elif kind == "with_subelements":
            a = self.pick([[[{"n": "x", "l": [1, 2]}, {"n": "y", "l": []}], "l"], ["{{ [{'n': 1}] }}", "l", {"skip_missing": True}]])
        elif kind == "with_random_choice":
            a = ["only"]
        elif kind == "with_fileglob":
            a, self.files["files/one.txt"], self.files["files/two.txt"] = "nothing*", "1", "2"
        elif kind == "with_first_found":
            a = [self.pick(["nowhere", "hosts"]), "site.yml"]
        elif kind == "with_inventory_hostnames":
            a = self.pick(["a", "all:!h1"])
        t[kind] = a
        if self.chance(0.25):
            c = self.pick([{"label": "L{{ item }}"}, {"index_var": "ix"}, {"extended": True}, {"loop_var": "it"},
                           {"label": "{{ item.n | default('nolabel') }}", "index_var": "ix"}, {"extended": True, "extended_allitems": False},
                           {"loop_var": "it", "label": "{{ it }}"}, {"pause": 0}])
            t["loop_control"] = c
            return "loop_var" not in c
        return True

    def keywords(self, t, kind):
        """Keywords that a task of any kind may have; reports whether it has items."""
        item = False
        include = kind.startswith("include_") and kind != "include_vars"
        static = kind.startswith("import") or kind in ("meta", "block")
        if not static and self.chance(0.3):
            item = self.loop(t)
        if self.chance(0.25):
            t["when"] = self.condition(item) if self.chance(0.8) else [self.condition(item), self.condition(item)]
        if self.chance(0.15):
            t["tags"] = self.pick([[self.pick(TAGS)], self.pick(TAGS), ["always"], ["never", self.pick(TAGS)], "t1,t2"])
        if self.chance(0.18) and kind != "meta":
            t["vars"] = {self.pick(NAMES): self.value()}
        if kind == "block" or kind.startswith("import"):
            for key, v, p in (("ignore_errors", True, 0.06), ("any_errors_fatal", True, 0.05), ("run_once", True, 0.04),
                              ("check_mode", True, 0.04), ("no_log", True, 0.03), ("delegate_to", self.pick(HOSTS), 0.04),
                              ("environment", {"E1": "{{ v1 | default('e') }}"}, 0.05), ("notify", self.pick(self.handlers), 0.05),
                              ("module_defaults", {"debug": {"msg": "md block"}}, 0.04), ("diff", True, 0.03)):
                if self.chance(p) and not (kind == "block" and key == "notify" and self.chance(0.5)):
                    t[key] = v
            return item
        if kind == "meta":
            return item
        if include:
            if self.chance(0.06):
                t["register"] = "r1"
            if self.chance(0.04):
                t["run_once"] = True
            if self.chance(0.04):
                t["ignore_errors"] = True
            return item
        looped = item or any(k == "loop" or k.startswith("with_") for k in t)
        if self.chance(0.3):
            t["register"] = "r2" if looped else "r1"
        if self.chance(0.22):
            t["notify"] = self.pick(self.handlers + [["ha", "hb"], "topic", "ra : hr", "h {{ v1 | default('x') }}" if self.chance(0.1) else "hr" if self.role else "hc"])
        if self.chance(0.22):
            t["changed_when"] = self.pick([True, True, False, "inventory_hostname == 'h1'", "r1.rc | default(0) == 1", [True, "v1 is defined"]])
        if self.chance(0.1):
            t["failed_when"] = self.pick([False, "inventory_hostname == 'h3'", [False, True], "'x' in (r1.stdout | default(''))"])
        if self.chance(0.2):
            t["ignore_errors"] = self.pick([True, True, "{{ v1 is defined }}"])
        if self.chance(0.07):
            t["run_once"] = True
        if self.chance(0.08):
            t["delegate_to"] = self.pick(HOSTS + ["localhost", "{{ groups.b[0] }}", "{{ item }}" if item else "h1"])
            if self.chance(0.3):
                t["delegate_facts"] = True
        if self.chance(0.06):
            t.update({"until": self.pick([True, "r1 is failed", False, "r1.attempts | default(1) > 1"]), "retries": self.pick([1, 2, 0]),
                      "delay": 0, "register": "r1"})
        for key, v, p in (("no_log", True, 0.03), ("check_mode", self.pick([True, False]), 0.04), ("diff", self.pick([True, False]), 0.03),
                          ("environment", self.pick([{"E1": "x{{ v2 | default('') }}"}, [{"E1": "1"}, {"E2": "2"}]]), 0.04),
                          ("any_errors_fatal", self.pick([True, False]), 0.03), ("throttle", 1, 0.03), ("ignore_unreachable", True, 0.02)):
            if self.chance(p):
                t[key] = v
        return item

    def task(self, depth, where):
        """One task or block."""
        self.budget -= 1
        kinds = ["debug"] * 14 + ["set_fact"] * 8 + ["add_host", "group_by", "meta", "fail", "assert"] * 2 + ["fail", "assert", "command", "add_host", "group_by", "meta", "meta", "include_vars",
                                                    "copy", "template", "lineinfile", "stat", "shell", "set_stats", "file", "ping", "slurp", "command"]
        if depth < 3 and self.budget > 0:
            kinds += ["block"] * 5 + ["include_tasks"] * 3 + ["import_tasks"] * 2 + ["include_role"] * 2 + ["import_role"]
        if where == "role" and self.chance(0.7):
            kinds = [k for k in kinds if not k.endswith("role")]
        kind = self.pick(kinds)
        if where == "handler":
            kind = self.pick(["debug", "debug", "command", "fail", "include_tasks", "set_fact", "block" if self.level == "2.19" and self.chance(0.2) else "debug"])
        t = {}
        if self.chance(0.8):
            t["name"] = "n%d" % self.number() + (" {{ v1 | default('x') }}" if self.chance(0.08) else "")
        item = self.keywords(t, kind)
        if kind == "block":
            for s in ["block"] + [s for s in ("rescue", "always") if self.chance(0.5)]:
                t[s] = self.tasks(depth + 1, where, self.r.randint(1, 2))
            return t
        name = kind if self.chance(0.9) else "ansible.builtin." + kind
        body = getattr(self, "make_" + kind)(t, item is True, depth, where)
        t[name] = body
        if self.chance(0.5):  # the action stands first
            t = {k: t[k] for k in sorted(t, key=lambda k: (k != "name", k != name))}
        return t

    def make_debug(self, t, item, depth, where):
        if self.chance(0.1):
            return {"msg": self.text(item), "verbosity": self.pick([0, 1])}
        return self.pick([{"msg": self.text(item)}, {"msg": self.text(item)}, {"msg": [self.text(item), self.text(item)]},
                          {"var": self.pick(NAMES + ["r1.msg", "r2.results | default([]) | length", "f1", "d1", "l1", "ansible_loop"])},
                          {"msg": "{{ %s }}" % self.pick(["l1", "d1", "r2.results | default([]) | map(attribute='item') | list", "d1.b"])}])

    def make_set_fact(self, t, item, depth, where):
        out = {self.pick(["f1", "f2"] + NAMES): self.value() if self.chance(0.6) else self.text(item)}
        if self.chance(0.1):
            out["cacheable"] = True
        return out

    def make_fail(self, t, item, depth, where):
        t.setdefault("when", "inventory_hostname == '%s'" % self.pick(HOSTS))
        return {"msg": self.text(item)}

    def make_assert(self, t, item, depth, where):
        if self.chance(0.5):
            t["ignore_errors"] = True
        out = {"that": self.pick([self.condition(item), [self.condition(item), self.condition(item)]])}
        if self.chance(0.3):
            out[self.pick(["fail_msg", "success_msg"])] = self.text(item)
        if self.chance(0.2):
            out["quiet"] = True
        return out

    def make_command(self, t, item, depth, where):
        return self.pick(["echo hi", "echo {{ inventory_hostname }}", "false", {"cmd": "echo one two", "creates": "nothing"},
                          {"argv": ["echo", "{{ v1 | default('a b') }}"]}, {"cmd": "cat", "stdin": "x"}, "echo hi chdir=/"])

    def make_shell(self, t, item, depth, where):
        return self.pick(["echo $E1 $E2", "echo out; echo err >&2; exit {{ 1 if inventory_hostname == 'h1' else 0 }}", "printf 'a\\nb\\n'"])

    def make_add_host(self, t, item, depth, where):
        return {"name": "h%d" % self.r.randint(4, 5), "groups": self.pick(["new", ["new", "b"], "new,x"]), self.pick(NAMES): self.pick([1, "{{ inventory_hostname }}"])}

    def make_group_by(self, t, item, depth, where):
        return self.pick([{"key": "g_{{ inventory_hostname }}"}, {"key": "g", "parents": ["a", "pp"]}])

    def make_meta(self, t, item, depth, where):
        body = self.pick(["noop", "flush_handlers", "flush_handlers", "clear_host_errors", "end_host", "end_play", "clear_facts",
                          "end_batch", "refresh_inventory"] + (["end_role"] if self.level == "2.19" and where == "role" else []))
        if body.startswith("end"):
            t["when"] = "inventory_hostname == 'h2'"
        elif body != "clear_facts":
            t.pop("when", None)
        t.pop("tags", None) if self.chance(0.5) else None
        return body

    def make_include_vars(self, t, item, depth, where):
        self.files["extra.yml"] = "%s: %s\n" % (self.pick(NAMES), self.pick(["11", "extra", "[3]", "\"{{ v1 | default('ev') }}\""]))
        self.files["vd/a.yml"] = "v1: da\n"
        self.files["vd/b.yml"] = "v1: db\nv2: db\n"
        return self.pick(["extra.yml", {"file": "extra.yml", "name": "f1"}, {"dir": "vd"}, "nofile.yml" if self.chance(0.2) else "extra.yml"]) \
            if where != "role" else "{{ playbook_dir }}/extra.yml"

    def make_copy(self, t, item, depth, where):
        return {"content": self.text(item) + "\n", "dest": "out_{{ inventory_hostname }}", "mode": self.pick(["0644", "0600", "u=rw,g=r,o="])} \
            if self.chance(0.7) else {"src": self.pick(["extra.yml", "nofile", "hosts"]), "dest": "out_c"}

    def make_template(self, t, item, depth, where):
        self.files.setdefault("templates/t.j2", "# {{ inventory_hostname }}\n{% for x in l1 %}\n  - {{ x }}\n{% endfor %}\n" + self.text() + "\n")
        return {"src": "t.j2", "dest": self.pick(["out_t", "out_t_{{ inventory_hostname }}"])}

    def make_lineinfile(self, t, item, depth, where):
        return {"path": "out_l", "line": self.pick(["a={{ v1 | default(1) }}", "b", "{{ item }}" if item else "c"]), "create": self.pick([True, True, False]),
                "regexp": self.pick(["^a=", "^b"])}

    def make_stat(self, t, item, depth, where):
        t.setdefault("register", "r1")
        return {"path": self.pick(["nowhere", "hosts"]), "get_checksum": False, "get_mime": False, "get_attributes": False}

    def make_slurp(self, t, item, depth, where):
        return {"src": self.pick(["nowhere", "hosts"])}

    def make_file(self, t, item, depth, where):
        return self.pick([{"path": "out_f", "state": "touch", "mode": "0640"}, {"path": "out_d", "state": "directory", "mode": "0755"},
                          {"path": "out_f", "state": "absent"}, {"src": "hosts", "dest": "out_s", "state": "link"}])

    def make_ping(self, t, item, depth, where):
        return {"data": self.pick(["x", "crash" if self.chance(0.1) else "{{ v1 | default('y') }}"])}

    def make_set_stats(self, t, item, depth, where):
        return {"data": {"s1": "{{ inventory_hostname }}"}, "per_host": self.pick([True, False])}

    def included(self, depth, where):
        name = "inc%d.yml" % self.number()
        folder = "roles/%s/tasks/" % self.role if where == "role" else "roles/%s/handlers/" % self.role if where == "handler" and self.role else ""
        self.files[folder + name] = self.dump(self.tasks(depth + 1, where, self.r.randint(1, 2)))
        return name

    def make_include_tasks(self, t, item, depth, where):
        name = self.included(max(depth, 2) if where == "handler" else depth, where)
        if self.chance(0.04):
            name = "missing.yml"
        if self.chance(0.2):
            return {"file": name, "apply": self.pick([{"tags": [self.pick(TAGS)]}, {"vars": {self.pick(NAMES): "ap"}}, {"when": self.condition()},
                                                      {"ignore_errors": True}])}
        return name

    def make_import_tasks(self, t, item, depth, where):
        return self.included(depth, where)

    def make_include_role(self, t, item, depth, where):
        out = {"name": self.pick(self.roles)}
        for key, values, p in (("public", [True, False], 0.2), ("apply", [{"tags": ["t3"]}, {"ignore_errors": True}], 0.12),
                               ("tasks_from", ["more"], 0.15), ("vars_from", ["more"], 0.1), ("defaults_from", ["more"], 0.1),
                               ("handlers_from", ["more"], 0.05), ("allow_duplicates", [True, False], 0.1), ("rolespec_validate", [True, False], 0.05)):
            if self.chance(p):
                out[key] = self.pick(values)
        return out

    def make_import_role(self, t, item, depth, where):
        out = self.make_include_role(t, item, depth, where)
        out.pop("apply", None)
        if self.level == "2.14":
            out.pop("public", None)
        return out

    def tasks(self, depth, where, count):
        return [self.task(depth, where) for _ in range(count)]

    def handler(self, name):
        t = {"name": name}
        if self.chance(0.3):
            t["listen"] = self.pick(["topic", ["topic", "other"]])
        if self.chance(0.2):
            t["when"] = self.condition()
        if self.chance(0.15):
            t.update({"notify": "hc", "changed_when": True})
        if self.chance(0.08):
            t["ignore_errors"] = True
        if self.chance(0.08):
            t["run_once"] = True
        if self.chance(0.12):
            t["fail"] = {"msg": "handler fails"}
            t["when"] = "inventory_hostname == '%s'" % self.pick(HOSTS)
        elif self.chance(0.12):
            t["include_tasks"] = self.included(2, "handler")
            t.pop("changed_when", None)
            t.pop("notify", None)
        elif self.chance(0.1):
            t["command"] = "echo h"
        else:
            t["debug"] = {"msg": "handler %s %s" % (name, self.text())}
        if self.chance(0.1) and "include_tasks" not in t:
            t["loop"] = [1, 2]
        return t

    def play(self):
        p = {"hosts": self.pick(["all", "all", "all", "a", "b", "h1", "h1,h3", "all:!h2", "new" if self.chance(0.3) else "all"]), "gather_facts": False}
        for key, values, chance in (
                ("serial", [1, 2, [1, "100%"], "50%"], 0.15), ("any_errors_fatal", [True], 0.1), ("max_fail_percentage", [30, 60], 0.06),
                ("force_handlers", [True], 0.1), ("order", ["reverse_inventory", "sorted", "reverse_sorted"], 0.06), ("tags", [["t1"], "t2"], 0.08),
                ("name", ["p%d" % self.number(), "play {{ p1 }}"], 0.5), ("ignore_errors", [True], 0.03), ("check_mode", [True], 0.03),
                ("diff", [True], 0.04), ("environment", [{"E1": "play"}], 0.06), ("no_log", [True], 0.01),
                ("module_defaults", [{"debug": {"msg": "md play"}}, {"command": {"chdir": "/tmp"}}, {"group/none": {"x": 1}} if self.chance(0.2) else {"copy": {"mode": "0600"}}], 0.07),
                ("strategy", ["free", "host_pinned", "linear"], 0.06), ("vars_files", [["vf.yml"], [["nof.yml", "vf.yml"]], "vf.yml"], 0.1),
                ("run_once", [True], 0.02), ("throttle", [1], 0.02)):
            if self.chance(chance):
                p[key] = self.pick(values)
        if p.get("strategy") in ("free", "host_pinned"):
            self.free = True
        if "vars_files" in p:
            self.files["vf.yml"] = "%s: vf\n" % self.pick(NAMES)
        p["vars"] = {"p1": "play", "l1": ["x", "y"], "d1": {"a": 1, "b": "{{ v1 | default('-') }}"}, self.pick(NAMES): self.pick([5, "pv", [5]])}
        if self.chance(0.35):
            p["roles"] = [self.entry() for _ in range(self.r.randint(1, 2))]
        for section, chance in (("pre_tasks", 0.15), ("tasks", 1), ("post_tasks", 0.15)):
            if self.chance(chance):
                p[section] = self.tasks(0, "play", self.r.randint(2, 5) if section == "tasks" else 1)
        p["handlers"] = [self.handler(name) for name in self.handlers]
        return p

    def entry(self):
        e = {"role": self.pick(self.roles)}
        if self.chance(0.4):
            e[self.pick(NAMES)] = "e%d" % self.number()
        if self.chance(0.2):
            e["tags"] = ["t2"]
        if self.chance(0.15):
            e["when"] = self.condition()
        if self.chance(0.15):
            e["vars"] = {self.pick(NAMES): "ev"}
        return e if len(e) > 1 or self.chance(0.5) else e["role"]

    def make_one_role(self, i, role):
        self.role = role
        top = "roles/%s/" % role
        self.files[top + "tasks/main.yml"] = self.dump(self.tasks(1, "role", self.r.randint(1, 2)))
        self.files[top + "tasks/more.yml"] = self.dump(self.tasks(2, "role", 1))
        self.files[top + "defaults/more.yml"] = "%s: moredef\n" % self.pick(NAMES)
        self.files[top + "vars/more.yml"] = "%s: morevar\n" % self.pick(NAMES)
        self.files[top + "handlers/more.yml"] = self.dump([self.handler("hr")])
        if self.chance(0.6):
            self.files[top + "defaults/main.yml"] = "%s: def_%s\n" % (self.pick(NAMES), role)
        if self.chance(0.4):
            self.files[top + "vars/main.yml"] = "%s: var_%s\n" % (self.pick(NAMES), role)
        if self.chance(0.5):
            self.files[top + "handlers/main.yml"] = self.dump([self.handler(self.pick(self.handlers + ["hr"]))])
        meta = {}
        if self.chance(0.25):
            meta["allow_duplicates"] = True
        if i and self.chance(0.35):
            meta["dependencies"] = [self.pick([self.roles[i - 1], {"role": self.roles[i - 1], self.pick(NAMES): "dep"},
                                               {"role": self.roles[0], "when": self.condition()}, {"role": self.roles[0], "tags": ["t3"]}])]
        if self.chance(0.15):
            meta["argument_specs"] = {"main": {"short_description": "spec", "options": {
                self.pick(NAMES): self.pick([{"type": "int"}, {"type": "str", "required": True}, {"type": "list", "elements": "str"},
                                             {"choices": ["a", "b"], "type": "str"}, {"type": "bool", "default": True}])}}}
        if meta:
            self.files[top + "meta/main.yml"] = self.dump(meta)
        self.role = None

    def make(self):
        self.files["hosts"] = "[a]\nh1 v1=inv1\nh2\n[b]\nh2\nh3 v2=inv2\n" + ("[b:vars]\nv3=bv\n[top:children]\na\nb\n" if self.chance(0.3) else "")
        self.files["group_vars/a.yml"] = "%s: ga\n" % self.pick(NAMES)
        self.files["group_vars/all.yml"] = "%s: gall\nl1: [q]\n" % self.pick(NAMES)
        self.files["host_vars/h3.yml"] = "%s: hv3\n" % self.pick(NAMES)
        for i, role in enumerate(self.roles):
            self.make_one_role(i, role)
        self.budget = max(self.budget, 6)
        site = [self.play() for _ in range(self.r.randint(1, 2))]
        if self.chance(0.12):
            self.files["other.yml"] = self.dump([self.play()])
            e = {"import_playbook": "other.yml"}
            if self.chance(0.4):
                e["vars"] = {self.pick(NAMES): "ipb"}
            if self.chance(0.3):
                e["when"] = self.condition()
            if self.chance(0.2):
                e["tags"] = ["t1"]
            site.insert(self.r.randint(0, len(site)), e)
        self.files["site.yml"] = self.dump(site)
        self.args = ["-i", "hosts", "site.yml"]
        if self.chance(0.15):
            self.args += ["--tags", self.pick(TAGS)]
        elif self.chance(0.1):
            self.args += ["--skip-tags", self.pick(TAGS)]
        for args, p in ((["-e", "%s=given" % self.pick(NAMES)], 0.1), (["--limit", self.pick(["h1", "b"])], 0.08), (["--check"], 0.06),
                        (["--diff"], 0.08), (["-v"], 0.05), (["--force-handlers"], 0.04), (["--list-tasks"], 0.03), (["--list-tags"], 0.01),
                        (["--start-at-task", "n%d" % self.r.randint(1, 12)], 0.03), (["--syntax-check"], 0.01), (["--list-hosts"], 0.01)):
            if self.chance(p):
                self.args += args
        return self
