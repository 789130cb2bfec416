package terminal

import (
	"io"
	"os"
	"sync"
)

// Outlet is stdout where it is no terminal: a file, a pipe. It remembers the first error, so that a program whose
// output is lost (a full disk) does not end as if all were well.
type Outlet struct {
	W io.Writer

	mu  sync.Mutex
	err error // guarded by mu
}

// Write implements io.Writer.
func (o *Outlet) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Lost is the first error of writing.
func (o *Outlet) Lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// FileOf returns the file that a writer of the process writes to, for programs that print there themselves; the
// writer itself if it is none.
func FileOf(w io.Writer) io.Writer {
	if o, ok := w.(*Outlet); ok {
		w = o.W
	}
	if v, ok := w.(Visible); ok {
		w = v.W
	}
	if f, ok := w.(*os.File); ok {
		return f
	}
	return w
}
