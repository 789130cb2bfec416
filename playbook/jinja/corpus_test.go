package jinja_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/answertest"
	"hark/playbook/jinja/templar"
)

// known is how many cases of the file beside this test are answered as Ansible answers them, in classic and in
// native mode. It only ever grows.
const (
	knownClassic = 624
	knownNative  = 552
)

// corpusCase is one line of the corpus: what Ansible's templar answers to a template.
type corpusCase struct {
	ID       int
	Category string
	Mode     string
	Template string
	Vars     json.RawMessage
	Files    map[string]string
	Opts     answertest.FileOptions
	corpusAnswer
	Native *corpusAnswer
}

type corpusAnswer struct {
	Expected json.RawMessage
	Error    *string
	Type     *string
}

func TestCorpus(t *testing.T) {
	path := os.Getenv("HARK_JINJA_CORPUS")
	own := path == ""
	if own {
		path = filepath.Join("testdata", "jinja.jsonl")
	}
	t.Setenv("HJ_TEST", "env-value")
	cases := readCorpus(t, path)
	engine := templar.NewEngine()
	classic := judge(t, "classic", cases, func(c corpusCase) string { return check(engine, c, c.corpusAnswer, false) })
	var native []corpusCase
	for _, c := range cases {
		if c.Mode == "expr" && c.Native != nil && (c.Native.Type != nil || c.Native.Error != nil) {
			native = append(native, c)
		}
	}
	inNative := judge(t, "native", native, func(c corpusCase) string { return check(engine, c, *c.Native, true) })
	if own && (classic < knownClassic || inNative < knownNative) {
		t.Errorf("%d classic and %d native cases are right, were %d and %d", classic, inNative, knownClassic, knownNative)
	}
	fmt.Printf("native: %d of %d\n", inNative, len(native))
	fmt.Printf("corpus: %d of %d\n", classic, len(cases))
}

