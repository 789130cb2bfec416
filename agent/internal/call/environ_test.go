package call

import (
	"os/user"
	"slices"
	"testing"
)

func TestToBecomeOneselfChangesNothing(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HARK_TEST_MARK", "here")
	got, err := Host{}.environ(me.Username)
	if err != nil || !slices.Contains(got, "HARK_TEST_MARK=here") {
		t.Errorf("%q: %q, %v", me.Username, got, err)
	}
}

func TestServicesLackWhatLoginsHave(t *testing.T) {
	who := func() (*user.User, error) { return &user.User{Uid: "0", Username: "root", HomeDir: "/root"}, nil }
	got := own([]string{"LANG=C.UTF-8", "PATH=/opt", "NOTIFY_SOCKET=/run/x", "INVOCATION_ID=0123"}, who)
	want := []string{"LANG=C.UTF-8", "PATH=/opt", "HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/sh"}
	if !slices.Equal(got, want) {
		t.Errorf("a service's: %q, want %q", got, want)
	}
	session := []string{"PATH=/bin", "A=1"}
	if got := own(session, who); !slices.Equal(got, session) {
		t.Errorf("a session's: %q", got)
	}
}
