// Command swarm is many agents in few processes, with sessions, credentials and TLS as hosts have them, and what hark
// costs with that many: a broadcast, tasks in lockstep, a file, a broker that was restarted, and nothing at all. With
// --scale it starts broker and agents itself, measures, checks that no result is missing and writes the page;
// without, it is the agents of somebody else's broker. Nothing of the agents is kept on disk.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var s swarm
	flag.IntVar(&s.agents, "agents", 200, "how many; their names are s1, s2 and so on")
	flag.StringVar(&s.broker, "broker", "nats://127.0.0.1:4222", "URL of the broker")
	flag.StringVar(&s.operator, "operator", "", "public key of the operator")
	flag.StringVar(&s.data, "data", "",
		"the broker's directory, whose authority gives credentials; without it the broker asks for none (hark broker run "+
			"--open)")
	flag.StringVar(&s.known, "known", "", "with --data: the operator's record of agents, in which they are entered")
	var b bench
	flag.StringVar(&b.sizes, "scale", "", "measure with these numbers of agents, such as 1000,2000,5000")
	flag.StringVar(&b.bin, "bin", "bin", "with --scale: the directory of hark's programs")
	flag.StringVar(&b.page, "page", "",
		"with --scale: write the figures into this page, between its marks; else they are printed")
	flag.DurationVar(&b.limit, "limit", 2*time.Minute, "with --scale: how long a work may take")
	flag.StringVar(&b.only, "only", "",
		"with --scale: only works whose name contains this, or one of these with commas between them")
	flag.IntVar(&b.file, "file", 0,
		"with --scale: copy a file of so many MB to each agent too, which takes twice its size on the disk for each")
	flag.StringVar(&b.profile, "profile", "",
		"with --scale: write profiles of broker, agents and controllers to this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := error(nil)
	if b.sizes != "" {
		err = b.run(ctx)
	} else {
		err = s.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "swarm:", err)
		os.Exit(1)
	}
}
