package syntax

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// eachCase gives every line of a file of JSON lines.
func eachCase(t *testing.T, file string, f func(c *value.Dict)) {
	t.Helper()
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for s := bufio.NewScanner(r); s.Scan(); n++ {
		v, err := pyyaml.JSON(s.Text(), value.KindSource)
		if err != nil {
			t.Fatal(err)
		}
		f(v.(*value.Dict))
	}
	if n == 0 {
		t.Fatalf("%s is empty", file)
	}
}

func field(c *value.Dict, key string) value.Value {
	v, ok := c.Get(key)
	if !ok {
		return value.None{}
	}
	return v
}

// TestArgumentsSplitAsAnsibles compares with ansible-core's parse_kv (testdata/regen_args.py).
func TestArgumentsSplitAsAnsibles(t *testing.T) {
	eachCase(t, "testdata/kv.jsonl", func(c *value.Dict) {
		text := value.Printed(field(c, "text"))
		free := field(c, "free") == value.Bool(true)
		got := "nothing"
		d, err := Args(text, free)
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = value.PrintedRepr(d)
		}
		want := field(c, "want")
		if _, isDict := want.(*value.Dict); isDict {
			want = value.SourceText(value.PrintedRepr(want))
		}
		if got != value.Printed(want) {
			t.Errorf("%q (free-form %v)\n got %s\nwant %s", text, free, got, value.Printed(want))
		}
	})
}

// TestTasksReadAsAnsibles compares action, arguments and delegation with ansible-core's reader of tasks.
func TestTasksReadAsAnsibles(t *testing.T) {
	eachCase(t, "testdata/tasks.jsonl", func(c *value.Dict) {
		text := value.Printed(field(c, "task"))
		g := &Grammar{Loader: &Loader{}}
		n, err := g.Loader.Parse("task.yml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{report: g.report("task.yml"), g: g}
		task := r.task(n)
		got := ""
		if task == nil {
			got = "error: " + strings.Split(r.errs[0].Error(), "\n")[0]
		} else {
			got = value.PrintedRepr(taskShape(task))
		}
		want := field(c, "want")
		if d, isDict := want.(*value.Dict); isDict {
			want = value.SourceText(value.PrintedRepr(sortArgs(d)))
		}
		if got != value.Printed(want) {
			t.Errorf("%s\n got %s\nwant %s", text, got, value.Printed(want))
		}
	})
}

// taskShape is a task as the test file has it; a template for all arguments is Ansible's _variable_params.
func taskShape(task *Task) *value.Dict {
	d := value.NewDict()
	d.Set("action", value.SourceText(task.Action))
	args := task.Args.Copy()
	if task.ArgsExpr != "" {
		args.Set("_variable_params", value.SourceText(task.ArgsExpr))
	}
	d.Set("args", args)
	to := task.Attrs.Get("delegate_to")
	if to == nil {
		to = value.None{}
	}
	d.Set("delegate_to", to)
	return sortArgs(d)
}

// sortArgs puts the arguments in order; cmd, file and role are where a task has them in the end.
func sortArgs(d *value.Dict) *value.Dict {
	out := d.Copy()
	args, _ := field(d, "args").(*value.Dict)
	args = args.Copy()
	action := value.Printed(field(d, "action"))
	if cmd, ok := args.Get("cmd"); ok && withCmd[action] {
		args.Delete(value.SourceText("cmd"))
		args.Set("_raw_params", cmd)
	}
	if file, ok := args.Get("file"); ok && taskFiles[action] {
		args.Delete(value.SourceText("file"))
		args.Set("_raw_params", file)
	}
	sorted, err := pyyaml.Dump(args, pyyaml.DumpOptions{})
	if err != nil {
		sorted = err.Error()
	}
	out.Set("args", value.SourceText(sorted))
	return out
}

func FuzzKV(f *testing.F) {
	for _, s := range []string{`a=1 b="x y"`, "echo {{ a }} \\\n b", `a\=b='c`, "{% x %}{#", "\n a"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, free bool) {
		pairs, raw, err := KV(s, free)
		if err != nil {
			return
		}
		for _, p := range pairs {
			if strings.TrimSpace(p.Key) != p.Key {
				t.Errorf("%q gives the key %q", s, p.Key)
			}
			if free && !rawKeys[p.Key] {
				t.Errorf("%q gives %q=%q of free-form text %q", s, p.Key, p.Value, raw)
			}
		}
	})
}
