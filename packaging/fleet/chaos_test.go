//go:build fleet && chaos

package fleet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// chaosLanes is how many plays run at once, each on hosts of its own; brokers break for all of them.
const chaosLanes = 3

// longestPlay is when a play counts as one that hangs: the worst that a fault may cost, several times over.
const longestPlay = 4 * time.Minute

// chaos is a run of plays with random faults. `make chaos` starts it.
type chaos struct {
	t    *testing.T
	seed uint64
	ends time.Time

	broker sync.Mutex // held while it is away

	mu    sync.Mutex
	count int     // of plays; guarded by mu
	tally tallies // guarded by mu
}

// TestChaos plays for HARK_CHAOS (1m), with random faults from HARK_CHAOS_SEED, which it prints, and counts on the
// hosts what the controller reported.
func TestChaos(t *testing.T) {
	length, err := time.ParseDuration(orElse(os.Getenv("HARK_CHAOS"), "1m"))
	if err != nil {
		t.Fatalf("HARK_CHAOS is a time such as 10m: %v", err)
	}
	seed, err := strconv.ParseUint(orElse(os.Getenv("HARK_CHAOS_SEED"), strconv.FormatInt(time.Now().UnixNano(), 10)), 10, 64)
	if err != nil {
		t.Fatalf("HARK_CHAOS_SEED is a number: %v", err)
	}
	hosts := fleetOf(t, size)
	c := &chaos{t: t, seed: seed, ends: time.Now().Add(length), tally: tallies{}}
	t.Logf("HARK_CHAOS=%s HARK_CHAOS_SEED=%d", length, seed)
	var lanes sync.WaitGroup
	for i := range chaosLanes {
		l := &lane{chaos: c, random: rand.New(rand.NewPCG(seed, uint64(i))), hosts: hosts[3*i : 3*i+3]}
		if i == chaosLanes-1 {
			l.small = hosts[3*i+2]
			l.small.smallDisk(t)
		}
		lanes.Go(l.run)
	}
	lanes.Wait()
	t.Logf("seed %d, %d plays\n%s", seed, c.count, c.tally)
	if bad := c.tally.bad(); bad > 0 {
		t.Errorf("%d things are not as they were told; again: HARK_CHAOS_SEED=%d", bad, seed)
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// smallDisk gives a host a state directory that is soon full.
func (m machine) smallDisk(t *testing.T) {
	t.Helper()
	m.sh(t, `systemctl stop hark-agent && cp -a /var/lib/hark /root/state && mount -t tmpfs -o size=4m,mode=700 tmpfs /var/lib/hark &&
		cp -a /root/state/. /var/lib/hark/ && systemctl start hark-agent`)
	t.Cleanup(func() {
		m.sh(t, "systemctl stop hark-agent; umount /var/lib/hark; rm -rf /root/state; systemctl start hark-agent")
	})
	present(t, m)
}

// lane is one play after the other on some hosts.
type lane struct {
	*chaos
	random *rand.Rand
	hosts  []machine
	small  machine // the host whose disk may be full, "" if there is none
}

func (l *lane) run() {
	var before *disturbed
	for time.Now().Before(l.ends) {
		p := l.play()
		if before != nil {
			l.judge(before) // whatever it may still have done it has done by now
		}
		before = p
		l.settle()
	}
	if before != nil {
		l.judge(before)
	}
}

// settle waits until the agents are back.
func (l *lane) settle() {
	l.broker.Lock()
	defer l.broker.Unlock()
	present(l.t, l.hosts...)
}

// play runs a play with some faults and waits until all is mended.
func (l *lane) play() *disturbed {
	l.mu.Lock()
	l.count++
	n := l.count
	l.mu.Unlock()
	p := &disturbed{n: n, seed: l.seed, began: time.Now(), hosts: l.hosts, free: l.random.IntN(2) == 0, tasks: 10 + l.random.IntN(40), lost: map[machine]time.Time{}}
	dir := project(l.t, l.hosts, map[string]string{"site.yml": p.playbook()})
	p.process = site.control.start(l.t, dir, "play", "-i", "inventory", "site.yml")
	var faults sync.WaitGroup
	for range l.random.IntN(4) {
		f := l.fault(p)
		p.faults = append(p.faults, f.name)
		after := time.Duration(l.random.Int64N(int64(4 * time.Second)))
		faults.Go(func() {
			time.Sleep(after)
			f.happen()
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.got = p.process.wait(l.t)
	}()
	for limit := time.Now().Add(longestPlay); ; {
		select {
		case <-ended:
			p.watch()
			faults.Wait()
			return p
		case <-time.After(50 * time.Millisecond):
			p.watch()
		}
		if time.Now().After(limit) && !p.hung {
			p.hung = true
			_ = p.process.cmd.Process.Kill()
		}
	}
}

// fault is something that happens in the middle of a play, and is mended when happen returns.
type fault struct {
	name   string
	happen func()
}

// fault draws one. All that is random is drawn here, so that the seed decides it.
func (l *lane) fault(p *disturbed) fault {
	m := l.hosts[l.random.IntN(len(l.hosts))]
	away := time.Duration(l.random.Int64N(int64(20 * time.Second)))
	short := away / 2
	on := func(script string) { _, _ = m.try(nil, script) }
	verb := func(verb string) { _ = tool(verb, string(m)).Run() }
	all := []fault{
		{"agent killed", func() { on("pkill -KILL -x hark-agent") }},
		{"agent restarted", func() { on("systemctl restart hark-agent") }},
		{"log lost", func() {
			on(`pkill -KILL -x hark-agent; cd /var/lib/hark/sessions && for f in *.log; do head -n 3 "$f" >/root/log && cat /root/log >"$f"; done`)
		}},
		{"agent stopped", func() { on("pkill -STOP -x hark-agent"); time.Sleep(away); on("pkill -CONT -x hark-agent") }},
		{"line cut", func() { verb("cut"); time.Sleep(away); verb("heal") }},
		{"broker killed", func() { l.withoutBroker(short, true) }},
		{"broker stopped", func() { l.withoutBroker(short, false) }},
		{"controller stopped", func() {
			_ = p.process.cmd.Process.Signal(stop)
			time.Sleep(short)
			_ = p.process.cmd.Process.Signal(resume)
		}},
		{"controller killed", func() { p.kill() }},
	}
	if m != l.small { // its disk is in memory
		all = append(all, fault{"power cut", func() { verb("kill"); verb("boot") }})
	}
	if l.small != "" {
		all = append(all, fault{"disk full", func() {
			_, _ = l.small.try(nil, "cat /dev/zero >/var/lib/hark/ballast")
			time.Sleep(short)
			_, _ = l.small.try(nil, "rm -f /var/lib/hark/ballast")
		}})
	}
	return all[l.random.IntN(len(all))]
}

// withoutBroker takes the broker away for a while.
func (c *chaos) withoutBroker(d time.Duration, kill bool) {
	c.broker.Lock()
	defer c.broker.Unlock()
	if !kill {
		_ = site.control.broker.Process.Signal(stop)
		time.Sleep(d)
		_ = site.control.broker.Process.Signal(resume)
		return
	}
	_ = site.control.broker.Process.Kill()
	_ = site.control.broker.Wait()
	time.Sleep(d)
	if err := site.control.startBroker(); err != nil {
		c.t.Error(err)
	}
}

// tallies are what came of plays, by fault; a play with several counts for each.
type tallies map[string]*tally

type tally struct{ plays, hosts, doubles, lost, silent, late, lies, hangs int }

func (t tallies) bad() (n int) {
	for _, one := range t {
		n += one.doubles + one.lost + one.silent + one.late + one.lies + one.hangs
	}
	return n
}

func (t tallies) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %6s %12s %8s %5s %7s %5s %5s %6s\n", "fault", "plays", "unreachable", "doubles", "lost", "silent", "late", "lies", "hangs")
	for _, name := range sortedKeys(t) {
		o := t[name]
		fmt.Fprintf(&b, "%-20s %6d %12d %8d %5d %7d %5d %5d %6d\n", name, o.plays, o.hosts, o.doubles, o.lost, o.silent, o.late, o.lies, o.hangs)
	}
	return b.String()
}
