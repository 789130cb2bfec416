package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"hark/agent/wire"
)

func TestOperatorKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hark", "operator.nk")
	_, err := Load(path)
	var none *NoKeyError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "hark key create") {
		t.Errorf("no key: %v", err)
	}
	made, created, err := LoadOrCreate(path)
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	again, created, err := LoadOrCreate(path)
	if err != nil || created || again.Key != made.Key {
		t.Errorf("the second time: created %v, %v", created, err)
	}
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a key was replaced: %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func TestOperatorKeyThatOthersReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operator.nk")
	if _, err := Create(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod go=") {
		t.Errorf("err = %v", err)
	}
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v", err)
	}
}

func TestFirstKeyOfAnAgentIsKept(t *testing.T) {
	dir := t.TempDir()
	keys := make([]string, 3)
	for i := range keys {
		id, err := wire.NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = id.Key
	}
	known := func() *Known {
		t.Helper()
		k, err := OpenKnown(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := known()
	if err := errors.Join(k.Pin("web1", keys[0]), k.Pin("web1", keys[0]), known().Pin("web2", keys[1])); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedKeyError
	if err := known().Pin("web1", keys[2]); !errors.As(err, &changed) || !strings.Contains(err.Error(), "hark agents remove web1") {
		t.Errorf("another key: %v", err)
	}
	if got := known().Key("web2"); got != keys[1] {
		t.Errorf("what another controller wrote is %q", got)
	}
	if err := k.Forget("web1"); err != nil {
		t.Fatal(err)
	}
	if err := known().Pin("web1", keys[2]); err != nil {
		t.Errorf("after Forget: %v", err)
	}
}

// A line that is none, or a second key for a name, is passed over with a warning: the other agents go on.
func TestRecordOfAgentsOutlivesBadLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, KnownFile)
	keys := make([]string, 2)
	for i := range keys {
		id, err := wire.NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = id.Key
	}
	text := "# agents\nweb1 nonsense\nweb2 " + keys[0] + "\nweb2 " + keys[1] + "\na/b " + keys[1] + "\nthree words " + keys[1] + "\nalone\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var warned []string
	k, err := OpenKnown(dir, func(text string) { warned = append(warned, text) })
	if err != nil {
		t.Fatal(err)
	}
	if len(warned) != 5 || !strings.Contains(warned[0], path+":2 ") || !strings.Contains(warned[1], path+":4 ") {
		t.Errorf("warned %q", warned)
	}
	if k.Key("web2") != keys[0] || k.Key("web1") != "" || k.Key("three") != "" {
		t.Errorf("keys %v", k.keys)
	}
	if err := k.Pin("db1", keys[1]); err != nil {
		t.Fatal(err)
	}
	if again, err := OpenKnown(dir, func(text string) { t.Error(text) }); err != nil || len(again.keys) != 2 {
		t.Errorf("%v, %v", again.keys, err)
	}
}

// Nothing but a name and a key becomes a line.
func TestRecordOfAgentsHasOneLineForEach(t *testing.T) {
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	k, err := OpenKnown(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][2]string{{"zz " + id.Key + "\ndb1", id.Key}, {"db1\n", id.Key}, {"a b", id.Key}, {"", id.Key}, {"#db1", id.Key}, {"db1", "x"}, {"db1", id.Key + "\nx " + id.Key}} {
		if k.Pin(bad[0], bad[1]) == nil || k.Replace(bad[0], bad[1]) == nil {
			t.Errorf("%q was written", bad)
		}
	}
	if _, err := os.Stat(k.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the record is there: %v", err)
	}
}

func TestControllersShareTheRecord(t *testing.T) {
	dir := t.TempDir()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			k, err := OpenKnown(dir, nil)
			if err == nil {
				err = k.Pin("web"+string(rune('a'+i)), id.Key)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	k, err := OpenKnown(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.keys) != 20 {
		t.Errorf("%d of 20 agents are on record", len(k.keys))
	}
}

// Whoever was first is believed, also when two controllers meet an agent at the same time.
func TestKeyThatAnotherControllerPinnedIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	var controllers [2]*Known
	var keys [2]string
	for i := range controllers {
		id, err := wire.NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = id.Key
		if controllers[i], err = OpenKnown(dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := controllers[0].Pin("web1", keys[0]); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedKeyError
	if err := controllers[1].Pin("web1", keys[1]); !errors.As(err, &changed) || changed.Had != keys[0] {
		t.Errorf("the second key: %v", err)
	}
	if err := controllers[1].Pin("web1", keys[0]); err != nil {
		t.Errorf("the first key: %v", err)
	}
}

// A line that was cut off takes no other with it.
func TestRecordOfAgentsGoesOnBehindAnUnfinishedLine(t *testing.T) {
	dir := t.TempDir()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, KnownFile)
	if err := os.WriteFile(path, []byte("web1 "+id.Key+"\nweb2 "+id.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := OpenKnown(dir, func(text string) { t.Error(text) })
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Pin("web3", id.Key); err != nil {
		t.Fatal(err)
	}
	if err := k.Pin("web4", id.Key); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if want := "web1 K\nweb2 K\nweb3 K\nweb4 K\n"; err != nil || strings.ReplaceAll(string(text), id.Key, "K") != want {
		t.Errorf("%q, %v", text, err)
	}
}

// The first contact with a fleet costs the same for each agent, however many there are.
func BenchmarkPin(b *testing.B) {
	id, err := wire.NewIdentity()
	if err != nil {
		b.Fatal(err)
	}
	k, err := OpenKnown(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := k.Pin("host"+strconv.Itoa(i), id.Key); err != nil {
			b.Fatal(err)
		}
	}
}

// A process that stays takes up whom its owner believes meanwhile.
func TestWhoIsBelievedLaterCountsAtOnce(t *testing.T) {
	dir := t.TempDir()
	all, err := OpenBrokers(dir)
	if err == nil {
		err = all.Put(Access{URL: "nats://hub"})
	}
	if err != nil {
		t.Fatal(err)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	b := NewTrustedOperators(dir, "nats://hub", nil)
	if b.Knows(id.Key) {
		t.Error("everybody is believed")
	}
	if err := all.Believe("nats://hub", id.Key); err != nil {
		t.Fatal(err)
	}
	if !b.Knows(id.Key) {
		t.Error("who is believed now is not known")
	}
}

// A key that is gone is not replaced by itself: nobody would obey the new one, and nobody would know why.
func TestALostKeyIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "operator.nk")
	id, created, err := LoadOrCreate(path)
	if err != nil || !created {
		t.Fatal(err)
	}
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.NewUserClaims(id.Key).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := OpenBrokers(dir)
	if err == nil {
		err = brokers.Put(Access{URL: "nats://hub", Token: token})
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var lost *LostKeyError
	if _, _, err := LoadOrCreate(path); !errors.As(err, &lost) || lost.Was != id.Key {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was replaced")
	}
	if _, err := Create(path); err != nil { // when it is meant
		t.Error(err)
	}
}
