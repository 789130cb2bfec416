package passwords

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestHashesAreThoseOfCrypt(t *testing.T) {
	data, err := os.ReadFile("testdata/crypt.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		f := strings.Split(line, "\t")
		rounds, err := strconv.Atoi(f[3])
		if err != nil {
			t.Fatal(err)
		}
		got, err := Hash(t.Context(), f[0], f[1], Options{Salt: f[2], Rounds: rounds})
		if err != nil || got != f[4] {
			t.Errorf("%s of %q: %s, %v; want %s", f[1], f[0], got, err, f[4])
		}
	}
}

func TestHashTellsWhatItCannotDo(t *testing.T) {
	for _, c := range []struct {
		scheme string
		o      Options
		want   string
	}{
		{"supersecure", Options{}, "crypt.crypt does not support 'supersecure' algorithm"},
		{"sha512", Options{Salt: "a b"}, "invalid characters in salt"},
		{"sha512", Options{Salt: "12345678901234567"}, "invalid salt size"},
		{"md5", Options{SaltSize: 1 << 40}, "invalid salt size"},
		{"bcrypt", Options{Salt: "short"}, "invalid salt size"},
		{"bcrypt", Options{Rounds: 32}, "Could not hash the secret."},
	} {
		if got, err := Hash(t.Context(), "x", c.scheme, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%s %+v: %s, %v; want %s", c.scheme, c.o, got, err, c.want)
		}
	}
}

func TestNewSaltsDiffer(t *testing.T) {
	a, errA := Hash(t.Context(), "x", "sha512", Options{})
	b, errB := Hash(t.Context(), "x", "sha512", Options{})
	if errA != nil || errB != nil || a == b || len(a) != 106 {
		t.Errorf("%s, %v; %s, %v", a, errA, b, errB)
	}
}

func TestHashEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		scheme string
		rounds int
	}{{"sha512", maxShaRounds}, {"bcrypt", 31}} {
		if _, err := Hash(ctx, "x", c.scheme, Options{Rounds: c.rounds}); err != context.Canceled {
			t.Errorf("%s: %v", c.scheme, err)
		}
	}
}
