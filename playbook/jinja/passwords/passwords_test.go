package passwords

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"hark/modules/py/crypt"
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
		{"supersecure", Options{}, "passlib does not support 'supersecure' algorithm"},
		{"sha512", Options{Salt: "a b"}, "Could not hash the secret.. invalid characters in sha512_crypt salt"},
		{"sha512", Options{Salt: "12345678901234567"},
			"Could not hash the secret.. salt too large (sha512_crypt requires <= 16 chars)"},
		{"md5", Options{SaltSize: 17}, "Could not hash the secret.. md5_crypt: salt_size (17) above max_salt_size (8)"},
		{"sha512", Options{SaltSize: -4}, "Could not hash the secret.. sha512_crypt: salt_size (-4) below min_salt_size (0)"},
		{"bcrypt", Options{Salt: "12345678901234567890123"},
			"Could not hash the secret.. salt too large (bcrypt requires exactly 22 chars)"},
		{"bcrypt", Options{Rounds: 32},
			"Could not hash the secret.. bcrypt: min_desired_rounds (32) is too large, cannot be more than 31"},
		{"sha512", Options{Rounds: 10},
			"Could not hash the secret.. sha512_crypt: min_desired_rounds (10) is too low, must be at least 1000"},
		{"md5", Options{Rounds: 10}, "MinimalHandler.using() got an unexpected keyword argument 'rounds'"},
	} {
		if got, err := Hash(t.Context(), "x", c.scheme, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%s %+v: %s, %v; want %s", c.scheme, c.o, got, err, c.want)
		}
	}
}

func TestNewSaltsDiffer(t *testing.T) {
	a, errA := Hash(t.Context(), "x", "sha512", Options{Rounds: 1000})
	b, errB := Hash(t.Context(), "x", "sha512", Options{Rounds: 1000})
	if errA != nil || errB != nil || a == b || len(a) != 118 {
		t.Errorf("%s, %v; %s, %v", a, errA, b, errB)
	}
}

func TestHashEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		scheme string
		rounds int
	}{{"sha512", crypt.MaxRounds}, {"bcrypt", 31}} {
		if _, err := Hash(ctx, "x", c.scheme, Options{Rounds: c.rounds}); err != context.Canceled {
			t.Errorf("%s: %v", c.scheme, err)
		}
	}
}
