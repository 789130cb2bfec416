package debugger_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/controller/internal/ui/debugger"
	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/templar"
)

var update = flag.Bool("update", false, "rewrite the expectations")

// script is a terminal whose user has written down beforehand what to type.
type script struct {
	lines []string
	out   strings.Builder
}

func (s *script) Line(_ context.Context, prompt string) (string, error) {
	if len(s.lines) == 0 {
		s.out.WriteString(prompt + "^D\n")
		return "", io.EOF
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	s.out.WriteString(prompt + line + "\n")
	return line, nil
}

func (s *script) Print(text string) { s.out.WriteString(text + "\n") }

// TestDialogues plays the dialogues of testdata: what is typed, a line of dashes, the screen with the verdict.
func TestDialogues(t *testing.T) {
	const path = "testdata/dialogues.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten []string
	for _, text := range strings.Split(string(data), "\n====\n") {
		typed, want, _ := strings.Cut(text, "\n----\n")
		got := play(t, typed)
		rewritten = append(rewritten, typed+"\n----\n"+got)
		if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" && !*update {
			t.Errorf("%s\n%s", typed, diff)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(rewritten, "\n====\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func play(t *testing.T, typed string) string {
	t.Helper()
	s := &script{lines: strings.Split(typed, "\n")}
	c := &debugger.Case{
		Host: "web1", Task: "TASK: install", Vars: read(t, "package: bsh\nlist: [1, 2]\nnested: {deep: {x: 1}}"),
		About:  read(t, "name: install\nargs: {name: bsh, state: present}\nsource: {name: '{{ package }}', state: present}"),
		Result: read(t, "failed: true\nmsg: no such package"),
		Render: func(ctx context.Context, vars *value.Dict, v value.Value) (value.Value, error) {
			return templar.New(nil, templar.Options{}).With(vars).Template(ctx, v)
		},
	}
	v, err := debugger.Talk(context.Background(), s, c)
	switch {
	case errors.Is(err, debugger.ErrQuit):
		s.out.WriteString("=> quit\n")
	case err != nil:
		t.Fatal(err)
	case v.Redo:
		s.out.WriteString("=> redo with " + repr(t, v.Args) + " and " + repr(t, v.Vars) + "\n")
	default:
		s.out.WriteString("=> go on\n")
	}
	return strings.TrimSpace(s.out.String())
}

func read(t *testing.T, text string) *value.Dict {
	t.Helper()
	n, err := pyyaml.Load([]byte(text), pyyaml.Options{Text: value.KindSource})
	if err != nil {
		t.Fatal(err)
	}
	return n.Value.(*value.Dict)
}

func repr(t *testing.T, d *value.Dict) string {
	t.Helper()
	text, err := value.Repr(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
