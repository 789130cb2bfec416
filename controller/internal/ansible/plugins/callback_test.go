package plugins

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// callbacks start a shell script in place of Python; what it is told goes through its case statement.
func callbacks(t *testing.T, ctx context.Context, cases string, change func(*CallbackOptions)) (*Callbacks, error) {
	t.Helper()
	inv, err := inventory.Load(ctx, inventory.Options{Sources: []string{"h1,"}})
	if err != nil {
		t.Fatal(err)
	}
	script := "while read -r line <&3; do case $line in " + cases + "\n*'\"kind\":\"load\"'*) echo '{\"order\": [true, \"timer\", true]}' >&4 ;;\n*) echo '{}' >&4 ;;\nesac; done; echo '{}' >&4"
	o := CallbackOptions{
		Homes: fake(t, script).Homes, Inventory: inv, Out: os.Stdout, Err: os.Stderr,
		Lend: func(f func()) { f() }, Warn: func(text string) { t.Errorf("warned: %s", text) },
	}
	if change != nil {
		change(&o)
	}
	return StartCallbacks(ctx, o)
}

func done(host string) view.Result {
	return view.Result{Host: host, Task: view.Task{ID: "1", Action: "ping"}, Outcome: &wire.Outcome{Status: wire.OK, Result: []byte(`{"ping": "pong"}`)}}
}

// TestWhatCallbacksAreTold: hosts and tasks are described when they are first spoken of, the beginning of a task is
// told if nobody else did, and what is asked meanwhile is answered.
func TestWhatCallbacksAreTold(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	c, err := callbacks(t, context.Background(), `*'"kind":"play"'*) echo '{"ask": "h1"}' >&4; read -r line <&3; echo "$line" >>`+told+`; echo '{}' >&4 ;;
*'"host":"h1"'*) echo "$line" >>`+told+`; echo '{}' >&4 ;;`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Order, []string{"", "timer", ""}) {
		t.Errorf("the order is %q", c.Order)
	}
	v := c.Beside(1, 1)
	vars := value.NewDict()
	vars.Set("seen", value.Str("of h1"))
	v.PlayStart(view.Play{ID: "0.0", Vars: func(string) *value.Dict { return vars }})
	v.Done(done("h1"))
	v.Done(done("h1"))
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	wants := []struct{ has, lacks string }{
		{`{"seen":"of h1"}`, ""},
		{`"kind":"start","first":1,"end":2,"hosts":[{"name":"h1"`, `"status"`},
		{`"kind":"done"`, `"hosts":`},
		{`"kind":"start"`, `"hosts":`},
		{`"status":"ok","result":{"ping":"pong"}`, `"task":{`},
	}
	if len(lines) != len(wants) {
		t.Fatalf("told:\n%s", raw)
	}
	for i, w := range wants {
		if !strings.Contains(lines[i], w.has) || w.lacks != "" && strings.Contains(lines[i], w.lacks) {
			t.Errorf("line %d has not %s or has %s: %s", i, w.has, w.lacks, lines[i])
		}
	}
}

// TestCallbacksThatDieAreToldOfOnce, and nothing is asked of them any more.
func TestCallbacksThatDieAreToldOfOnce(t *testing.T) {
	var warned []string
	c, err := callbacks(t, context.Background(), `*'"kind":"playbook"'*) exit 3 ;;`, func(o *CallbackOptions) {
		o.Warn = func(text string) { warned = append(warned, text) }
	})
	if err != nil {
		t.Fatal(err)
	}
	v := c.Screen()
	v.PlaybookStart("site.yml")
	v.NoHostsMatched()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "their Python has ended") {
		t.Errorf("warned: %q", warned)
	}
}

// TestACallbackThatHangsEndsWithTheRun: nobody waits for it when the run is cancelled, nor says that it ended.
func TestACallbackThatHangsEndsWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := callbacks(t, ctx, `*'"kind":"playbook"'*) exec sleep 1000 ;;`, func(o *CallbackOptions) {
		o.Lend = func(f func()) {
			cancel()
			f()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Screen().PlaybookStart("site.yml")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestCallbacksThatCannotBeHad(t *testing.T) {
	_, err := callbacks(t, context.Background(), `*'"kind":"load"'*) echo '{"missing": "nowhere"}' >&4 ;;`, nil)
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Name != "nowhere" {
		t.Errorf("the error is %v", err)
	}
	_, err = callbacks(t, context.Background(), `*'"kind":"load"'*) echo '{"error": "no options"}' >&4 ;;`, nil)
	if err == nil || err.Error() != "no options" {
		t.Errorf("the error is %v", err)
	}
	if _, err = callbacks(t, context.Background(), `*'"kind":"load"'*) echo '{"coreless": true}' >&4 ;;`, nil); !errors.Is(err, ErrNoCore) {
		t.Errorf("the error is %v", err)
	}
	if _, err := callbacks(t, context.Background(), `*) exit 1 ;;`, nil); err == nil {
		t.Error("a Python that ends at once is no error")
	}
}
