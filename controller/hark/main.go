// Command hark runs Ansible playbooks with agents that listen. Called as ansible-playbook, ansible, ansible-inventory,
// ansible-vault, ansible-config, ansible-doc, ansible-pull or ansible-galaxy it is that command.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"hark/agent/profile"
	"hark/controller/cli"
)

func main() {
	if code, inner := cli.Inner(os.Args, os.Stdin, os.Stdout, os.Stderr); inner {
		os.Exit(code)
	}
	os.Exit(profiled())
}

// profiled is hark as a command, with a profile of it if the environment asks for one.
func profiled() int {
	stop, err := profile.Start("hark")
	if err != nil {
		fmt.Fprintln(os.Stderr, "hark:", err)
		return 1
	}
	code := run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "hark:", err)
	}
	return code
}

// run is hark as a command.
func run() int {
	keepToOurselves()
	sparing()
	ctx, cancel := context.WithCancel(context.Background())
	detach := make(chan struct{})
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, ending()...)
	go wishes{cancel: cancel, detach: func() { close(detach) }, exit: func() { os.Exit(cli.Detached) }}.obey(signals,
		time.After)
	s := cli.ThisSystem()
	s.Detach = detach
	return cli.Main(ctx, s)
}
