package hostservice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"hark/modules/nss"
)

// unitText is the systemd unit of a service that faces the network, and has nothing to do with what root can do: what
// it may do is what its directory and sockets need.
const unitText = `[Unit]
Description=%[7]s
After=network-online.target
Wants=network-online.target

[Service]
Type=%[9]s
User=%[1]s
Group=%[1]s
Environment=%[2]s
ExecStart=%[3]s
%[8]sRestart=%[10]s
LimitNOFILE=1048576
UMask=0077
ReadWritePaths=%[4]s
ProtectHome=%[5]s
AmbientCapabilities=%[6]s
CapabilityBoundingSet=%[6]s
NoNewPrivileges=yes
ProtectSystem=strict
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

// unit returns the text of the service's unit.
func (s Service) unit() string {
	home, capabilities := "yes", ""
	for _, path := range s.needs() {
		for _, dir := range []string{"/home/", "/root/", "/run/user/"} {
			if strings.HasPrefix(path, dir) {
				home = "no"
			}
		}
	}
	if _, port, err := net.SplitHostPort(s.Listen); err == nil {
		if n, err := strconv.Atoi(port); err == nil && n > 0 && n < 1024 {
			capabilities = "CAP_NET_BIND_SERVICE"
		}
	}
	environment := unitWords("HOME="+s.Data, "HARK_HOME="+filepath.Join(s.Data, "home"))
	start, credentials := unitWords(append([]string{s.Program}, s.Arguments...)...), ""
	for i, c := range s.Credentials {
		name := strings.TrimLeft(c.Flag, "-")
		if slices.ContainsFunc(s.Credentials[:i], func(other Credential) bool { return other.Flag == c.Flag }) {
			name += "-" + strconv.Itoa(i+1)
		}
		start += " " + c.Flag + " %d/" + name
		credentials += "LoadCredential=" + name + ":" + unitWords(c.Path) + "\n"
	}
	kind, restart := "notify\nNotifyAccess=main\nWatchdogSec=90", "always\nRestartSec=2"
	if s.Plain {
		restart = "on-failure\nRestartSec=10"
	}
	return fmt.Sprintf(unitText, s.Name, environment, start, unitWords(s.Data), home, capabilities, s.Description,
		credentials, kind, restart)
}

// needs returns the files and directories that the service must come to.
func (s Service) needs() []string { return append([]string{s.Program, s.Data}, s.Reads...) }

// unitWords are words of a unit's line, quoted as systemd reads them.
func unitWords(words ...string) string {
	for i, w := range words {
		w = strings.NewReplacer("%", "%%", "$", "$$").Replace(w)
		if w == "" || strings.ContainsAny(w, " \t\"'\\;") {
			w = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}

// Claim gives a service's directory, if there is one, to this process's user: keys that belong to others are read by
// nobody. Install gives it back.
func (s Service) Claim() error {
	if _, err := os.Stat(s.Data); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.owns(); err != nil {
		return err
	}
	return giveTo(s.Data, os.Geteuid(), os.Getegid())
}

// handOver makes the service's user, and gives him the service's directory, also that of a service that ran as root
// before.
func (s Service) handOver(ctx context.Context) error {
	uid, gid, err := ensureUser(ctx, s.Name, s.Description)
	if err != nil {
		return err
	}
	if err := s.owns(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return err
	}
	for _, path := range s.needs() {
		if err := s.reachable(path); err != nil {
			return err
		}
	}
	if s.Stale != "" {
		if err := os.Remove(filepath.Join(s.Data, s.Stale)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return giveTo(s.Data, uid, gid)
}

// ensureUser finds a system user, or makes him.
func ensureUser(ctx context.Context, name, description string) (uid, gid int, err error) {
	u, err := nss.UserNamed(name)
	if errors.Is(err, nss.ErrUnknown) {
		u, err = makeUser(ctx, name, description)
	}
	if err != nil {
		return 0, 0, err
	}
	return u.UID, u.GID, nil
}

func makeUser(ctx context.Context, name, description string) (*nss.User, error) {
	out, err := exec.CommandContext(ctx, "useradd", "--system", "--user-group", "--no-create-home", "--home-dir",
		"/nonexistent", "--shell", "/usr/sbin/nologin",
		"--comment", strings.ReplaceAll(description, ":", ","), name).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("cannot make the user %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nss.UserNamed(name)
}

// owns reports whether the directory is the service's, or may become so: all that is in it is given away.
func (s Service) owns() error {
	entries, err := os.ReadDir(s.Data)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Data, s.Mark)); err != nil {
		return fmt.Errorf("%s holds other things than those of %s: give --data a directory of its own", s.Data, s.Name)
	}
	return nil
}

// reachable reports whether another user comes to a file.
func (s Service) reachable(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if st.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("the service's user %s cannot come to %s, since %s is closed to others: put it somewhere else",
				s.Name, path, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// giveTo gives a directory and all below it to a user. Links are given and not followed; a file with other names
// elsewhere could be anybody's.
func giveTo(dir string, uid, gid int) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(st.Uid) == uid && int(st.Gid) == gid {
			return nil
		}
		if info.Mode().IsRegular() && st.Nlink > 1 {
			return fmt.Errorf("%s has other names: it is no file of the service", path)
		}
		return os.Lchown(path, uid, gid)
	})
}
