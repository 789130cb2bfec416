package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"hark/modules"
)

// answers is how long a server may take to do what it is told; most of it goes into imports from slow disks.
const answers = 20 * time.Second

// server is one Python that forks.
//
//	ready ──> retired      told to end: it does when its last child has
//	   └────> gone         it has ended
type server struct {
	control *net.UnixConn
	pid     int

	mu      sync.Mutex
	orders  map[int]*order // not ended yet, by id; guarded by mu
	last    int            // id; guarded by mu
	retired bool           // or gone; guarded by mu
	idle    *time.Timer    // guarded by mu
	used    time.Time      // guarded by mu
}

// order is a child that was asked for. Each channel has room for the one word that comes.
type order struct{ started, ended chan word }

// word is what a server says.
type word struct {
	Ready  bool `json:"ready"`
	ID     int  `json:"id"`
	Pid    int  `json:"pid"`
	Stale  bool `json:"stale"`
	Status int  `json:"status"`
	gone   bool
}

var errGone = errors.New("the Python that was to tell of the module's end has ended itself")

// startServer starts a Python that has imported what all modules need, from the first pack that there is.
func startServer(w wanted, environ []string) (*server, error) {
	return newServer(w, func(control, pack *os.File) (int, error) {
		cmd := exec.Command(w.python[0], w.with("-")[1:]...)
		cmd.Stdin = strings.NewReader(warmProgram())
		cmd.ExtraFiles = []*os.File{control, pack}
		cmd.Env, cmd.Dir = environ, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		go func() { _ = cmd.Wait() }() // what comes of it is told by its socket
		return cmd.Process.Pid, nil
	})
}

// forkServer has a server forked that has imported what the module of a pack needs.
func (s *server) forkServer(w wanted) (*server, error) {
	pack, err := w.read()
	if err != nil {
		return nil, err
	}
	names, err := imported(pack, w.m)
	if err != nil {
		return nil, err
	}
	environ := map[string]string{}
	for _, pair := range w.environ {
		if name, val, ok := strings.Cut(pair, "="); ok {
			environ[name] = val
		}
	}
	return newServer(w, func(control, pack *os.File) (int, error) {
		forked, err := s.fork(map[string]any{"env": environ, "names": names, "entry": w.m.Entry}, control, pack)
		if err != nil {
			return 0, err
		}
		return forked.Pid, nil
	})
}

// newServer launches a server, which gets its end of a socket and a pack, and waits until it is ready.
func newServer(w wanted, launch func(control, pack *os.File) (pid int, err error)) (*server, error) {
	raw, err := w.read()
	if err != nil {
		return nil, err
	}
	pack, err := inMemory(raw)
	if err != nil {
		return nil, err
	}
	defer pack.Close()
	control, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	pid, err := launch(theirs, pack)
	theirs.Close() // now the end of the server is that of the socket
	if err != nil {
		control.Close()
		return nil, err
	}
	s := &server{control: control, pid: pid, orders: map[int]*order{}}
	_ = control.SetReadDeadline(time.Now().Add(answers))
	if said, err := s.read(); err != nil || !said.Ready {
		control.Close()
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return nil, errors.Join(errors.New("it did not become ready"), err)
	}
	_ = control.SetReadDeadline(time.Time{})
	s.used = time.Now()
	s.idle = time.AfterFunc(warmIdle, s.rest)
	go s.listen()
	return s, nil
}

// fork has a child forked, which gets the words and the files. If it fails with errCold there is none, or one that
// will never get its input.
func (s *server) fork(words map[string]any, files ...*os.File) (*modules.Forked, error) {
	o := &order{started: make(chan word, 1), ended: make(chan word, 1)}
	id, ok := s.enter(o)
	if !ok {
		return nil, errCold
	}
	words["id"] = id
	raw, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	if _, _, err := s.control.WriteMsgUnix(raw, syscall.UnixRights(fds...), nil); err != nil {
		s.leave(id)
		// it has ended; listen may not have heard of it yet, and the next try shall find another
		if !errors.Is(err, syscall.EMSGSIZE) {
			s.retire()
		}
		return nil, fmt.Errorf("%w: %w", errCold, err)
	}
	late := time.NewTimer(answers)
	defer late.Stop()
	select {
	case w := <-o.started:
		if w.Pid == 0 {
			return nil, errCold
		}
		return &modules.Forked{Pid: w.Pid, Wait: o.wait}, nil
	case <-late.C:
		// A child that it forks after all finds no arguments.
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
		s.retire()
		return nil, errCold
	}
}

func (o *order) wait() (syscall.WaitStatus, error) {
	w := <-o.ended
	if w.gone {
		return 0, errGone
	}
	return syscall.WaitStatus(w.Status), nil
}

// enter notes an order; false if the server takes none.
func (s *server) enter(o *order) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return 0, false
	}
	s.last++
	s.orders[s.last] = o
	s.used = time.Now()
	s.idle.Stop()
	return s.last, true
}

// leave forgets an order. The server is idle when it was the last.
func (s *server) leave(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.orders, id)
	if len(s.orders) == 0 {
		s.idle.Reset(warmIdle)
	}
}

// listen hands out what the server says, until it has ended.
func (s *server) listen() {
	defer s.control.Close()
	for {
		w, err := s.read()
		if err != nil {
			s.bury()
			return
		}
		s.mu.Lock()
		o := s.orders[w.ID]
		s.mu.Unlock()
		switch {
		case o == nil:
		case w.Pid != 0:
			o.started <- w
		case w.Stale:
			s.leave(w.ID)
			s.retire() // before it is told, so that the next try finds another
			o.started <- w
		default:
			o.ended <- w
			s.leave(w.ID)
		}
	}
}

// bury answers those who still wait for a word.
func (s *server) bury() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.idle.Stop()
	for _, o := range s.orders {
		select {
		case o.started <- word{gone: true}:
		default: // it has been told
		}
		o.ended <- word{gone: true}
	}
	clear(s.orders)
}

func (s *server) read() (word, error) {
	var w word
	buf := make([]byte, 1024)
	n, err := s.control.Read(buf)
	if err != nil {
		return w, err
	}
	return w, json.Unmarshal(buf[:n], &w)
}

// rest ends a server that nobody has needed for a while.
func (s *server) rest() {
	s.mu.Lock()
	busy := len(s.orders) > 0
	s.mu.Unlock()
	if !busy {
		s.retire()
	}
}

// retire tells the server to end when its last child has.
func (s *server) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired {
		s.retired = true
		s.idle.Stop()
		_ = s.control.CloseWrite()
	}
}

// awaitEnd waits until the process of a retired server is gone, and no longer than the limit before it is killed. It
// need not be a child of this process, so that nothing but the system tells.
func (s *server) awaitEnd(limit time.Time) {
	for pause := time.Millisecond; syscall.Kill(s.pid, 0) == nil; pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(limit) {
			_ = syscall.Kill(s.pid, syscall.SIGKILL)
			return
		}
		time.Sleep(pause)
	}
}

func (s *server) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.retired
}

// worth returns what would be lost with a server.
type worth struct {
	again bool // it was used more than once
	used  time.Time
}

func (w worth) compare(other worth) int {
	if w.again != other.again {
		if w.again {
			return 1
		}
		return -1
	}
	return w.used.Compare(other.used)
}

// worth returns the most for one that is busy.
func (s *server) worth() worth {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.orders) > 0 {
		return worth{true, time.Now()}
	}
	return worth{s.last > 1, s.used}
}