func readCorpus(t *testing.T, path string) []corpusCase {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []corpusCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c corpusCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// judge counts the right cases and tells the wrong ones.
func judge(t *testing.T, mode string, cases []corpusCase, check func(corpusCase) string) int {
	right := 0
	wrong := map[string]int{}
	for _, c := range cases {
		msg := check(c)
		if msg == "" {
			right++
			continue
		}
		wrong[c.Category]++
		t.Logf("%s %d (%s): %q: %s", mode, c.ID, c.Category, c.Template, msg)
	}
	var names []string
	for name := range wrong {
		names = append(names, fmt.Sprintf("%s %d", name, wrong[name]))
	}
	sort.Strings(names)
	t.Logf("%s, wrong by category: %s", mode, strings.Join(names, ", "))
	return right
}

// check gives what is wrong with our answer, "" if it is Ansible's.
func check(engine *templar.Engine, c corpusCase, want corpusAnswer, native bool) string {
	vars, err := answertest.Vars(c.Vars)
	if err != nil {
		return err.Error()
	}
	t := templar.New(vars, templar.Options{
		Engine: engine,
		Native: native,
		Load: func(_ context.Context, name string) (value.Source, bool, error) {
			text, ok := c.Files[name]
			return value.SourceText(text), ok, nil
		},
		Lookup: hostLookup,
	})
	got, err := answer(t, c)
	if want.Error != nil {
		if err == nil {
			return fmt.Sprintf("no error, want %s; got %s", *want.Error, show(got))
		}
		if kind := errorKind(err); kind != *want.Error {
			return fmt.Sprintf("error of kind %s, want %s: %v", kind, *want.Error, err)
		}
		return ""
	}
	if err != nil {
		return "error: " + err.Error()
	}
	if want.Type != nil && !sameType(*want.Type, got.Type()) {
		return fmt.Sprintf("type %s, want %s", got.Type(), *want.Type)
	}
	return compare(got, want.Expected)
}

// hostLookup runs the lookups of the corpus that ask the machine: a controller answers them.
func hostLookup(_ context.Context, name string, args []value.Value, _ *value.Dict) (value.Value, error) {
	found := value.NewList()
	switch strings.TrimPrefix(name, "ansible.builtin.") {
	case "env":
		for _, a := range args {
			s, _ := value.Text(a)
			found.Items = append(found.Items, value.Str(os.Getenv(s)))
		}
	case "first_found":
		for _, a := range args {
			candidates, err := value.Elements(a)
			if err != nil {
				return nil, err
			}
			for _, c := range candidates {
				s, _ := value.Text(c)
				if _, err := os.Stat(s); err == nil {
					return value.NewList(c), nil
				}
			}
		}
	default:
		return nil, templar.ErrUnknownLookup
	}
	return found, nil
}

func answer(t *templar.Templar, c corpusCase) (value.Value, error) {
	ctx := context.Background()
	switch c.Mode {
	case "when":
		ok, _, err := t.Condition(ctx, value.SourceText(c.Template))
		return value.Bool(ok), err
	case "file":
		s, err := t.File(ctx, value.SourceText(c.Template), templar.FileOptions{
			LstripBlocks: c.Opts.LstripBlocks, NoTrimBlocks: c.Opts.TrimBlocks != nil && !*c.Opts.TrimBlocks,
		})
		return value.Str(s), err
	}
	return t.Template(ctx, value.SourceText(c.Template))
}

// sameType takes the corpus's word for plain text for all kinds that Ansible has of it.
func sameType(want, got string) bool {
	if got == "AnsibleUnicode" || got == "Markup" {
		got = "str"
	}
	if want == "AnsibleUnicode" || want == "Markup" {
		want = "str"
	}
	return want == got
}

func errorKind(err error) string {
	if templar.IsUndefined(err) {
		return "undefined"
	}
	if strings.Contains(err.Error(), "template error while templating string") {
		return "syntax"
	}
	if strings.Contains(err.Error(), "is undefined") && strings.HasPrefix(err.Error(), "The conditional check") {
		return "undefined"
	}
	return "runtime"
}

// compare gives how got differs from the JSON of the corpus.
func compare(got value.Value, want json.RawMessage) string {
	var w any
	d := json.NewDecoder(bytes.NewReader(want))
	d.UseNumber()
	if err := d.Decode(&w); err != nil {
		return err.Error()
	}
	g, err := plain(got)
	if err != nil {
		return err.Error()
	}
	a, errA := json.Marshal(g)
	b, errB := json.Marshal(w)
	if errA != nil || errB != nil {
		return fmt.Sprint(errA, errB)
	}
	if string(a) == string(b) {
		return ""
	}
	return fmt.Sprintf("got  %s\n\twant %s", a, b)
}

// plain is a value as the corpus writes it: keys that are not text are marked, and numbers are printed by Python's
// rules.
func plain(v value.Value) (any, error) {
	switch v := v.(type) {
	case value.None:
		return nil, nil
	case value.Bool:
		return bool(v), nil
	case value.Int, *value.BigInt, value.Float:
		s, err := value.ToStr(v)
		return json.Number(s), err
	case *value.List:
		return plainItems(v.Items)
	case *value.Tuple:
		return plainItems(v.Items)
	case *value.Dict:
		m := map[string]any{}
		for i := range v.Len() {
			k, item := v.At(i)
			x, err := plain(item)
			if err != nil {
				return nil, err
			}
			name, ok := value.Text(k)
			if !ok {
				r, err := value.Repr(k)
				if err != nil {
					return nil, err
				}
				name = "\x00" + r
			}
			m[name] = x
		}
		return m, nil
	}
	s, ok := value.Text(v)
	if !ok {
		r, err := value.Repr(v)
		return map[string]any{"__repr__": r}, err
	}
	return s, nil
}

func plainItems(items []value.Value) (any, error) {
	out := []any{}
	for _, item := range items {
		x, err := plain(item)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func show(v value.Value) string {
	s, err := value.Repr(v)
	if err != nil {
		return v.Type()
	}
	return s
}
