package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// fullDisk is the variable that has the test's own binary run a broker on a disk that becomes full; noNamespaces is how
// that ends where it cannot be tried.
const (
	fullDisk     = "BROKER_ON_A_FULL_DISK"
	noNamespaces = 77
)

func TestMain(m *testing.M) {
	dir := os.Getenv(fullDisk)
	if dir == "" {
		os.Exit(m.Run())
	}
	err := brokerOnAFullDisk(dir)
	switch {
	case errors.Is(err, unix.EPERM):
		os.Exit(noNamespaces)
	case err != nil:
		fmt.Println(err)
		os.Exit(1)
	}
}

func brokerOnAFullDisk(dir string) error {
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64m"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ready, ended := make(chan string, 4), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", Logger: zerolog.Nop()},
			func(url string) { ready <- url })
	}()
	nc, err := nats.Connect(<-ready, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "T", Subjects: []string{"t"}})
	}
	if err != nil {
		return err
	}
	put := func() error {
		within, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := js.Publish(within, "t", make([]byte, 64<<10))
		return err
	}
	if err := put(); err != nil {
		return fmt.Errorf("before the disk is full: %w", err)
	}
	ballast := filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	for err == nil {
		_, err = f.Write(make([]byte, 4<<10))
	}
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	for put() == nil {
	}
	if err := errors.Join(f.Close(), os.Remove(ballast)); err != nil {
		return err
	}
	select {
	case <-ready:
	case <-ctx.Done():
		return errors.New("its server is not started anew, though there is room")
	}
	for put() != nil {
		if ctx.Err() != nil {
			return errors.New("it takes nothing, though there is room")
		}
	}
	cancel()
	return <-ended
}

// TestABrokerWhoseDiskWasFullTakesMessagesAgain as soon as there is room: the store of its server does not by itself.
func TestABrokerWhoseDiskWasFullTakesMessagesAgain(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == noNamespaces {
		t.Skip("needs user namespaces")
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
