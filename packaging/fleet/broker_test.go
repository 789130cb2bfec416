//go:build fleet

package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	// For the script that ends what a killed test leaves behind.
	if err := os.WriteFile(brokerPID(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return err
	}
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
	_ = os.Remove(brokerPID())
	c.broker = nil
}

// brokerPID is the file that names the broker's process.
func brokerPID() string { return filepath.Join(os.Getenv("FLEET_DIR"), "broker.pid") }
