package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

// Conn is the calling side of a connection.
type Conn struct {
	r     *bufio.Reader
	left  *io.LimitedReader // what the other side may still say: in all before the banner, in one frame after it
	frame int64             // how much that is in a frame
	in    *json.Decoder     // after Greet
	asked chan struct{}     // a slot for each question that is being answered

	send sync.Mutex // held while a frame is written
	out  *json.Encoder

	mu    sync.Mutex
	calls map[uint64]*exchange // guarded by mu
	last  uint64               // guarded by mu
	err   error                // why the connection is over; guarded by mu
}

// exchange is one call on its way.
type exchange struct {
	id     uint64
	env    *modules.Env
	ctx    context.Context
	result chan json.RawMessage // has room for one
	gone   chan struct{}        // closed when the connection is over

	mu      sync.Mutex
	streams map[uint64]stream // nil when the call is over; guarded by mu
	opened  uint64            // guarded by mu
}

// stream is an open blob or a running upload.
type stream struct {
	r    io.ReadCloser
	w    *io.PipeWriter
	done chan error
}

// Dial waits for the banner of the serving side. It returns what the other side said before the banner if it never
// came.
func Dial(r io.Reader, w io.Writer) (*Conn, error) {
	c := New(r, w)
	return c, c.Greet()
}

// New makes a connection to a serving side that may not be there yet: what is sent waits for it. Greet it before
// Listen.
func New(r io.Reader, w io.Writer) *Conn {
	left := &io.LimitedReader{R: r, N: largestGreeting}
	return &Conn{r: bufio.NewReaderSize(left, 64<<10), left: left, frame: largestFrame,
		asked: make(chan struct{}, mostAsked),
		out:   json.NewEncoder(w), calls: map[uint64]*exchange{}}
}

// The other process belongs to a user who may have taken it over: it must not exhaust this one.
const (
	// largestGreeting is what may come before the banner, in bytes.
	largestGreeting = 1 << 20
	// largestFrame is in bytes: the largest result that can be sent, escaped.
	largestFrame = 4 * wire.MaxMessage
	// largeResult is what is worth a new buffer, in bytes.
	largeResult = 1 << 20
	// mostAsked is how many questions are answered at a time; those beyond it wait.
	mostAsked = 64
)

// Greet waits for the banner. If it never comes the connection is over, and the error is what came instead.
func (c *Conn) Greet() error {
	var before strings.Builder
	for {
		line, err := c.r.ReadString('\n')
		if strings.TrimRight(line, "\r\n") == Banner {
			c.in = json.NewDecoder(c.r)
			return nil
		}
		if before.Len() < 4<<10 {
			before.WriteString(line)
		}
		if err != nil {
			err = fmt.Errorf("%s", strings.TrimSpace(before.String()))
			c.end(err)
			return err
		}
	}
}

// Listen reads frames until the connection ends and returns why. The owner of the Conn runs it.
func (c *Conn) Listen() error {
	for {
		var f frame
		c.left.N = c.frame
		if err := c.in.Decode(&f); err != nil {
			c.end(err)
			return err
		}
		if len(f.Result) > largeResult { // its buffer would stay as large
			c.in = json.NewDecoder(io.MultiReader(c.in.Buffered(), c.r))
		}
		c.mu.Lock()
		to := c.calls[f.Call]
		if f.Kind == kindDone {
			delete(c.calls, f.Call) // a second result would find nobody who takes it
		}
		c.mu.Unlock()
		if to == nil {
			continue
		}
		switch f.Kind {
		case kindDone:
			to.result <- f.Result
			continue
		case kindOutput:
			if to.env.Live != nil {
				to.env.Live(f.Name == stderrName, f.Data)
			}
			continue
		}
		c.asked <- struct{}{}
		go func() {
			_ = c.write(to.answer(f)) // a broken pipe ends Listen too
			<-c.asked
		}()
	}
}

// Over reports whether the connection is over: no call that is made now will be done.
func (c *Conn) Over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	for _, one := range c.calls {
		close(one.gone)
	}
	c.calls = map[uint64]*exchange{}
}

func (c *Conn) write(f frame) error {
	c.send.Lock()
	defer c.send.Unlock()
	return c.out.Encode(f)
}

// Run runs a call on the other side. ErrGone means that the other process went away.
func (c *Conn) Run(ctx context.Context, inv call.Invocation) (modules.Result, error) {
	job := JobOf(inv.Wire(), inv.Env)
	raw, err := c.Do(ctx, job, inv.Env)
	if err != nil {
		return modules.Result{}, err
	}
	return decodeResult(raw)
}

// JobOf returns a call for another process; env is what it has in this one.
func JobOf(c wire.Call, env *modules.Env) *Job {
	return &Job{Call: c, Environ: wire.EscapedAll(env.Environ), Name: env.Name, Host: env.Host, Task: env.Task,
		Live:   env.Live != nil,
		Bounds: env.Bounds}
}

// Do runs a job on the other side; env serves what the module asks for. The result is the module's JSON.
func (c *Conn) Do(ctx context.Context, job *Job, env *modules.Env) (json.RawMessage, error) {
	result, err := c.Begin(ctx, job, env)
	if err != nil {
		return nil, err
	}
	return result()
}

