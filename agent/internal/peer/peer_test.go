package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"hark/agent/internal/call"
	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

// mirrored sends a blob of the caller back to it, and tells what it asked for.
var mirrored = modules.Define("test.mirrored", "Sends a blob back",
	func(ctx context.Context, env *modules.Env, a struct {
		Blob string `arg:"blob"`
	}) (modules.Result, error) {
		r, err := env.Open(ctx, a.Blob)
		if err != nil {
			return modules.Result{}, err
		}
		defer r.Close()
		if err := env.Upload(ctx, "/dest", 0o640, r); err != nil {
			return modules.Result{}, err
		}
		sum, err := env.RemoteSum(ctx, "/dest")
		env.Warn("sent %s", a.Blob)
		env.Live(false, []byte("out"))
		env.Live(true, []byte("err"))
		return modules.Result{Changed: true, Data: value.DictOf("sum", sum)}, err
	})

// patient waits until its call is cancelled.
func patient(began chan<- struct{}) *modules.Module {
	return modules.Define("test.patient", "Waits",
		func(ctx context.Context, _ *modules.Env, _ struct{}) (modules.Result, error) {
			close(began)
			<-ctx.Done()
			return modules.Result{Msg: "ended"}, nil
		})
}

// connect makes a connection to a server that has the module.
func connect(t *testing.T, m *modules.Module) *Conn {
	t.Helper()
	fromCaller, toPeer := io.Pipe()
	fromPeer, toCaller := io.Pipe()
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(func() { toPeer.Close() })
	running.Go(func() {
		s := &Server{Modules: modules.NewRegistry(m)}
		if err := s.Serve(context.Background(), fromCaller, toCaller); err != nil {
			t.Errorf("Serve: %v", err)
		}
		toCaller.Close()
	})
	conn, err := Dial(fromPeer, toPeer)
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		if err := conn.Listen(); !errors.Is(err, io.EOF) {
			t.Errorf("Listen: %v", err)
		}
	})
	return conn
}

func invoke(m *modules.Module, args map[string]any, env *modules.Env) call.Invocation {
	inv := call.Invocation{Module: m, Args: modtest.Args(args), Env: env}
	inv.Call.Module = m.Name
	return inv
}

func TestModulesReachTheSessionOfTheCaller(t *testing.T) {
	conn := connect(t, mirrored)
	blob := strings.Repeat("0123456789", chunk/5) // two chunks
	var mu sync.Mutex
	var said []string
	note := func(format string, a ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, a...))
	}
	env := &modules.Env{
		Open: func(_ context.Context, digest string) (io.ReadCloser, error) {
			if digest != "d1" {
				return nil, errors.New("no such blob")
			}
			return io.NopCloser(strings.NewReader(blob)), nil
		},
		Upload: func(_ context.Context, dest string, mode uint32, r io.Reader) error {
			text, err := io.ReadAll(r)
			note("upload %s %o whole=%v", dest, mode, string(text) == blob)
			return err
		},
		RemoteSum: func(_ context.Context, dest string) (string, error) { return "sum of " + dest, nil },
		Warn:      note,
		Live:      func(stderr bool, chunk []byte) { note("%s stderr=%v", chunk, stderr) },
	}
	res, err := conn.Run(context.Background(), invoke(mirrored, map[string]any{"blob": "d1"}, env))
	if err != nil || !res.Changed || modtest.Entry(res, "sum") != "sum of /dest" {
		t.Errorf("%+v, %v", res, err)
	}
	want := "upload /dest 640 whole=true, sent d1, out stderr=false, err stderr=true"
	if got := strings.Join(said, ", "); got != want {
		t.Errorf("the session heard %s, want %s", got, want)
	}
	res, err = conn.Run(context.Background(), invoke(mirrored, map[string]any{"blob": "d2"}, env))
	if err != nil || !res.Failed || !strings.Contains(res.Msg, "no such blob") {
		t.Errorf("without the blob: %+v, %v", res, err)
	}
}

func TestCancelledCallsEndOnBothSides(t *testing.T) {
	began := make(chan struct{})
	m := patient(began)
	conn := connect(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-began
		cancel()
	}()
	res, err := conn.Run(ctx, invoke(m, nil, &modules.Env{}))
	if err != nil || res.Msg != "ended" {
		t.Errorf("%+v, %v: the module did not end before its call", res, err)
	}
}

