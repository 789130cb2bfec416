package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"hark/agent/internal/call"
	"hark/agent/internal/login"
	"hark/agent/internal/peer"
	"hark/modules"
)

// The job's process talks to its agent on these descriptors, not on the standard ones, where a broken pipe would kill
// it. It holds the lock of its directory as long as it lives.
const (
	fromAgent = 3
	toAgent   = 4
	lockHeld  = 5
)

// launch starts the job's process and hands it the call, with the files that are only in memory.
func (s *Supervisor) launch(j *job, inv call.Invocation, files map[string][]byte, held *os.File) error {
	if err := possible(); err != nil {
		return err
	}
	inv.Env.Environ = append(inv.Env.Environ[:len(inv.Env.Environ):len(inv.Env.Environ)], marker(j.rec.ID))
	wired := inv.Wire()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		ourOut.Close()
		return err
	}
	defer theirOut.Close()
	cmd := exec.Command(s.argv[0], append(s.argv[1:len(s.argv):len(s.argv)], j.dir)...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut, held}
	cmd.Env, cmd.Dir = inv.Env.Environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	limits, err := login.OfService()
	if err == nil {
		err = modules.StartLimited(cmd, limits)
	}
	if err != nil {
		return errors.Join(err, ourIn.Close(), ourOut.Close())
	}
	j.mu.Lock()
	j.rec.State, j.rec.Pid, j.rec.Ticks = Running, cmd.Process.Pid, ticksOf(cmd.Process.Pid)
	j.rec.Group = s.groups.enter(j.rec.ID, cmd.Process.Pid)
	err = j.rec.write(j.dir) // its process reads it when it gets the call
	j.mu.Unlock()
	conn := peer.New(ourIn, ourOut)
	var result func() (json.RawMessage, error)
	if err == nil {
		// The call is in the pipe when this returns: it will be done even if this process ends at once.
		handed := peer.JobOf(wired, inv.Env)
		handed.Files = files
		result, err = conn.Begin(context.Background(), handed, inv.Env)
	}
	if err != nil {
		_ = cmd.Process.Kill()
	}
	go func() { // as long as the job lives: it may outlive this process
		guard := j.guard()
		defer guard.Stop()
		if result != nil && conn.Greet() == nil {
			go func() { _ = conn.Listen() }() // ends when the pipe does
		}
		if result != nil {
			if raw, err := result(); err == nil { // else the state says what became of it
				j.mu.Lock()
				if j.rec.NoLog {
					j.result = raw
				}
				j.mu.Unlock()
			}
		}
		ourOut.Close()
		_ = cmd.Wait() // what it left says how it ended
		ourIn.Close()
		j.reap()
	}()
	return err
}
