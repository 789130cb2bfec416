package peer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
)

// Server is the side on which modules run.
type Server struct {
	Modules *modules.Registry
	// Call runs a module; nil runs it in this process.
	Call call.Caller
	// Dir is where modules begin whose call names no directory, where Call is nil; "" is the directory of this process.
	Dir string
	// Done, if set, is told the result of each call before the caller is, and may replace it.
	Done func(job *Job, result json.RawMessage) json.RawMessage

	send sync.Mutex // held while a frame is written
	out  *json.Encoder

	mu      sync.Mutex
	waiting map[uint64]chan frame         // asks by number; guarded by mu
	cancel  map[uint64]context.CancelFunc // running calls; guarded by mu
	asked   uint64                        // guarded by mu
}

// Serve writes the banner and serves calls until r ends, then waits for the calls that run. When the caller is gone,
// modules go on; what they ask fails.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	s.out, s.waiting, s.cancel = json.NewEncoder(w), map[uint64]chan frame{}, map[uint64]context.CancelFunc{}
	_, _ = fmt.Fprintln(w, Banner) // a caller that is gone may have left a call all the same
	var running sync.WaitGroup
	defer running.Wait()
	defer s.hangUp()
	in, err := framesOf(r)
	if err != nil {
		return nil // the caller went away before it said anything
	}
	for {
		var f frame
		if err := in.Decode(&f); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch f.Kind {
		case kindRun:
			callCtx, cancel := context.WithCancel(ctx)
			s.mu.Lock()
			s.cancel[f.Call] = cancel
			s.mu.Unlock()
			running.Go(func() {
				defer cancel()
				raw := s.run(callCtx, f.Call, f.Job)
				if s.Done != nil {
					raw = s.Done(f.Job, raw)
				}
				s.mu.Lock()
				delete(s.cancel, f.Call)
				s.mu.Unlock()
				_ = s.write(frame{Call: f.Call, Kind: kindDone, Result: raw}) // the caller may be gone
			})
		case kindCancel:
			s.mu.Lock()
			if cancel := s.cancel[f.Call]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
		case kindAnswer:
			s.mu.Lock()
			if to := s.waiting[f.Ask]; to != nil {
				to <- f
				delete(s.waiting, f.Ask)
			}
			s.mu.Unlock()
		}
	}
}

// framesOf skips what comes before the first frame: a password for a program that did not want one.
func framesOf(r io.Reader) (*json.Decoder, error) {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var f frame
		if json.Unmarshal(line, &f) == nil && f.Kind != "" {
			return json.NewDecoder(io.MultiReader(bytes.NewReader(line), br)), nil
		}
	}
}

// hangUp fails all asks: nobody will answer them.
func (s *Server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, to := range s.waiting {
		to <- frame{Err: "the agent is gone"}
		delete(s.waiting, id)
	}
	s.waiting = nil
}

func (s *Server) write(f frame) error {
	s.send.Lock()
	defer s.send.Unlock()
	return s.out.Encode(f)
}

// run runs one job and gives the module's result as JSON. id names the call on the connection.
func (s *Server) run(ctx context.Context, id uint64, job *Job) json.RawMessage {
	m, ok := s.Modules.Get(job.Call.Module)
	if !ok {
		return failed("internal error: this process has no module " + job.Call.Module)
	}
	args, err := call.ReadArgs(job.Call.Args)
	if err != nil {
		return failed("internal error: the arguments cannot be read: " + err.Error())
	}
	run := s.Call
	if run == nil {
		run = func(ctx context.Context, inv call.Invocation) modules.Result {
			if err := inv.Env.Bounds.Confine(); err != nil {
				return modules.Result{Failed: true, Msg: err.Error()}
			}
			inv.Call.Dir = cmp.Or(inv.Call.Dir, s.Dir)
			return inv.InProcess(ctx)
		}
	}
	env := s.env(id, job)
	raw, err := run(ctx, call.Invocation{Module: m, Call: job.Call, Args: args, Env: env}).JSON()
	if err != nil {
		return failed("internal error: the result of " + job.Name + " is not JSON: " + err.Error())
	}
	return raw
}

