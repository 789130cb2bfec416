package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"
)

// Under systemd the process that systemd starts is not the agent: it starts the agent as its child, passes on what
// they say to each other, and ends with it. When it is told to stop while the agent has active plays the agent goes
// on without it, in the control group of the service, until they are over; systemd sees the service end and can start
// the next one at once.
//
//	systemd --SIGTERM--> supervisor --"stop"--> agent: nothing in hand --> both end
//	                         ^                    |
//	                         +----"handed over"---+ plays in hand: the supervisor ends, the agent plays on
//
// Whoever kills the supervisor kills the agent.
const (
	supervisedEnv = "HARK_AGENT_SUPERVISED"
	// wordsFD is where the agent tells its supervisor what systemd shall hear, ordersFD where it is told to stop.
	wordsFD, ordersFD = 3, 4

	orderStop      = "stop"
	wordHandedOver = "handed over"
)

// superviseAgent is the process that systemd starts.
func superviseAgent(log zerolog.Logger) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this binary: %w", err)
	}
	words, saysWords, err := os.Pipe()
	if err != nil {
		return err
	}
	hearsOrders, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{saysWords, hearsOrders}
	others := func(v string) bool { return strings.HasPrefix(v, "WATCHDOG_PID=") }
	cmd.Env = append(slices.DeleteFunc(os.Environ(), others), supervisedEnv+"="+strconv.Itoa(os.Getpid()))
	runtime.LockOSThread() // the agent is killed when the thread ends that has started it
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start the agent: %w", err)
	}
	_, _ = saysWords.Close(), hearsOrders.Close()
	handedOver := make(chan struct{})
	go passOn(words, log, handedOver)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM || s == os.Interrupt {
				_, err = fmt.Fprintln(orders, orderStop)
			} else {
				err = cmd.Process.Signal(s)
			}
			if err != nil {
				log.Warn().Err(err).Msg("cannot tell the agent")
			}
		case <-handedOver:
			return nil
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return childError(exit.ExitCode())
			}
			return err
		}
	}
}

// childError is how the agent ended, which has said why.
type childError int

func (e childError) Error() string { return fmt.Sprintf("the agent ended with %d", int(e)) }

// passOn tells systemd what the agent says.
func passOn(words *os.File, log zerolog.Logger, handedOver chan<- struct{}) {
	for lines := bufio.NewScanner(words); lines.Scan(); {
		if lines.Text() == wordHandedOver {
			close(handedOver)
			return
		}
		if _, err := daemon.SdNotify(false, lines.Text()); err != nil {
			log.Warn().Err(err).Msg("cannot tell systemd of the state")
		}
	}
}

// supervised reports whether this process has a supervisor.
func supervised() bool { return os.Getenv(supervisedEnv) != "" }

// supervisor is the agent's connection with its supervisor.
type supervisor struct {
	words, orders *os.File
	// release has this process go on when the supervisor has gone.
	release func() error
}

// newSupervisor returns the one of this process. What the agent starts does not have it.
func newSupervisor() (*supervisor, error) {
	syscall.CloseOnExec(wordsFD)
	syscall.CloseOnExec(ordersFD)
	parent, err := strconv.Atoi(os.Getenv(supervisedEnv))
	if err != nil {
		return nil, fmt.Errorf("%s is no number of a process: %w", supervisedEnv, err)
	}
	_ = os.Unsetenv(supervisedEnv)
	release, err := bindToParent(parent)
	return &supervisor{os.NewFile(wordsFD, "supervisor"), os.NewFile(ordersFD, "orders"), release}, err
}

// tell passes a word to systemd, or to the supervisor.
func (s *supervisor) tell(word string) error {
	_, err := fmt.Fprintln(s.words, word)
	return err
}

// await calls stop each time that the agent is told to stop, until the supervisor has gone.
func (s *supervisor) await(stop func()) {
	for lines := bufio.NewScanner(s.orders); lines.Scan(); {
		if lines.Text() == orderStop {
			stop()
		}
	}
}

// shuttingDown reports whether the whole system is: then no other process of the agent comes.
func shuttingDown() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	words := []string{"is-system-running"}
	if os.Getuid() != 0 {
		words = append(words, "--user")
	}
	said, _ := exec.CommandContext(ctx, "systemctl", words...).Output() // it ends with 1 when it is not running
	return strings.TrimSpace(string(said)) == "stopping"
}
