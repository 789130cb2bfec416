package ledger

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

// role is the variable that has the test's own binary play a broker, or a process that sends a record, until it is
// killed.
const role = "LEDGER_ROLE"

func TestMain(m *testing.M) {
	play := map[string]func([]string) error{"broker": playBroker, "uploader": playUploader}[os.Getenv(role)]
	if play == nil {
		os.Exit(m.Run())
	}
	go func() { // whoever started it is gone
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(1)
	}()
	if err := play(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playBroker is a broker with its port and its directory, which it says when it is ready.
func playBroker(args []string) error {
	port, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s, err := natstest.New(&server.Options{Port: port, JetStream: true, StoreDir: args[1]})
	if err != nil {
		return err
	}
	s.Start()
	if err := natstest.Ready(s); err != nil {
		return err
	}
	fmt.Println(s.ClientURL())
	select {}
}

// playUploader sends a run of the records below a home to a broker.
func playUploader(args []string) error {
	url, home, run := args[0], args[1], args[2]
	text, err := os.ReadFile(filepath.Join(home, "identity"))
	if err != nil {
		return err
	}
	id, err := wire.ParseIdentity(text)
	if err != nil {
		return err
	}
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	l, err := New(Config{Conn: conn, Self: id, Home: home, Knows: func(string) bool { return true }})
	if err != nil {
		return err
	}
	return l.Send(context.Background(), &files.Store{Dir: filepath.Join(home, "runs")}, run)
}

// other is a process that plays a role.
type other struct {
	cmd  *exec.Cmd
	said *bufio.Scanner
	kill func() error // as nothing can be caught; gives how it ended
}

func playing(t *testing.T, as string, args ...string) other {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), role+"="+as), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := other{cmd: cmd, said: bufio.NewScanner(out)}
	o.kill = func() error {
		_ = cmd.Process.Kill()
		err := cmd.Wait()
		_ = in.Close()
		return err
	}
	t.Cleanup(func() { _ = o.kill() })
	return o
}

// whole holds that a run is at the broker as it was sent.
func (p *person) whole(t *testing.T, run string, parts int) {
	t.Helper()
	if lines, err := p.read(t, run, record.Opening{}); err != nil || len(lines) != 2+4*parts {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	all, err := p.Audit(t.Context(), run, record.Filter{})
	if err != nil || len(all) != 1 || len(all[0].Trouble) > 0 || all[0].Parts != parts {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestBrokerKilledMidwayLosesNothing that it has acknowledged, and what it has not is sent again.
func TestBrokerKilledMidwayLosesNothing(t *testing.T) {
	const parts = 40
	dir := t.TempDir()
	broker := playing(t, "broker", "-1", dir)
	broker.said.Scan()
	r := &rig{t: t, url: broker.said.Text()}
	port := r.url[strings.LastIndexByte(r.url, ':')+1:]
	r.conn = r.connect()
	if err := Ensure(t.Context(), streams.Manager{Conn: r.conn}); err != nil {
		t.Fatal(err)
	}
	anna := r.person()
	s := newShelf()
	s.parts("r1", parts)
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	sent := make(chan error, 1)
	go func() { sent <- anna.Send(t.Context(), s, "r1") }()
	for range 2 {
		r.await(fmt.Sprint(1+chance.IntN(parts/2)), "r1", anna)
		time.Sleep(time.Duration(chance.IntN(3000)) * time.Microsecond) // somewhere within a message
		_ = broker.kill()
		broker = playing(t, "broker", port, dir)
		broker.said.Scan()
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	anna.whole(t, "r1", parts)
}

// await waits until a message of a run is at the broker.
func (r *rig) await(part, run string, p *person) {
	r.t.Helper()
	js, err := jetstream.New(r.conn)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for {
		look, stop := context.WithTimeout(ctx, 2*time.Second)
		stream, err := js.Stream(look, StreamName)
		if err == nil {
			_, err = stream.GetLastMsgForSubject(look, wire.Record(p.id.ID(), run, part))
		}
		stop()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			r.t.Fatalf("part %s of run %s is not at the broker: %v", part, run, err)
		}
	}
}

// TestUploaderKilledMidwayIsFollowedByAnother, which sends nothing twice and leaves nothing out.
func TestUploaderKilledMidwayIsFollowedByAnother(t *testing.T) {
	const parts = 40
	r := newRig(t)
	anna := r.person()
	anna.store(t, "r1", parts)
	if err := Note(anna.home, "r1"); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	for at := 1; at < parts; at += 1 + chance.IntN(parts/2) {
		up := playing(t, "uploader", r.url, anna.home, "r1")
		r.await(strconv.Itoa(at), "r1", anna)
		_ = up.kill()
	}
	last := playing(t, "uploader", r.url, anna.home, "r1")
	if err := last.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	anna.whole(t, "r1", parts)
	if left, err := Unsent(anna.home); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// store puts a record of so many parts into files below the home of a person, with his identity beside them.
func (p *person) store(t *testing.T, run string, parts int) {
	t.Helper()
	s := newShelf()
	s.parts(run, parts)
	w := s.runs[run]
	sink := (&files.Store{Dir: filepath.Join(p.home, "runs")}).Sink()
	err := sink.Begin(w.head, w.headData)
	for _, part := range w.parts {
		if err == nil {
			err = sink.Part(part)
		}
	}
	if err == nil {
		err = sink.End(*w.foot, w.footData)
	}
	if err == nil {
		err = sink.Close()
	}
	var text []byte
	if err == nil {
		text, err = p.id.Text()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.home, "identity"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFiftyRunsAreSentAtOnce, each by a process of its own as far as the ledger can tell.
func TestFiftyRunsAreSentAtOnce(t *testing.T) {
	const many = 50
	r := newRig(t)
	anna := r.person()
	errs := make(chan error, many)
	for i := range many {
		run := fmt.Sprint("r", i)
		s := newShelf()
		s.parts(run, 3)
		if err := Note(anna.home, run); err != nil {
			t.Fatal(err)
		}
		p := r.as(anna)
		go func() { errs <- p.Send(t.Context(), s, run) }()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	all, err := anna.Audit(t.Context(), "", record.Filter{})
	if err != nil || len(all) != many {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for _, v := range all {
		if len(v.Trouble) > 0 || v.Parts != 3 {
			t.Errorf("%+v", v)
		}
	}
}
