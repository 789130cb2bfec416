package jobs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules"
)

// The model of a job: the states in which it may end, by what happened to it.
type modelJob struct {
	id      string
	allowed map[State]bool
	seen    State // the terminal state in which it was seen first, "" if in none
}

// script is what a job of the model does, and how it ends if it is let alone.
type script struct {
	cmd string
	end State
}

func scripts() []script {
	return []script{
		{"true", Finished},
		{"exit 3", Failed},
		{"sleep 0.05", Finished},
		{"sleep 60", TimedOut},
		{"trap '' TERM; sleep 60; sleep 60", TimedOut},
		{"(setsid sleep 60 &); sleep 60", TimedOut},
		{"setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' & sleep 60", TimedOut},
		{"sleep 60 & sleep 60 & (sleep 60; sleep 60)", TimedOut},
	}
}

// model drives a directory of jobs through random events, as agents, users and the world cause them.
type model struct {
	t    *testing.T
	r    *rand.Rand
	dir  string
	s    *Supervisor
	jobs []*modelJob
}

func (m *model) start() {
	all := scripts()
	sc := all[m.r.IntN(len(all))]
	limit := time.Duration(100+m.r.IntN(900)) * time.Millisecond
	id := beginCall(m.t, m.s, map[string]any{"cmd": sc.cmd}, wire.Call{Module: shell.Name, Async: limit})
	// On a busy machine a job that ends by itself may come to its limit first.
	m.jobs = append(m.jobs, &modelJob{id: id, allowed: map[State]bool{sc.end: true, TimedOut: true}})
}

// some is a job, nil if there is none.
func (m *model) some() *modelJob {
	if len(m.jobs) == 0 {
		return nil
	}
	return m.jobs[m.r.IntN(len(m.jobs))]
}

func (m *model) signal(j *modelJob, sig syscall.Signal) {
	rec := m.s.job(j.id).record()
	if !rec.State.Terminal() && rec.Pid > 0 && ticksOf(rec.Pid) == rec.Ticks {
		_ = syscall.Kill(rec.Pid, sig) // it may have ended meanwhile
		j.allowed[Lost] = true
	}
}

// step does one random thing.
func (m *model) step() {
	j := m.some()
	switch n := m.r.IntN(10); {
	case j == nil || n < 3:
		m.start()
	case n == 3: // the agent is restarted or killed: nothing of it is left but the directory
		m.open()
	case n == 4:
		m.s.job(j.id).cancel()
		j.allowed[Cancelled] = true
	case n == 5:
		m.signal(j, syscall.SIGKILL)
	case n == 6:
		m.signal(j, syscall.SIGTERM)
	case n == 7: // somebody sets the clock
		m.stepClock(j)
	case n == 8: // a task waits, and gives up
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		_, _ = m.s.Wait(ctx, "", j.id)
		cancel()
		j.allowed[Cancelled] = true
	default:
		time.Sleep(time.Duration(m.r.IntN(50)) * time.Millisecond) // time passes: the one event that has no other form
	}
}

func (m *model) open() {
	m.s = newSupervisor(m.t, m.dir)
}

// stepClock makes the job look as if the clock had been set: its times of day are off.
func (m *model) stepClock(j *modelJob) {
	job := m.s.job(j.id)
	off := time.Duration(m.r.IntN(48)-24) * time.Hour
	job.mu.Lock()
	defer job.mu.Unlock()
	job.rec.Began = job.rec.Began.Add(off)
}

// check looks at every job: what is terminal stays as it is.
func (m *model) check() {
	for _, j := range m.jobs {
		now := m.s.job(j.id).record().State
		if j.seen != "" && now != j.seen {
			m.t.Errorf("job %s was %s and is %s", j.id, j.seen, now)
		}
		if now.Terminal() {
			j.seen = now
		}
	}
}

// finish waits for all jobs and checks their ends.
func (m *model) finish() {
	limit := time.After(60 * time.Second)
	for _, j := range m.jobs {
		select {
		case <-m.s.Over(j.id):
		case <-limit:
			m.t.Fatalf("job %s does not end: %+v", j.id, m.s.job(j.id).record())
		}
	}
	m.check()
	for _, j := range m.jobs {
		rec := m.s.job(j.id).record()
		if !rec.State.Terminal() || !j.allowed[rec.State] {
			m.t.Errorf("job %s ended as %s, allowed are %v", j.id, rec.State, j.allowed)
		}
		if left := marked(j.id); len(left) > 0 {
			m.t.Errorf("of job %s (%s) live %v", j.id, rec.State, left)
		}
		if disk, err := readRecord(filepath.Join(m.dir, j.id)); err != nil || disk.State != rec.State {
			m.t.Errorf("job %s is %s, on the disk %s (%v)", j.id, rec.State, disk.State, err)
		}
		out, err := m.s.Status(context.Background(), modules.JobQuery{ID: j.id})
		if err != nil || !out.True("finished") {
			m.t.Errorf("job %s: async_status says %v (%v)", j.id, out, err)
		}
	}
	m.open() // the next agent sees the same
	m.check()
}

// TestEveryJobEndsInOneState drives jobs through random events: start, exit, limit, cancel, restart of the agent, a
// killed process, clock steps. Each ends in exactly one state, one that what happened allows, and nothing of it is
// left.
func TestEveryJobEndsInOneState(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := &model{t: t, r: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir()}
			m.open()
			for range 40 {
				m.step()
				m.check()
			}
			m.finish()
		})
	}
}
