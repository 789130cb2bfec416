//go:build fleet

package fleet

import (
	"fmt"
	"io"
	stdnet "net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startBroker starts the broker, with what it had before, and waits until it is ready.
func (c *control) startBroker() error {
	urlFile := filepath.Join(c.dir, "broker.url")
	listen := "127.0.0.1:0"
	if c.door != nil {
		listen = c.door.to
	}
	log, err := os.OpenFile(filepath.Join(c.dir, "broker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := c.command(bg, "broker", "run", "--open", "--data", filepath.Join(c.dir, "broker"), "--listen", listen, "--url-file", urlFile)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.broker = cmd
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(urlFile)
		if url := strings.TrimSpace(string(text)); err == nil && url != "" {
			return c.open(strings.TrimPrefix(url, "nats://"))
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the broker does not start:\n%s", said)
		}
	}
}

// open lets the hosts reach the broker.
func (c *control) open(to string) error {
	if c.door != nil {
		return nil
	}
	d, err := openDoor(net()+".1:0", to)
	if err != nil {
		return err
	}
	c.door, c.url = d, "nats://"+d.listener.Addr().String()
	return nil
}

// stopBroker stops the broker as a service manager would, and waits for its end.
func (c *control) stopBroker() {
	if c.broker == nil {
		return
	}
	_ = c.broker.Process.Signal(syscall.SIGTERM)
	_ = c.broker.Wait()
	c.broker = nil
}

// door lets connections in at the fleet's network and passes them on to this machine's loopback.
type door struct {
	listener stdnet.Listener
	to       string
	inside   sync.WaitGroup
}

func openDoor(at, to string) (*door, error) {
	l, err := stdnet.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	d := &door{listener: l, to: to}
	d.inside.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.inside.Go(func() { d.pass(conn) })
		}
	})
	return d, nil
}

func (d *door) pass(conn stdnet.Conn) {
	defer conn.Close()
	inner, err := stdnet.Dial("tcp", d.to)
	if err != nil {
		return
	}
	defer inner.Close()
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(conn, inner)
		conn.Close()
	}()
	_, _ = io.Copy(inner, conn)
	inner.Close()
	<-back
}

func (d *door) close() { d.listener.Close() }
