package hostservice

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The service is nobody: a user of its own, without capabilities, that writes its directory alone.
func TestServicesRunAsUsersOfTheirOwn(t *testing.T) {
	for _, tt := range []struct {
		self, data, listen string
		want               []string
	}{
		{"/usr/bin/hark", "/var/lib/hark-broker", "0.0.0.0:4222", []string{
			"User=hark-broker", "Group=hark-broker", "ReadWritePaths=/var/lib/hark-broker", "ProtectHome=yes", "CapabilityBoundingSet=\n", "NoNewPrivileges=yes",
			"ProtectSystem=strict", "ExecStart=/usr/bin/hark broker run --service --data /var/lib/hark-broker --listen 0.0.0.0:4222\n",
		}},
		{"/usr/bin/hark", "/home/anna/broker 1", "0.0.0.0:443", []string{
			`ReadWritePaths="/home/anna/broker 1"`, "ProtectHome=no", "AmbientCapabilities=CAP_NET_BIND_SERVICE", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
		}},
	} {
		text := Service{
			Name: "hark-broker", Program: tt.self, Data: tt.data, Listen: tt.listen,
			Arguments: []string{"broker", "run", "--service", "--data", tt.data, "--listen", tt.listen},
		}.unit()
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: the unit has no %q:\n%s", tt, want, text)
			}
		}
		if strings.Contains(text, "%!") {
			t.Errorf("the unit is not complete:\n%s", text)
		}
	}
}

// What root alone may read reaches the service as a credential.
func TestCredentialsComeBySystemd(t *testing.T) {
	text := Service{
		Name: "hark-console", Program: "/usr/bin/hark", Arguments: []string{"console", "50%"}, Data: "/var/lib/hark-console",
		Credentials: []Credential{{"--tls-key", "/etc/ssl/private/a key.pem"}},
	}.unit()
	for _, want := range []string{"ExecStart=/usr/bin/hark console 50%% --tls-key %d/tls-key\n", "LoadCredential=tls-key:\"/etc/ssl/private/a key.pem\"\n", "User=hark-console\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the unit has no %q:\n%s", want, text)
		}
	}
}

// A program that may end by itself is started again when it failed; what it reads
// elsewhere is not hidden from it.
func TestPlainProgramsAreServicesToo(t *testing.T) {
	s := Service{
		Name: "hark-keeper", Program: "/usr/bin/hark", Arguments: []string{"keeper", "run"}, Data: "/var/lib/hark-keeper", Plain: true, Reads: []string{"/home/anna/site/duties.yml"},
		Credentials: []Credential{{"--vault-password-file", "/etc/hark/a"}, {"--vault-password-file", "/etc/hark/b"}},
	}
	text := s.unit()
	for _, want := range []string{
		"Type=notify\nNotifyAccess=main\nWatchdogSec=90\nUser=hark-keeper\n", "\nRestart=on-failure\nRestartSec=10\n", "ProtectHome=no", "HARK_HOME=/var/lib/hark-keeper/home\n", "ReadWritePaths=/var/lib/hark-keeper\n",
		"ExecStart=/usr/bin/hark keeper run --vault-password-file %d/vault-password-file --vault-password-file %d/vault-password-file-2\n",
		"LoadCredential=vault-password-file:/etc/hark/a\nLoadCredential=vault-password-file-2:/etc/hark/b\n", "ProtectSystem=strict", "CapabilityBoundingSet=\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the unit has no %q:\n%s", want, text)
		}
	}
	s.Reads = nil
	if text := s.unit(); !strings.Contains(text, "ProtectHome=yes") {
		t.Errorf("of one that reads nothing elsewhere:\n%s", text)
	}
}

// Only a service's own directory is given to the service's user, and nothing that lies elsewhere.
func TestOnlyTheServicesDirectoryIsGivenAway(t *testing.T) {
	dir := t.TempDir()
	data, outside := filepath.Join(dir, "data"), filepath.Join(dir, "outside")
	write := func(path string) {
		t.Helper()
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := Service{Name: "hark-broker", Data: data, Mark: filepath.Join("keys", "account.nk")}
	if err := s.owns(); err != nil {
		t.Errorf("none yet: %v", err)
	}
	write(filepath.Join(data, "other"))
	if err := s.owns(); err == nil || !strings.Contains(err.Error(), "other things") {
		t.Errorf("somebody else's: %v", err)
	}
	write(filepath.Join(data, "keys", "account.nk"))
	if err := s.owns(); err != nil {
		t.Errorf("a broker's: %v", err)
	}
	write(outside)
	if err := os.Symlink(outside, filepath.Join(data, "link")); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if err := giveTo(data, uid, gid); err != nil {
		t.Errorf("nothing to change: %v", err)
	}
	if os.Getuid() != 0 {
		return // only root gives files away
	}
	if err := giveTo(data, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(outside)
	if err != nil || owner(st) != 0 {
		t.Errorf("what a link leads to was given away: %v", err)
	}
	st, err = os.Stat(filepath.Join(data, "keys", "account.nk"))
	if err != nil || owner(st) != 4711 {
		t.Errorf("the keys are not the service's: %v", err)
	}
	if err := s.Claim(); err != nil {
		t.Fatal(err)
	}
	if st, err = os.Stat(filepath.Join(data, "keys", "account.nk")); err != nil || owner(st) != 0 {
		t.Errorf("who installs it again cannot use the keys: %v", err)
	}
	if err := os.Link(outside, filepath.Join(data, "planted")); err != nil {
		t.Fatal(err)
	}
	if err := giveTo(data, 4711, 4711); err == nil {
		t.Error("a file with another name elsewhere was given away")
	}
}

func owner(st os.FileInfo) int {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(sys.Uid)
}
