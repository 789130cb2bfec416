package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hark/playbook/jinja/sealed"
)

// decodeLines reads a file of JSON lines.
func decodeLines[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var x T
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

type vaultCase struct{ Plain, Password, ID, Salt, Vault string }

func vaultCases(t *testing.T) []vaultCase {
	return decodeLines[vaultCase](t, "testdata/vaults.jsonl")
}

func TestVaultsOfAnsibleOpen(t *testing.T) {
	for _, c := range vaultCases(t) {
		s := &Secrets{List: []Secret{{ID: c.ID, Password: []byte(c.Password)}}}
		got, by, err := s.Open([]byte(c.Vault), "")
		if err != nil || string(got) != c.Plain || by.ID != c.ID {
			t.Errorf("%q opened by %q as %q, %v", c.Plain, by.ID, got, err)
		}
	}
}

func TestVaultsAreAnsiblesByteForByte(t *testing.T) {
	for _, c := range vaultCases(t) {
		got, err := sealed.Seal([]byte(c.Plain), []byte(c.Password), c.ID, []byte(c.Salt))
		if err != nil || string(got) != c.Vault {
			t.Errorf("%q with id %q became\n%s, want\n%s (%v)", c.Plain, c.ID, got, c.Vault, err)
		}
	}
}

func TestErrorsReadAsAnsibles(t *testing.T) {
	type errorCase struct {
		Name, Text, File, Want string
		Passwords              []string
	}
	for _, c := range decodeLines[errorCase](t, "testdata/errors.jsonl") {
		s := &Secrets{}
		for _, p := range c.Passwords {
			s.List = append(s.List, Secret{ID: sealed.DefaultID, Password: []byte(p)})
		}
		plain, err := s.Decrypt([]byte(c.Text), c.File)
		got := "plain: " + string(plain)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.Want {
			t.Errorf("%s with %q in %q\n got %s\nwant %s", c.Name, c.Passwords, c.File, got, c.Want)
		}
	}
}

func TestMatchIDTriesOnlyThatSecret(t *testing.T) {
	v, err := Encrypt([]byte("x"), []byte("pw"), "prod")
	if err != nil {
		t.Fatal(err)
	}
	s := &Secrets{List: []Secret{{ID: "dev", Password: []byte("pw")}}}
	if _, err := s.Decrypt(v, ""); err != nil {
		t.Errorf("any secret may open a vault of another id: %v", err)
	}
	s.MatchID = true
	if _, err := s.Decrypt(v, ""); err == nil {
		t.Error("a secret with another id opened the vault")
	}
}

func TestForEncryptionFindsTheID(t *testing.T) {
	s := &Secrets{List: []Secret{{ID: "a", Password: []byte("1")}, {ID: "b", Password: []byte("2")}}}
	for id, want := range map[string]string{"": "1", "a": "1", "b": "2"} {
		if got, err := s.ForEncryption(id); err != nil || string(got.Password) != want {
			t.Errorf("id %q gives %q, %v", id, got.Password, err)
		}
	}
	_, err := s.ForEncryption("c")
	if want := "Did not find a match for --encrypt-vault-id=c in the known vault-ids ['a', 'b']"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEncryptRefusesVaults(t *testing.T) {
	v, err := Encrypt([]byte("x"), []byte("pw"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encrypt(v, []byte("pw"), ""); err == nil || err.Error() != "input is already encrypted" {
		t.Errorf("got %v", err)
	}
}

func TestPasswordsComeFromFilesAndScripts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sealed, err := Encrypt([]byte("inner\n"), []byte("outer"), "")
	if err != nil {
		t.Fatal(err)
	}
	known := &Secrets{List: []Secret{{ID: "default", Password: []byte("outer")}}}
	child := filepath.Join(dir, "child") // holds the id of a process that the script leaves, with its output open
	t.Cleanup(func() {
		pid := 0
		if text, err := os.ReadFile(child); err == nil {
			if _, err := fmt.Sscan(string(text), &pid); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	for path, want := range map[string]string{
		write("plain", "  pw with blanks \n", 0o600):                                           "pw with blanks",
		write("vaulted", string(sealed), 0o600):                                                "inner",
		write("script", "#!/bin/sh\necho from script\n", 0o700):                                "from script",
		write("lingering", "#!/bin/sh\nsleep 600 & echo $! >"+child+"\necho from it\n", 0o700): "from it",
		write("my-client.sh", "#!/bin/sh\necho \"$@\"\n", 0o700):                               "--vault-id prod",
		write("empty", "\n",
			0o600): "error: Invalid vault password was provided " +
			"from file (DIR/empty)",
		write("silent", "#!/bin/sh\n",
			0o700): "error: Invalid vault password was provided from script " +
			"(DIR/silent)",
		write("failing", "#!/bin/sh\nexit 3\n",
			0o700): "error: Vault password script DIR/failing returned non-zero (3): " +
			"None",
		write("un-client", "#!/bin/sh\necho no >&2\nexit 2\n",
			0o700): "error: Vault password client script DIR/un-client did not find a secret for " +
			"vault-id=prod: b'no\\n'",
		filepath.Join(dir, "missing"): "error: The vault password file DIR/missing was not found",
	} {
		got, err := FromFile(t.Context(), path, "prod", known)
		text := string(got.Password)
		if err != nil {
			text = "error: " + strings.ReplaceAll(err.Error(), dir, "DIR")
		}
		if text != want {
			t.Errorf("%s\n got %s\nwant %s", filepath.Base(path), text, want)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	v, err := Encrypt([]byte("text"), []byte("pw"), "id")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(v)
	f.Add([]byte("$ANSIBLE_VAULT;1.1;AES256\n616263\n"))
	f.Add([]byte("$ANSIBLE_VAULT;;;"))
	s := &Secrets{List: []Secret{{ID: sealed.DefaultID, Password: []byte("pw")}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, err := s.Decrypt(data, "")
		if err == nil && !IsEncrypted(data) {
			t.Errorf("%q was opened as %q", data, plain)
		}
	})
}
