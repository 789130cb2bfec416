package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/runs/origin"
	"hark/modules/nss"
)

// caller is the operator for whom a command works that needs root: who called it by sudo, or else the one who runs it.
type caller struct {
	Name        string
	Key, Reader string // public keys
	app         *app
	sudo        *nss.User // nil for who runs it
}

// sudoer is who called this command by sudo, nil for nobody. A HARK_HOME that is given is that of the operator.
func sudoer(a *app) (*nss.User, error) {
	name, _ := a.cfg.Getenv("SUDO_USER")
	home, given := a.cfg.Getenv("HARK_HOME")
	if os.Geteuid() != 0 || name == "" || name == "root" || given && home != "" {
		return nil, nil
	}
	u, err := nss.UserNamed(name)
	if err != nil {
		return nil, fmt.Errorf("cannot tell who called this command by sudo: %s: %w", name, err)
	}
	return u, nil
}

// callerOf returns the caller with an operator key, which is made if there is none.
func callerOf(a *app) (*caller, error) {
	u, err := sudoer(a)
	if err != nil {
		return nil, err
	}
	name, _ := origin.Person(a.cfg.Getenv)
	c := &caller{Name: name, app: a, sudo: u}
	if u == nil {
		id, _, err := trust.LoadOrCreate(a.cfg.Text("HARK_OPERATOR_KEY"), a.fleet.Home)
		if err != nil {
			return nil, err
		}
		c.Key, c.Reader = id.Key, id.XKey
		return c, nil
	}
	var shown struct{ Public, Reader string }
	if err := c.run(context.Background(), nil, &shown, "key", "show", "--json"); err != nil {
		return nil, err
	}
	c.Key, c.Reader = shown.Public, shown.Reader
	return c, nil
}

// knownCaller returns the caller if there is an operator key; none is made.
func knownCaller(a *app) (*caller, error) {
	u, err := sudoer(a)
	if err != nil {
		return nil, err
	}
	path := a.cfg.Text("HARK_OPERATOR_KEY")
	if u != nil {
		path = filepath.Join(u.Home, ".config", "hark", "operator.nk")
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return callerOf(a)
}

// use keeps the access to a broker for the caller.
func (c *caller) use(access trust.Access) error {
	if c.sudo == nil {
		brokers, err := trust.OpenBrokers(c.app.fleet.Home)
		if err != nil {
			return err
		}
		return brokers.Put(access)
	}
	text, err := json.Marshal(access)
	if err != nil {
		return err
	}
	return c.run(context.Background(), text, nil, "broker", "use", "-")
}

// state returns how it stands with the caller's broker.
func (c *caller) state(ctx context.Context) (s fleet.State, err error) {
	if c.sudo == nil {
		return c.app.fleet.State(ctx, "")
	}
	return s, c.run(ctx, nil, &s, "broker", "status", "--json")
}

// run runs a command of this program as the one who called sudo, so that files belong to them and lie where they look.
func (c *caller) run(ctx context.Context, in []byte, into any, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %v", err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=" + c.sudo.Home, "USER=" + c.sudo.Name, "LOGNAME=" + c.sudo.Name,
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(c.sudo.UID),
		Gid: uint32(c.sudo.GID)}}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			err = errors.New(text)
		}
		return fmt.Errorf("cannot run `hark %s` as %s: %w", strings.Join(args, " "), c.sudo.Name, err)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fmt.Errorf("cannot read what `hark %s` says as %s: %v", strings.Join(args, " "), c.sudo.Name, err)
	}
	return nil
}
