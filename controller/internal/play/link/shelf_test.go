package link

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/broker"
	"hark/controller/internal/fleet/streams"
	"hark/modules"
)

// library is a file of the controller with what was asked of it: pieces that were read for an answer are those of
// fill too.
type library struct {
	body []byte

	mu    sync.Mutex
	plain []asked // questions that the broker must not answer for; guarded by mu
}

// asked is one question.
type asked struct {
	host string
	n    int64
}

func newLibrary(pieces int) *library {
	b := make([]byte, pieces*wire.PieceSize+11)
	for i := range b {
		b[i] = byte(i * 37 >> 7)
	}
	return &library{body: b}
}

func (l *library) digest() string {
	sum := sha256.Sum256(l.body)
	return hex.EncodeToString(sum[:])
}

func (l *library) answer(_ context.Context, a wire.Ask) wire.Answer {
	if a.Kind != wire.AskBlob || a.Digest != l.digest() {
		return wire.Answer{Err: "not asked for that"}
	}
	if a.Host == "stranger" {
		return wire.Answer{Err: "the file was not named to it"}
	}
	l.mu.Lock()
	if !a.AtBroker {
		l.plain = append(l.plain, asked{a.Host, a.Offset / wire.PieceSize})
	}
	l.mu.Unlock()
	at := min(a.Offset, int64(len(l.body)))
	end := min(at+wire.PieceSize, int64(len(l.body)))
	return wire.Answer{Data: l.body[at:end], EOF: end == int64(len(l.body))}
}

// of are the pieces that a host had from the controller because the broker did not give them.
func (l *library) of(host string) []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []int64
	for _, q := range l.plain {
		if q.host == host {
			out = append(out, q.n)
		}
	}
	slices.Sort(out)
	return out
}

// pulls is a module that opens the blob whose digest is its text, and returns the digest of what it read.
func pulls() *modules.Registry {
	return modules.NewRegistry(modules.Define("test.t.pull", "Reads a file of the controller.", func(ctx context.Context, env *modules.Env, a echoArgs) (modules.Result, error) {
		r, err := env.Open(ctx, a.Text)
		if err != nil {
			return modules.Result{}, err
		}
		defer r.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, r); err != nil {
			return modules.Result{}, err
		}
		return modules.Result{Msg: hex.EncodeToString(sum.Sum(nil))}, nil
	}))
}

// pulled has hosts pull the file, and looks that all of them have it.
func (c *controller) pulled(l *library, hosts ...string) {
	c.t.Helper()
	c.begin(steps("0.0", false, "test.t.pull", l.digest()), hosts...)
	for host, msgs := range results(c.t, c.until(wire.Ended, len(hosts))) {
		if !slices.Equal(msgs, []string{l.digest()}) {
			c.t.Errorf("%s has %q", host, msgs)
		}
	}
}

