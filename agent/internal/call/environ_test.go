package call

import (
	"slices"
	"testing"

	"hark/modules/nss"
)

func TestToBecomeOneselfChangesNothing(t *testing.T) {
	me, err := nss.Current()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HARK_TEST_MARK", "here")
	got, err := Host{}.environ(me.Name)
	if err != nil || !slices.Contains(got, "HARK_TEST_MARK=here") {
		t.Errorf("%q: %q, %v", me.Name, got, err)
	}
}

func TestServicesLackWhatLoginsHave(t *testing.T) {
	who := func() (*nss.User, error) {
		return &nss.User{UID: 0, Name: "root", Home: "/root", Shell: "/bin/bash"}, nil
	}
	got := own([]string{"LANG=C.UTF-8", "PATH=/opt", "SHELL=/bin/sh", "NOTIFY_SOCKET=/run/x", "INVOCATION_ID=0123"}, who)
	want := []string{"LANG=C.UTF-8", "PATH=/opt", "HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/bash"}
	if !slices.Equal(got, want) {
		t.Errorf("a service's: %q, want %q", got, want)
	}
	session := []string{"PATH=/bin", "A=1"}
	if got := own(session, who); !slices.Equal(got, session) {
		t.Errorf("a session's: %q", got)
	}
}
