//go:build fleet

package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// startBroker starts the broker, with what it had before, and waits until it is ready.
func (c *control) startBroker() error {
	urlFile := filepath.Join(c.dir, "broker.url")
	log, err := os.OpenFile(filepath.Join(c.dir, "broker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := c.command(bg, "broker", "run", "--data", filepath.Join(c.dir, "broker"), "--listen", net()+".1:4222", "--url-file", urlFile)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.broker = cmd
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(urlFile)
		if url := strings.TrimSpace(string(text)); err == nil && url != "" {
			c.url = url
			return nil
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the broker does not start:\n%s", said)
		}
	}
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