func failed(msg string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"failed": true, "changed": false, "msg": msg})
	return raw
}

func (s *Server) env(id uint64, job *Job) *modules.Env {
	var live func(bool, []byte)
	if job.Live {
		live = func(stderr bool, chunk []byte) { _ = s.write(output(id, stderr, chunk)) } // the caller may be gone
	}
	c, environ := job.Call, wire.UnescapedAll(job.Environ)
	return &modules.Env{
		Check: c.Check, Diff: c.Diff, NoLog: c.NoLog, Verbosity: c.Verbosity, Release: modules.Release(c.Level),
		Invocation: c.Invocation, User: c.User.User, Environ: environ,
		Name: job.Name, Host: job.Host, Task: job.Task, Interpreter: c.Interpreter,
		Exec: modules.LiveExec(environ, nil, live), Live: live,
		Bounds: job.Bounds,
		Open: func(ctx context.Context, digest string) (io.ReadCloser, error) {
			if content, ok := job.Files[digest]; ok {
				return io.NopCloser(bytes.NewReader(content)), nil
			}
			a, err := s.ask(ctx, frame{Call: id, Kind: askOpen, Name: digest})
			return &reader{s: s, ctx: ctx, call: id, handle: a.Handle}, err
		},
		Expect: func(ctx context.Context, digests []string) {
			_, _ = s.ask(ctx, frame{Call: id, Kind: askExpect, Names: digests}) // it is a hint
		},
		Upload: func(ctx context.Context, dest string, mode uint32, r io.Reader) error {
			return s.upload(ctx, id, dest, mode, r)
		},
		RemoteSum: func(ctx context.Context, dest string) (string, error) {
			a, err := s.ask(ctx, frame{Call: id, Kind: askSum, Name: wire.Escaped(dest)})
			return a.Name, err
		},
		Warn: func(format string, args ...any) {
			_, _ = s.ask(context.Background(), frame{Call: id, Kind: askWarn, Name: fmt.Sprintf(format, args...)})
		},
	}
}

// ask sends a question and waits for its answer.
func (s *Server) ask(ctx context.Context, f frame) (frame, error) {
	to := make(chan frame, 1)
	s.mu.Lock()
	if s.waiting == nil {
		s.mu.Unlock()
		return frame{}, errors.New("the agent is gone")
	}
	s.asked++
	f.Ask = s.asked
	s.waiting[f.Ask] = to
	s.mu.Unlock()
	if err := s.write(f); err != nil {
		return frame{}, err
	}
	select {
	case a := <-to:
		if a.Err != "" {
			return a, errors.New(a.Err)
		}
		return a, nil
	case <-ctx.Done():
		return frame{}, ctx.Err()
	}
}

func (s *Server) upload(ctx context.Context, id uint64, dest string, mode uint32, r io.Reader) error {
	a, err := s.ask(ctx, frame{Call: id, Kind: askPut, Name: wire.Escaped(dest), Mode: mode})
	if err != nil {
		return err
	}
	buf := make([]byte, chunk)
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if _, err := s.ask(ctx, frame{Call: id, Kind: askWrite, Handle: a.Handle, Data: buf[:n]}); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			_, err = s.ask(ctx, frame{Call: id, Kind: askFinish, Handle: a.Handle})
			return err
		}
		if err != nil {
			return err
		}
	}
}

// reader reads a blob that the caller has open.
type reader struct {
	s      *Server
	ctx    context.Context
	call   uint64
	handle uint64
	rest   []byte
	eof    bool
}

func (r *reader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.eof {
			return 0, io.EOF
		}
		a, err := r.s.ask(r.ctx, frame{Call: r.call, Kind: askRead, Handle: r.handle})
		if err != nil {
			return 0, err
		}
		r.rest, r.eof = a.Data, a.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *reader) Close() error {
	_, err := r.s.ask(r.ctx, frame{Call: r.call, Kind: askClose, Handle: r.handle})
	return err
}
