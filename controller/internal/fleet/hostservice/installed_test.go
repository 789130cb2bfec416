package hostservice

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kardianos/service"
)

// statusOnly is a service of which only the status can be asked.
type statusOnly struct {
	service.Service
	err error
}

func (s statusOnly) Status() (service.Status, error) { return service.StatusUnknown, s.err }

// A service that has failed and was removed can be installed again: systemd calls it failed still.
func TestAServiceThatFailedAndIsGoneIsNotInstalled(t *testing.T) {
	there, gone := filepath.Join(t.TempDir(), "hark-keeper.service"), filepath.Join(t.TempDir(), "hark-keeper.service")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("service in failed state")
	for _, c := range []struct {
		err  error
		unit string
		want bool
	}{
		{failed, there, true},
		{failed, gone, false},
		{nil, there, true},
		{service.ErrNotInstalled, gone, false},
	} {
		if got := installed(statusOnly{err: c.err}, c.unit); got != c.want {
			t.Errorf("%v, %s: %v", c.err, c.unit, got)
		}
	}
}