func TestCallsFailWhenTheServerIsGone(t *testing.T) {
	fromCaller, toPeer := io.Pipe()
	conn := New(strings.NewReader(Banner+"\n"), toPeer)
	if err := conn.Greet(); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := conn.Run(context.Background(), invoke(mirrored, nil, &modules.Env{}))
		result <- err
	}()
	var f frame
	if err := json.NewDecoder(fromCaller).Decode(&f); err != nil || f.Kind != kindRun {
		t.Fatalf("the caller sent %+v, %v", f, err)
	}
	if err := conn.Listen(); !errors.Is(err, io.EOF) {
		t.Errorf("Listen: %v", err)
	}
	if err := <-result; !errors.Is(err, ErrGone) {
		t.Errorf("a running call gave %v", err)
	}
	if _, err := conn.Run(context.Background(), invoke(mirrored, nil, &modules.Env{})); !errors.Is(err, ErrGone) {
		t.Errorf("a later call gave %v", err)
	}
}

func TestModulesGoOnWhenTheCallerIsGone(t *testing.T) {
	m := modules.Define("test.asker", "Asks nobody",
		func(ctx context.Context, env *modules.Env, _ struct{}) (modules.Result, error) {
			_, err := env.RemoteSum(ctx, "/dest")
			return modules.Result{Msg: fmt.Sprint(err)}, nil
		})
	var kept string
	s := &Server{Modules: modules.NewRegistry(m), Done: func(_ *Job, raw json.RawMessage) json.RawMessage {
		kept = string(raw)
		return raw
	}}
	const run = `{"call":1,"kind":"run","job":{"call":{"module":"test.asker","args":{}}}}`
	if err := s.Serve(context.Background(), strings.NewReader("a password\n"+run+"\n"), io.Discard); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if !strings.Contains(kept, "the agent is gone") {
		t.Errorf("the result that was kept is %s", kept)
	}
}

func TestWhatComesBeforeTheBannerIsTold(t *testing.T) {
	_, err := Dial(strings.NewReader("sudo: a password is required\n"), io.Discard)
	if err == nil || err.Error() != "sudo: a password is required" {
		t.Errorf("got %v", err)
	}
	if _, err := Dial(strings.NewReader("Welcome!\r\n"+Banner+"\r\n"), io.Discard); err != nil {
		t.Errorf("a notice before the banner: %v", err)
	}
}

func TestASecondResultOfACallIsDropped(t *testing.T) {
	var sent bytes.Buffer
	done := `{"call":1,"kind":"done","result":{"changed":true}}` + "\n"
	conn := New(strings.NewReader(Banner+"\n"+done+done+done), &sent)
	if err := conn.Greet(); err != nil {
		t.Fatal(err)
	}
	result, err := conn.Begin(context.Background(), &Job{}, &modules.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Listen(); !errors.Is(err, io.EOF) {
		t.Errorf("Listen: %v", err)
	}
	if raw, err := result(); err != nil || string(raw) != `{"changed":true}` {
		t.Errorf("%s, %v", raw, err)
	}
}

// endless says the same for ever, and counts how much of it was heard.
type endless struct {
	first, rest string
	heard       int
}

func (e *endless) Read(p []byte) (int, error) {
	if n := copy(p, e.first); n > 0 {
		e.first = e.first[n:]
		return n, nil
	}
	n := copy(p, strings.Repeat(e.rest, len(p)/len(e.rest)+1))
	e.heard += n
	return n, nil
}

func TestTheOtherSideCannotTalkForEver(t *testing.T) {
	greeting := &endless{rest: "no banner "}
	if _, err := Dial(greeting, io.Discard); err == nil || greeting.heard > largestGreeting+64<<10 {
		t.Errorf("a greeting of %d bytes: %v", greeting.heard, err)
	}
	frame := &endless{first: Banner + "\n" + `{"kind": "done", "result": "`, rest: "x"}
	c, err := Dial(frame, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c.frame = 1 << 20
	if err := c.Listen(); err == nil || frame.heard > 2<<20 {
		t.Errorf("a frame of %d bytes: %v", frame.heard, err)
	}
}
