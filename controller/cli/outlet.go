package cli

import (
	"io"
	"os"
	"sync"
)

// outlet is stdout where it is no terminal: a file, a pipe. It remembers the first error, so that a program whose output is lost (a full
// disk) does not end as if all were well.
type outlet struct {
	w io.Writer

	mu  sync.Mutex
	err error // guarded by mu
}

// Write implements io.Writer.
func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// lost is the first error of writing.
func (o *outlet) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf is the file that a writer of the process writes to, for programs that print there themselves; the writer itself if it is none.
func fileOf(w io.Writer) io.Writer {
	if o, ok := w.(*outlet); ok {
		w = o.w
	}
	if v, ok := w.(visible); ok {
		w = v.w
	}
	if f, ok := w.(*os.File); ok {
		return f
	}
	return w
}
