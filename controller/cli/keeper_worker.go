package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/wire"
	"hark/controller/config"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/keeper"
	"hark/controller/internal/fleet"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/ui/view"
)

// keeperWord makes this program a keeper's worker.
const keeperWord = "keeper-worker"

// drive is what a run has of the keeper that drives it.
type drive struct {
	run   string // its id
	duty  string
	watch view.View
	// clean tells, at the end of the run, that nothing came of it which a record should tell; recorded is set when
	// there is one.
	clean    func() bool
	recorded atomic.Bool
	nonce    func(host string, turn uint64) string
	// broker is the connection that all runs of a worker share.
	broker *fleet.Connection
	// absent is told why a host's agent did not take a plan.
	absent func(*link.AbsentError)
}

// connect has a run use the connection that is there already.
func (d *drive) connect(cfg *link.Config) {
	b := d.broker
	cfg.Dial, cfg.Broker, cfg.Operator, cfg.Roster, cfg.WhyAbsent, cfg.Nonce = nil, b.Transport, b.Operator, b.Roster,
		b.WhyAbsent(), d.nonce
}

// watchedLink explains why plans were not taken.
type watchedLink struct {
	link.Link
	absent func(*link.AbsentError)
}

func (l *watchedLink) Start(ctx context.Context, s wire.Start) error {
	err := l.Link.Start(ctx, s)
	var absent *link.AbsentError
	if errors.As(err, &absent) {
		l.absent(absent)
	}
	return err
}

// keeperWorker drives runs for a keeper in the directory of one commit, by the broker at url. Its flags are those
// that the keeper was given for its runs.
func keeperWorker(url string, flags []string, in io.Reader, out, errs io.Writer) error {
	s := System{Args: []string{"hark"}, In: strings.NewReader(""), Out: io.Discard, Err: errs, NoTTY: true,
		World: config.ThisWorld()}
	a, err := newApp(s)
	if err != nil {
		return err
	}
	w := &driving{url: url, flags: flags, world: s.World, fleet: a.fleet, errs: errs}
	defer w.close()
	return keeper.Work(in, out, w.carry)
}

// driving is a worker.
type driving struct {
	url   string
	flags []string
	world config.World
	fleet *fleet.Dialer

	errs io.Writer

	work    sync.WaitGroup
	sending atomic.Bool

	mu     sync.Mutex
	broker *fleet.Connection // guarded by mu
}

// connect returns the connection of all runs.
func (w *driving) connect(ctx context.Context) (*fleet.Connection, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broker == nil {
		b, err := w.fleet.DialPatiently(ctx, w.url)
		if err != nil {
			return nil, err
		}
		w.broker = b
	}
	return w.broker, nil
}

func (w *driving) close() {
	w.work.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broker != nil {
		_ = w.broker.Close()
	}
}

// carry drives one turn.
func (w *driving) carry(ctx context.Context, j keeper.Job) map[string]keeper.Outcome {
	all := map[string]keeper.Outcome{}
	b, err := w.connect(ctx)
	if err != nil {
		for _, h := range j.Hosts {
			all[h.Agent] = keeper.Outcome{Status: keeper.Busy, Why: err.Error()}
		}
		return all
	}
	var there []keeper.Host
	for _, h := range j.Hosts {
		if o, ok := w.look(ctx, b, j, h); ok {
			there = append(there, h)
		} else {
			all[h.Agent] = o
		}
	}
	if len(there) > 0 {
		w.play(ctx, b, j, there, all)
	}
	return all
}

// pingLimit is how long an agent may take to say that it is there.
const pingLimit = 5 * time.Second

// look reports whether a host's turn may begin, and if not, why.
func (w *driving) look(ctx context.Context, b *fleet.Connection, j keeper.Job, h keeper.Host) (keeper.Outcome, bool) {
	if h.Key == "" { // this machine, or one of which the run says what is the matter
		return keeper.Outcome{}, true
	}
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	pong, err := (&link.Pinger{Transport: b, Operator: b.Operator}).Ping(ctx, h.Key)
	if err != nil {
		return j.Look(wire.Hello{}, err)
	}
	return j.Look(pong.Hello, nil)
}

// play is exactly `hark play --limit HOST --diff [--check] PLAY`.
func (w *driving) play(ctx context.Context, b *fleet.Connection, j keeper.Job, hosts []keeper.Host,
	all map[string]keeper.Outcome) {
	account := keeper.NewTurnResult()
	var mu sync.Mutex
	replayed := map[string]bool{} // guarded by mu
	d := &drive{
		run: j.Run, duty: j.Duty, watch: account, clean: func() bool { return account.Clean(&j) }, nonce: j.Opening,
		broker: b,
		absent: func(e *link.AbsentError) {
			mu.Lock()
			defer mu.Unlock()
			replayed[e.Host] = replayed[e.Host] || e.Replayed
		},
	}
	limit := j.Limit
	if limit == "" {
		limit = hosts[0].Name
	}
	for _, h := range j.Hosts { // of a duty that is done together those that are held are left alone
		if _, out := all[h.Agent]; out {
			limit += ":!" + h.Name
		}
	}
	args := append([]string{"hark", "play", "--limit", limit, "--diff"}, w.flags...)
	args = append(args, j.Flags...)
	if j.Mode == duty.Check {
		args = append(args, "--check")
	}
	var said, failed bytes.Buffer
	code := Main(ctx, System{Args: append(args, j.Play), In: strings.NewReader(""), Out: &said, Err: &failed,
		NoTTY: true, World: w.world, drive: d})
	for _, h := range hosts {
		o := account.Of(h.Name)
		switch {
		case replayed[h.Name]:
			o = keeper.Outcome{Status: keeper.Twice}
		case o.Status == keeper.Done && o.Tasks == 0 && code != exitOK:
			o.Status, o.Why = keeper.Broke, lastError(failed.String()+said.String())
		case o.Status == keeper.Done && code == exitInterrupted:
			o.Status, o.Why = keeper.Lost, "the keeper was stopped while the host was at this turn"
		}
		if d.recorded.Load() {
			o.Run = j.Run
		}
		all[h.Agent] = o
	}
	if d.recorded.Load() {
		w.send(b)
	}
}

// sendEvery is how long a record may take to be at the broker. What is left goes with that of another turn.
const sendEvery = 30 * time.Second

// send has the broker keep the records that it does not have, beside everything else.
func (w *driving) send(b *fleet.Connection) {
	if !w.sending.CompareAndSwap(false, true) {
		return
	}
	w.work.Go(func() {
		defer w.sending.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), sendEvery)
		defer cancel()
		l, err := b.Ledger(w.fleet.Home)
		if err == nil {
			_, err = l.SendAll(ctx, &files.Store{Dir: filepath.Join(w.fleet.Home, "runs")})
		}
		if err != nil {
			fmt.Fprintf(w.errs, "hark: the records of turns are not at the broker yet: %v\n", err)
		}
	})
}

// lastError returns what a run that came to nothing said of it.
func lastError(text string) string {
	if i := strings.LastIndex(text, "ERROR! "); i >= 0 {
		text = text[i+len("ERROR! "):]
	}
	const most = 500
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " ..."
	}
	if text == "" {
		text = "the run could not be carried out"
	}
	return text
}

// workerCommand returns how a keeper starts its workers.
func workerCommand(url string, flags []string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this binary: %w", err)
	}
	return append([]string{self, keeperWord, url}, flags...), nil
}