// stored are the messages that the broker has of files, without those that say that a piece is gone.
func (b *testBroker) stored() map[string][]byte {
	b.t.Helper()
	out := map[string][]byte{}
	conn := b.operator(operator(b.t)).Conn()
	if _, err := streams.Each(b.t.Context(), conn, wire.FilesStream, wire.FilePiece("*", "*", "*"), 1, func(m streams.Message) {
		if len(m.Data) > 0 {
			out[m.Subject] = m.Data
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	return out
}

// TestAFileGoesToTheBrokerOnce: with the permissions of PROTOCOL.md section 7. The controller reads it for the broker
// and for who came first, whatever the number of hosts; afterwards the broker has nothing of it.
func TestAFileGoesToTheBrokerOnce(t *testing.T) {
	b, op, file := newGuarded(t), operator(t), newLibrary(20)
	hosts := []string{"web1", "web2", "web3", "web4", "web5"}
	for _, h := range hosts {
		b.agent(h, pulls(), op)
	}
	c := b.controller(op, "r1", file.answer)
	c.pulled(file, hosts...)
	if n := len(b.stored()); n != 21 {
		t.Errorf("the broker has %d pieces", n)
	}
	for subject, message := range b.stored() {
		if strings.Contains(string(message), string(file.body[1000:1100])) {
			t.Errorf("%s holds what is in the file", subject)
		}
	}
	if n := len(file.plain); n > 21 {
		t.Errorf("the controller was asked for %d pieces beside those at the broker", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	b.cleared()
}

// cleared waits until the broker has no piece of a file any more: it has heard of that when the run ends, and has it
// on its disk soon after.
func (b *testBroker) cleared() {
	b.t.Helper()
	left := 0
	for range 200 {
		if left = len(b.stored()); left == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Errorf("after the run the broker has %d pieces", left)
}

// withFiles is a broker that lets everybody in and has the streams.
func withFiles(t *testing.T) *testBroker {
	b := newBroker(t)
	if err := broker.EnsureStreams(t.Context(), streams.Manager{Conn: b.dial("setup2").Conn()}, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPiecesThatAreNotThereComeFromTheController: whatever the broker, or who has its keys, makes of them.
func TestPiecesThatAreNotThereComeFromTheController(t *testing.T) {
	b, op, file := withFiles(t), operator(t), newLibrary(20)
	for _, h := range []string{"web1", "web2", "web3"} {
		b.agent(h, pulls(), op)
	}
	first := b.controller(op, "r0", file.answer)
	first.pulled(file, "web1", "web2")
	var old map[string][]byte
	if old = b.stored(); len(old) != 21 {
		t.Fatalf("the broker has %d pieces", len(old))
	}
	oldPiece := func(n int64) []byte {
		for subject, message := range old {
			if strings.HasSuffix(subject, "."+strconv.FormatInt(n, 10)) {
				return message
			}
		}
		return nil
	}
	_ = first.Close()

	b.agent("web4", pulls(), op)
	b.agent("web5", pulls(), op)
	c := b.controller(op, "r1", file.answer)
	c.pulled(file, "web4", "web5")
	now := b.stored()
	evil := b.dial("evil")
	for subject, message := range now {
		n, err := strconv.ParseInt(subject[strings.LastIndexByte(subject, '.')+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		swapped := now[subject[:strings.LastIndexByte(subject, '.')+1]+"7"]
		for at, put := range map[int64][]byte{3: nil, 5: []byte("rubbish"), 9: swapped, 11: oldPiece(11), 13: message[:len(message)-9], 20: nil} {
			if at == n {
				if err := evil.Publish(subject, put); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	flush(t, evil)
	c.pulled(file, "web3")
	if got := file.of("web3"); !slices.Equal(got, []int64{3, 5, 9, 11, 13, 20}) {
		t.Errorf("it had %v of the controller", got)
	}
}

// TestWhoWasNotHandedAFileHasNoKeyOfIt: an agent that was not told of a file gets neither a piece nor where the
// pieces are.
func TestWhoWasNotHandedAFileHasNoKeyOfIt(t *testing.T) {
	b, op, file := withFiles(t), operator(t), newLibrary(4)
	for _, h := range []string{"web1", "web2", "stranger"} {
		b.agent(h, pulls(), op)
	}
	c := b.controller(op, "r1", file.answer)
	c.pulled(file, "web1", "web2")
	c.begin(steps("1.0", false, "test.t.pull", file.digest()), "stranger")
	if got := results(t, c.until(wire.Ended, 1))["stranger"]; len(got) != 1 || !strings.Contains(got[0], "was not named to it") {
		t.Errorf("it has %q", got)
	}
}

// TestABrokerThatIsFullIsToldOfOnce: the hosts have the file all the same.
func TestABrokerThatIsFullIsToldOfOnce(t *testing.T) {
	b, op, file := withFiles(t), operator(t), newLibrary(20)
	js, err := jetstream.New(b.dial("admin").Conn())
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), wire.FilesStream)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxBytes = 6 * wire.PieceSize
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	hosts := []string{"web1", "web2", "web3"}
	for _, h := range hosts {
		b.agent(h, pulls(), op)
	}
	c := b.controller(op, "r1", file.answer)
	var mu sync.Mutex
	var warned []string
	c.times.Silence, c.times.Gone = time.Minute, time.Minute // a busy machine is no news here
	c.cfg.Warn = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		warned = append(warned, text)
	}
	// What does not shrink fills the broker.
	for i := range file.body {
		file.body[i] = byte(sha256.Sum256([]byte(strconv.Itoa(i / 32)))[i%32])
	}
	c.pulled(file, hosts...)
	mu.Lock()
	defer mu.Unlock()
	if len(warned) != 1 || !strings.Contains(warned[0], "the broker does not take a file for its hosts: maximum bytes exceeded") {
		t.Errorf("the user reads %q", warned)
	}
}

// TestAFileComesThroughABrokerThatIsRestarted: in the middle.
func TestAFileComesThroughABrokerThatIsRestarted(t *testing.T) {
	b, op, file := withFiles(t), operator(t), newLibrary(40)
	for _, h := range []string{"web1", "web2"} {
		b.agent(h, pulls(), op)
	}
	half := make(chan struct{})
	once := sync.OnceFunc(func() { close(half) })
	c := b.controller(op, "r1", func(ctx context.Context, a wire.Ask) wire.Answer {
		if a.Offset > int64(len(file.body))/2 {
			once()
		}
		return file.answer(ctx, a)
	})
	c.times.Gone, c.times.Silence = time.Minute, time.Minute
	c.begin(steps("0.0", false, "test.t.pull", file.digest()), "web1", "web2")
	wait(t, half)
	b.stop()
	b.start()
	for host, msgs := range results(t, c.until(wire.Ended, 2)) {
		if !slices.Equal(msgs, []string{file.digest()}) {
			t.Errorf("%s has %q", host, msgs)
		}
	}
}
