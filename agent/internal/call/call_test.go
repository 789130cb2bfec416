package call

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

type echoArgs struct {
	N     int         `arg:"n"`
	Fetch string      `arg:"fetch"`
	Hang  bool        `arg:"hang"`
	Extra *value.Dict `arg:"*"`
}

func echo(ctx context.Context, env *modules.Env, a echoArgs) (modules.Result, error) {
	if a.Hang {
		<-ctx.Done()
		return modules.Result{}, ctx.Err()
	}
	data := value.DictOf("n", a.N, "environ", env.Environ, "origin", env.Host, "named", env.Name)
	if a.Fetch != "" {
		in, err := env.Open(ctx, a.Fetch)
		if err != nil {
			return modules.Result{}, err
		}
		defer in.Close()
		raw, err := io.ReadAll(in)
		if err != nil {
			return modules.Result{}, err
		}
		data.Put("content", string(raw))
	}
	env.Warn("a %s", "warning")
	return modules.Result{Data: data}, nil
}

func testHost(ask Ask) Host {
	return Host{
		Ask:     ask,
		Modules: modules.NewRegistry(modules.Define("ansible.builtin.echo", "", echo, modules.With(func(m *modules.Module) { m.AnyArgs = true }))),
		Environ: func(user string) ([]string, error) {
			if user == "nobody at all" {
				return nil, errors.New("there is no such user")
			}
			return []string{"USER=" + user}, nil
		},
	}
}

func run(t *testing.T, h Host, c wire.Call) map[string]any {
	t.Helper()
	c.Module, c.Name = "ansible.builtin.echo", "echo"
	var out map[string]any
	raw := h.Run(context.Background(), wire.Exec{Run: "r", Play: "p", Host: "h2", Origin: "h1", Step: "7", Call: c})
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out
}

func TestRunIsForTheOtherHost(t *testing.T) {
	h := testHost(nil)
	out := run(t, h, wire.Call{Args: []byte(`{"n": 3}`), User: wire.RunAs{User: "joe"}, Environment: map[string]string{"B": "2", "A": "1"}})
	if out["n"] != 3.0 || out["origin"] != "h1" || out["named"] != "echo" {
		t.Errorf("got %v", out)
	}
	if got := out["environ"].([]any); !slices.Equal(got, []any{"USER=joe", "A=1", "B=2"}) {
		t.Errorf("environment is %v", got)
	}
	if got := out["warnings"].([]any); !slices.Equal(got, []any{"a warning"}) {
		t.Errorf("warnings are %v", got)
	}
}

func TestRunFailsInWords(t *testing.T) {
	h := testHost(nil)
	for want, c := range map[string]wire.Call{
		"cannot read the arguments":      {Args: []byte(`{`)},
		"there is no such user":          {Args: []byte(`{}`), User: wire.RunAs{User: "nobody at all"}},
		"unable to convert to int":       {Args: []byte(`{"n": "x"}`)},
		"this agent cannot run jobs":     {Args: []byte(`{}`), Async: time.Second},
		context.DeadlineExceeded.Error(): {Args: []byte(`{"hang": true}`), Timeout: time.Millisecond},
	} {
		out := run(t, h, c)
		if msg, _ := out["msg"].(string); out["failed"] != true || !strings.Contains(msg, want) {
			t.Errorf("want %q, got %v", want, out)
		}
	}
	raw := h.Run(context.Background(), wire.Exec{Host: "h2", Call: wire.Call{Module: "a.b.c"}})
	if !strings.Contains(string(raw), "does not know the module a.b.c") {
		t.Errorf("got %s", raw)
	}
}

func TestAModuleThatDoesNotEndHoldsNobodyUp(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	h := testHost(nil)
	h.Call = func(context.Context, Invocation) modules.Result {
		<-release
		return modules.Result{}
	}
	out := run(t, h, wire.Call{Args: []byte(`{}`), Timeout: time.Millisecond})
	if out["failed"] != true || out[LeftBehind] != true || !strings.Contains(out["msg"].(string), "does not end and was left behind") {
		t.Errorf("got %v", out)
	}
}

func TestACallThatBreaksIsAFailure(t *testing.T) {
	h := testHost(nil)
	h.Call = func(context.Context, Invocation) modules.Result { panic("boom") }
	if out := run(t, h, wire.Call{Args: []byte(`{}`)}); out["failed"] != true || !strings.Contains(out["msg"].(string), "broke: boom") {
		t.Errorf("got %v", out)
	}
}

func TestBlobsComeInPieces(t *testing.T) {
	var asked []int64
	h := testHost(func(_ context.Context, a wire.Ask) (wire.Answer, error) {
		asked = append(asked, a.Offset)
		if a.Run != "r" || a.Play != "p" || a.Host != "h2" || a.Step != "7" || a.Digest != "d" {
			t.Errorf("asked %+v", a)
		}
		pieces := map[int64]wire.Answer{0: {Data: []byte("abc")}, 3: {Data: []byte("de"), EOF: true}}
		return pieces[a.Offset], nil
	})
	out := run(t, h, wire.Call{Args: []byte(`{"fetch": "d"}`)})
	if out["content"] != "abcde" || !slices.Equal(asked, []int64{0, 3}) {
		t.Errorf("got %v after %v", out["content"], asked)
	}
}

func TestBlobThatIsRefusedFails(t *testing.T) {
	h := testHost(func(context.Context, wire.Ask) (wire.Answer, error) { return wire.Answer{Err: "refused"}, nil })
	out := run(t, h, wire.Call{Args: []byte(`{"fetch": "d"}`)})
	if out["failed"] != true || out["msg"] != "cannot read a file of the controller: refused" {
		t.Errorf("got %v", out)
	}
}

func TestUploadGoesInPiecesWithASum(t *testing.T) {
	content := bytes.Repeat([]byte("x"), piece+5)
	var got []byte
	f := files{ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
		if int64(len(got)) != a.Upload.Offset {
			t.Errorf("piece at %d after %d bytes", a.Upload.Offset, len(got))
		}
		got = append(got, a.Upload.Data...)
		if a.Upload.Last {
			sum := sha256.Sum256(got)
			if a.Upload.Digest != hex.EncodeToString(sum[:]) || a.Upload.Mode != 0o600 {
				t.Errorf("last piece is %s, mode %o", a.Upload.Digest, a.Upload.Mode)
			}
		}
		return wire.Answer{}, nil
	}}
	if err := f.upload(context.Background(), "/x", 0o600, bytes.NewReader(content)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes came, %v", len(got), err)
	}
}

func TestRemoteSumAsksWithoutWriting(t *testing.T) {
	f := files{ask: func(_ context.Context, a wire.Ask) (wire.Answer, error) {
		if !a.Upload.Stat || a.Upload.Dest != "/x" {
			t.Errorf("asked %+v", a.Upload)
		}
		return wire.Answer{Value: plan.Lit(value.Str("sum"))}, nil
	}}
	if got, err := f.remoteSum(context.Background(), "/x"); got != "sum" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOpenPrefersTheCache(t *testing.T) {
	f := files{cache: func(context.Context, string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("cached")), nil
	}}
	in, err := f.open(context.Background(), "d")
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := io.ReadAll(in); string(raw) != "cached" {
		t.Errorf("got %s", raw)
	}
}
