package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/controller/cli"
	"hark/controller/config"
)

// What is wrong with the flags is told before anything is made, whether or not this machine could have the service.
func TestKeeperIsNotInstalledWithWrongInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HARK_HOME", filepath.Join(dir, ".hark"))
	for name, mode := range map[string]os.FileMode{"site/duties.yml": 0o644, "empty/x": 0o644, "program": 0o755, "text": 0o600} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	const url = "https://example.org/site.git#main"
	for _, tt := range []struct{ args, want string }{
		{"--project none", "neither a directory nor the URL of a git repository"},
		{"--project empty", "duties.yml: no such file"},
		{"--project site --verify-tags text", "only a git URL has signed tags"},
		{"--project " + url + " --verify-tags none", "cannot read the keyring"},
		{"--project " + url + " --tag-names prod-*", "only where tags are verified"},
		{"--project " + url + " --verify-tags text --tag-names [", "no pattern of names"},
		{"--project " + url + " -i /none", "/none: no such file"},
		{"--project " + url + " --vault-password-file none", "cannot read the vault password"},
		{"--project " + url + " --vault-password-file program", "no program that tells it"},
		{"--project " + url + " --vault-password-file site", "is no plain file"},
		{"--project " + url + " --access none", "cannot read the access"},
		{"--project " + url + " --access text", "not what `hark broker admit` prints"},
		{"--project " + url + " --poll soon", "--poll"},
		{"more", "unrecognized arguments: more"},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"hark", "keeper", "install", "--data", filepath.Join(dir, "data")}, strings.Fields(tt.args)...)
		code := cli.Main(context.Background(), cli.System{Args: args, In: strings.NewReader(""), Out: &out, Err: &errs, NoTTY: true, World: config.ThisWorld()})
		if code == 0 || !strings.Contains(errs.String(), tt.want) || out.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", tt.args, code, &out, &errs)
		}
	}
	if _, err := os.Stat("data"); err == nil {
		t.Error("the keeper's directory was made")
	}
}