// Begin sends a job to the other side; result waits for what comes of it, and must be called.
func (c *Conn) Begin(ctx context.Context, job *Job,
	env *modules.Env) (result func() (json.RawMessage, error), err error) {
	one := &exchange{env: env, ctx: ctx, result: make(chan json.RawMessage, 1), gone: make(chan struct{}),
		streams: map[uint64]stream{}}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return nil, ErrGone
	}
	c.last++
	one.id = c.last
	c.calls[one.id] = one
	c.mu.Unlock()
	if err := c.write(frame{Call: one.id, Kind: kindRun, Job: job}); err != nil {
		c.end(err)
		c.forget(one)
		return nil, ErrGone
	}
	return func() (json.RawMessage, error) {
		defer c.forget(one)
		return c.await(one)
	}, nil
}

// await waits for the result of a call. When its context is over first the call is cancelled.
func (c *Conn) await(one *exchange) (json.RawMessage, error) {
	select {
	case raw := <-one.result:
		return raw, nil
	case <-one.gone:
		return nil, ErrGone
	case <-one.ctx.Done():
	}
	// The module ends its processes; its result no longer matters, but it must be gone when we return.
	if c.write(frame{Call: one.id, Kind: kindCancel}) != nil {
		return nil, ErrGone
	}
	select {
	case raw := <-one.result:
		return raw, nil
	case <-one.gone:
		return nil, ErrGone
	}
}

func (c *Conn) forget(one *exchange) {
	c.mu.Lock()
	delete(c.calls, one.id)
	c.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, s := range one.streams {
		s.abort()
	}
	one.streams = nil
}

func (s stream) abort() {
	if s.r != nil {
		s.r.Close()
	}
	if s.w != nil {
		s.w.CloseWithError(ErrGone)
	}
}

// answer does what the module asks.
func (one *exchange) answer(f frame) frame {
	out := frame{Call: f.Call, Kind: kindAnswer, Ask: f.Ask}
	var err error
	switch f.Kind {
	case askOpen:
		out.Handle, err = one.open(f.Name)
	case askExpect:
		if one.env.Expect != nil {
			one.env.Expect(one.ctx, f.Names)
		}
	case askRead:
		out.Data, out.EOF, err = one.read(f.Handle)
	case askClose:
		if s, ok := one.take(f.Handle); ok {
			s.abort()
		}
	case askPut:
		out.Handle, err = one.put(wire.Unescaped(f.Name), f.Mode)
	case askWrite:
		if s, ok := one.stream(f.Handle); ok && s.w != nil {
			_, err = s.w.Write(f.Data)
		}
	case askFinish:
		if s, ok := one.take(f.Handle); ok && s.w != nil {
			s.w.Close()
			err = <-s.done
		}
	case askSum:
		out.Name, err = one.env.RemoteSum(one.ctx, wire.Unescaped(f.Name))
	case askWarn:
		one.env.Warn("%s", f.Name)
	}
	if err != nil {
		out.Err = err.Error()
	}
	return out
}

func (one *exchange) keep(s stream) uint64 {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.opened++
	if one.streams == nil { // the call ended while this was being opened
		s.abort()
		return one.opened
	}
	one.streams[one.opened] = s
	return one.opened
}

func (one *exchange) stream(handle uint64) (stream, bool) {
	one.mu.Lock()
	defer one.mu.Unlock()
	s, ok := one.streams[handle]
	return s, ok
}

func (one *exchange) take(handle uint64) (stream, bool) {
	s, ok := one.stream(handle)
	one.mu.Lock()
	delete(one.streams, handle)
	one.mu.Unlock()
	return s, ok
}

func (one *exchange) open(digest string) (uint64, error) {
	r, err := one.env.Open(one.ctx, digest)
	if err != nil {
		return 0, err
	}
	return one.keep(stream{r: r}), nil
}

func (one *exchange) read(handle uint64) (data []byte, eof bool, err error) {
	s, ok := one.stream(handle)
	if !ok || s.r == nil {
		return nil, false, errors.New("internal error: no such stream")
	}
	buf := make([]byte, chunk)
	n, err := io.ReadFull(s.r, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return buf[:n], true, nil
	}
	return buf[:n], false, err
}

func (one *exchange) put(dest string, mode uint32) (uint64, error) {
	r, w := io.Pipe()
	s := stream{w: w, done: make(chan error, 1)}
	go func() {
		err := one.env.Upload(one.ctx, dest, mode, r)
		r.CloseWithError(io.ErrClosedPipe)
		s.done <- err
	}()
	return one.keep(s), nil
}

// decodeResult reads a result as the other side's JSON wrote it.
func decodeResult(raw json.RawMessage) (modules.Result, error) {
	v, err := value.ParseJSON(strings.ToValidUTF8(string(raw), "\ufffd"), value.KindUnsafe)
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return modules.Result{}, fmt.Errorf("internal error: the result of a module cannot be read: %v", err)
	}
	res := modules.Result{Plain: true, Data: d, Msg: d.Text("msg"), Raised: true}
	for name, field := range map[string]*bool{"changed": &res.Changed, "failed": &res.Failed, "skipped": &res.Skipped} {
		v, _ := d.Get(name)
		b, told := v.(value.Bool)
		*field = bool(b)
		res.Raised = res.Raised && !(told && name == "changed")
	}
	return res, nil
}
