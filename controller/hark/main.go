// Command hark runs Ansible playbooks with agents that listen. Called as ansible-playbook, ansible, ansible-inventory,
// ansible-vault, ansible-config or ansible-doc it is that command.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"hark/controller/cli"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel() // the run is cancelled on every host, then its recap comes
		<-signals
		os.Exit(cli.Detached)
	}()
	os.Exit(cli.Main(ctx, cli.ThisSystem()))
}
