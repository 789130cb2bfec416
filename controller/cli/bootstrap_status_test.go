package cli

import (
	"bytes"
	"testing"

	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
)

// TestBootstrapShowsWhereItIs: the line says how many hosts are done and what is under way, and is empty at the end.
func TestBootstrapShowsWhereItIs(t *testing.T) {
	var out bytes.Buffer
	d, err := view.NewDisplay(view.DisplayOptions{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	j := &bootstrapJob{app: &app{display: d, term: &terminal.Console{Out: &out}}, hosts: 3}
	status := func(want string) {
		t.Helper()
		if got := j.status(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	status("")
	j.progress("web1", "connecting")
	status("[bootstrap] 0 of 3 hosts done; web1: connecting")
	j.progress("web2", "uploading 9 MB")
	status("[bootstrap] 0 of 3 hosts done; web2: uploading 9 MB; 1 more under way")
	j.tell(bootstrap.Result{Host: "web2", Err: "this host does not reach the broker"})
	status("[bootstrap] 1 of 3 hosts done; web1: connecting")
	j.tell(bootstrap.Result{Host: "web1", Changed: true, Did: []string{"binary"}, OS: "linux", Arch: "amd64", Version: "0.1.0"})
	j.tell(bootstrap.Result{Host: "web3", Unreachable: true, Err: "no route"})
	status("")
	if got, want := out.String(), "web2: failed: this host does not reach the broker\nweb1: installed binary (hark-agent 0.1.0, linux/amd64, 0s)\nweb3: unreachable: no route\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
