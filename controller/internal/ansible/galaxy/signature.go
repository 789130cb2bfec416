package galaxy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Signing says which signatures of MANIFEST.json are asked for.
type Signing struct {
	// Keyring is a keyring of GnuPG; without one nothing is checked.
	Keyring string
	// Count is how many must be good: a number, or all; with + in front at least one signature must be there.
	Count string
	// Ignore are status codes of GnuPG that do not count.
	Ignore []string
	// Off asks servers for no signatures.
	Off bool
}

var countForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\+)?(?:(\d+)|(all))$`) })

// ValidCount reports whether a text is a number of signatures.
func ValidCount(text string) bool { return countForm().MatchString(text) }

// statusCodes returns the codes of GnuPG that may be ignored, with what they mean.
func statusCodes() []struct{ code, means string } {
	return []struct{ code, means string }{
		{"EXPSIG", "The signature with the keyid is good, but the signature is expired."},
		{"EXPKEYSIG", "The signature with the keyid is good, but the signature was made by an expired key."},
		{"REVKEYSIG", "The signature with the keyid is good, but the signature was made by a revoked key."},
		{"BADSIG", "The signature with the keyid has not been verified okay."},
		{"ERRSIG", "It was not possible to check the signature: the public key is missing, or its kind is unknown."},
		{"NO_PUBKEY", "The public key is not available."},
		{"MISSING_PASSPHRASE", "No passphrase was supplied."},
		{"BAD_PASSPHRASE", "The supplied passphrase was wrong or not given."},
		{"NODATA", "No signature has been found."},
		{"UNEXPECTED", "Something else than a signature has been found."},
		{"ERROR", "GnuPG tells of an error."},
		{"FAILURE", "GnuPG has failed."},
		{"BADARMOR", "The ASCII armor is corrupted."},
		{"KEYEXPIRED", "The key has expired."},
		{"KEYREVOKED", "The used key has been revoked by its owner."},
		{"NO_SECKEY", "The secret key is not available."},
	}
}

// StatusNames returns the codes only.
func StatusNames() []string {
	var out []string
	for _, c := range statusCodes() {
		out = append(out, c.code)
	}
	return out
}

// readSignature returns the text that a source of signatures gives: a URL, file:// too.
func readSignature(ctx context.Context, screen Screen, source string) (string, error) {
	screen.Verbose(4, "Using signature at "+source)
	if path, ok := strings.CutPrefix(source, "file://"); ok {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", failf("Failed to get signature for collection verification from '%s': %v", source, err)
		}
		return string(data), nil
	}
	data, _, err := request{method: "GET", url: source, timeout: patience}.read(ctx)
	if err != nil {
		return "", failf("Failed to get signature for collection verification from '%s': %v", source, err)
	}
	return string(data), nil
}

// verified reports whether a manifest has the signatures that are asked for. It says what is amiss.
func (s Signing) verified(ctx context.Context, screen Screen, name fqcn, manifest string,
	signatures []string) (bool, error) {
	form := countForm().FindStringSubmatch(s.Count)
	if form == nil {
		return false, failf("%s is not a valid signature count value", s.Count)
	}
	strict, all := form[1] != "", form[3] != ""
	wanted, _ := strconv.Atoi(form[2])
	good, bad := 0, []string{}
	for _, one := range signatures {
		complaint, ignored, err := s.verify(ctx, name, manifest, one)
		switch {
		case err != nil:
			return false, err
		case ignored:
			continue
		case complaint != "":
			bad = append(bad, complaint)
		default:
			good++
		}
		if !all && good == wanted {
			break
		}
	}
	why := ""
	switch {
	case strict && good == 0:
		why = "no successful signatures"
	case all && len(bad) > 0:
		why = "some signatures failed"
	case !all && len(signatures) > 0 && good != wanted:
		why = "fewer successful signatures than required"
	}
	if why == "" {
		return true, nil
	}
	screen.Say(fmt.Sprintf("Signature verification failed for '%s': %s", name, why))
	for _, b := range bad {
		screen.Verbose(4, b)
	}
	return false, nil
}

// verify lets GnuPG check one signature. A complaint says why it is not good.
func (s Signing) verify(ctx context.Context, name fqcn, manifest,
	signature string) (complaint string, ignored bool, err error) {
	if !exists(s.Keyring) {
		defer os.Remove(s.Keyring) // GnuPG makes one where none is
	}
	cmd := exec.CommandContext(ctx, "gpg", "--status-fd=1", "--verify", "--batch", "--no-tty", "--no-default-keyring",
		"--keyring="+s.Keyring, "-", manifest)
	cmd.Stdin = strings.NewReader(signature)
	out, err := cmd.Output()
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		return "", false, failf("Failed during GnuPG verification with command '%s': %v", strings.Join(cmd.Args, " "), err)
	}
	var reasons []string
	ignored = true
	for _, line := range strings.Split(string(out), "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		for _, known := range statusCodes() {
			if known.code == f[1] {
				reasons = append(reasons, "    * "+known.means)
				ignored = ignored && slices.Contains(s.Ignore, known.code)
			}
		}
	}
	switch {
	case len(reasons) > 0:
		return fmt.Sprintf("Signature verification failed for '%s' (return code %d):\n%s", name, code,
			strings.Join(slices.Compact(reasons), "\n")), ignored, nil
	case code != 0:
		return fmt.Sprintf("Unexpected error for '%s': GnuPG signature verification failed with the return code %d and "+
			"output %s", name, code, out), false, nil
	}
	return "", false, nil
}
