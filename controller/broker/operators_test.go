package broker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/statefile"
)

func newKey(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// What an operator is given is on record with its rights and its end; credentials are good for the life of operators,
// and no longer than the access.
func TestAdmittedOperatorsAreOnRecord(t *testing.T) {
	a, err := OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	soon, late := now.Add(time.Hour), now.Add(365*24*time.Hour)
	for name, tt := range map[string]struct {
		access  enrol.Rights
		until   time.Time
		expires time.Time // zero: never
		renews  bool
	}{
		"manages":           {enrol.MayManage, time.Time{}, now.Add(DefaultOperatorLife), true},
		"plays":             {enrol.MayPlay, time.Time{}, now.Add(DefaultOperatorLife), true},
		"plays-for-a-year":  {enrol.MayPlay, late, now.Add(DefaultOperatorLife), true},
		"plays-for-an-hour": {enrol.MayPlay, soon, soon, false},
		"reads":             {enrol.MayRead, time.Time{}, now.Add(DefaultOperatorLife), true},
		"listens":           {enrol.MayListen, time.Time{}, time.Time{}, false},
		"listens-an-hour":   {enrol.MayListen, soon, soon, false},
	} {
		id := newKey(t)
		token, err := a.Admit(enrol.Operator{Key: id.Key, Name: name, Access: tt.access, Until: tt.until, By: "anna"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := a.Operators()
		if err != nil {
			t.Fatal(err)
		}
		got := all[len(all)-1]
		if got.Key != id.Key || got.Name != name || got.Access != tt.access || got.By != "anna" ||
			got.Renews != tt.renews || got.Since.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
		if !near(got.Until, tt.until) || !near(got.Expires, tt.expires) {
			t.Errorf("%s: until %s, credentials until %s", name, got.Until, got.Expires)
		}
		key, newer, err := a.Renew(token)
		if (err == nil) != tt.renews || tt.renews && key != id.Key {
			t.Errorf("%s: renewed for %q: %v", name, key, err)
		}
		if tt.renews {
			if err := a.Saw(id.Key, "", newer, now); err != nil {
				t.Fatal(err)
			}
			all, _ := a.Operators()
			if again := all[len(all)-1]; again.Access != tt.access || !near(again.Until, tt.until) {
				t.Errorf("%s: after its renewal %+v", name, again)
			}
		}
	}
	if _, err := a.Admit(enrol.Operator{Key: newKey(t).Key, Name: "plays", Access: enrol.MayPlay}); err == nil ||
		!strings.Contains(err.Error(), "another operator is called plays") {
		t.Errorf("two of one name: %v", err)
	}
}

func near(a, b time.Time) bool { return a.IsZero() == b.IsZero() && a.Sub(b).Abs() < 5*time.Second }

// An operator who is expelled is cut off, cannot come back with the old credentials, and can with new ones.
func TestExpelledOperatorsAreCutOff(t *testing.T) {
	a, url := guarded(t)
	id := newKey(t)
	admit := func() string {
		t.Helper()
		token, err := a.Admit(enrol.Operator{Key: id.Key, Access: enrol.MayManage})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	old := admit()
	closed := make(chan error, 1)
	dial := func(token string) (*nats.Transport, error) {
		return nats.Dial(t.Context(), nats.Config{URL: url, ID: id.ID(), Identity: id, JWT: token,
			Logger: zerolog.Nop(), OnClosed: func(err error) {
				select {
				case closed <- err:
				default:
				}
			}})
	}
	conn, err := dial(old)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := a.Expel(id.Key, time.Now()); err != nil {
		t.Fatal(err)
	}
	reach := func(o ...natsgo.Option) (*natsgo.Conn, error) { return natsgo.Connect(url, o...) }
	if err := Publish(t.Context(), a, reach); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("the connection of who was expelled stays")
	}
	if c, err := dial(old); err == nil {
		_ = c.Close()
		t.Error("the old credentials are good still")
	}
	if _, _, err := a.Renew(old); err == nil {
		t.Error("the old credentials are renewed")
	}
	if all, err := a.Operators(); err != nil || len(all) != 0 {
		t.Errorf("listed still: %+v, %v", all, err)
	}
	c, err := dial(admit())
	if err != nil {
		t.Fatalf("admitted again: %v", err)
	}
	_ = c.Close()
	if c, err := dial(old); err == nil {
		_ = c.Close()
		t.Error("the old credentials are good again")
	}
}

// What root changes in the directory of a broker that is another user's can be read by that user.
func TestTheBrokersUserReadsWhatRootChanges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	data := t.TempDir()
	a, err := OpenAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := os.Chown(a.dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	id := newKey(t)
	if _, err := a.Admit(enrol.Operator{Key: id.Key, Access: enrol.MayPlay}); err != nil {
		t.Fatal(err)
	}
	if err := a.Expel(id.Key, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.dir, "listeners.nk")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuthority(data); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{operatorsFile, operatorsFile + ".lock", revokedFile, "listeners.nk"} {
		if uid, _, err := statefile.Owner(filepath.Join(a.dir, name)); err != nil || uid != nobody {
			t.Errorf("%s is of user %d: %v", name, uid, err)
		}
	}
}
