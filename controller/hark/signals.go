package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is for how long signals after the first are the same wish: timeout(1) sends one to the program and one to its
// group, and those who pass on a Ctrl-C repeat what the terminal has sent already.
const echo = 100 * time.Millisecond

// ending returns the signals that ask a program to end. A terminal that goes away is one of them, unless nohup said
// that it does not matter.
func ending() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// wishes are what the user's signals ask for, one after the other.
type wishes struct {
	cancel func() // the run is cancelled on every host, then its recap comes
	detach func() // what still runs goes on without us
	exit   func()
}

// obey does what the signals ask for. after is time.After.
func (w wishes) obey(signals <-chan os.Signal, after func(time.Duration) <-chan time.Time) {
	<-signals
	w.cancel()
	for over := after(echo); over != nil; {
		select {
		case <-signals:
		case <-over:
			over = nil
		}
	}
	<-signals
	w.detach()
	<-signals
	w.exit()
}
