// Command hark runs Ansible playbooks with agents that listen. Called as ansible-playbook, ansible, ansible-inventory,
// ansible-vault, ansible-config, ansible-doc, ansible-pull or ansible-galaxy it is that command.
package main

import (
	"context"
	"math"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"hark/controller/cli"
)

func main() {
	if code, inner := cli.Inner(os.Args, os.Stdin, os.Stdout, os.Stderr); inner {
		os.Exit(code)
	}
	keepToOurselves()
	ctx, cancel := context.WithCancel(context.Background())
	detach := make(chan struct{})
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, ending()...)
	go wishes{cancel: cancel, detach: func() { close(detach) }, exit: func() { os.Exit(cli.Detached) }}.obey(signals, time.After)
	s := cli.ThisSystem()
	s.Detach = detach
	os.Exit(cli.Main(ctx, s))
}

// keepToOurselves keeps what else the shell had open from the processes that modules start, as Python does: LVM's complain of it. Where the
// kernel does not know the call nothing changes.
func keepToOurselves() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) }
