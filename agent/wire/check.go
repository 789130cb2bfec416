package wire

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nkeys"
)

// checked are the bodies in which a sender says what it is called and what it has. Decode checks them for all readers:
// their words end up in files, in lines of lists and in logs.
type checked interface{ check() error }

// Decode reads a body and checks what it says of its sender.
func Decode(raw []byte, into any) error {
	if s, ok := into.(scanned); !ok || !s.scan(raw) {
		if err := json.Unmarshal(raw, into); err != nil {
			return err
		}
	}
	if b, ok := into.(checked); ok {
		return b.check()
	}
	return nil
}

// maxWord is how many characters a version, a platform or an id may have, maxWords how many of them a list may have.
const (
	maxWord  = 128
	maxWords = 1024
)

// nameForm does not limit the length: a regular expression that counts letters takes 10 MB in every process.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]*$`) })

// CheckName returns what is wrong with an agent's name. It rejects names that mean something else to Ansible: the
// controller itself, all hosts, a group, or the host at an address.
func CheckName(name string) error {
	_, notAddress := netip.ParseAddr(name)
	switch word := strings.ToLower(name); {
	case notAddress == nil:
		return fmt.Errorf("%.300q cannot be the name of an agent: it is an address. Give the host a name, and its address "+
			"with ansible_host", name)
	case word == "localhost", word == "all", word == "ungrouped":
		return fmt.Errorf("%.300q cannot be the name of an agent: to Ansible it is not the name of one host", name)
	case !nameForm().MatchString(name), utf8.RuneCountInString(name) > 253:
		return fmt.Errorf("%.300q cannot be the name of an agent: it must be up to 253 letters, digits and _ . @ + -", name)
	}
	return nil
}

// CheckWords returns an error if a text is not one short word: it may hold no white space and only printable
// characters, at most 128 of them. what names the texts in the error.
func CheckWords(what string, words ...string) error {
	if len(words) > maxWords {
		return fmt.Errorf("it has more than %d %s", maxWords, what)
	}
	for _, w := range words {
		if utf8.RuneCountInString(w) > maxWord || !utf8.ValidString(w) {
			return fmt.Errorf("%.300q is too long for its %s", w, what)
		}
		for _, r := range w {
			if unicode.IsSpace(r) || !unicode.IsPrint(r) {
				return fmt.Errorf("%.300q cannot be its %s", w, what)
			}
		}
	}
	return nil
}

// checkXKey returns an error unless a text is a public curve key or empty.
func checkXKey(text string) error {
	if text != "" && !nkeys.IsValidPublicCurveKey(text) {
		return fmt.Errorf("%.300q is not a public curve key", text)
	}
	return nil
}

// all returns the first error of several checks.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *Hello) check() error {
	if h.Name != "" {
		if err := CheckName(h.Name); err != nil {
			return err
		}
	}
	if h.Hold != nil {
		if err := h.Hold.check(); err != nil {
			return err
		}
	}
	return all(CheckWords("id, version or platform", h.ID, h.Version, h.OS, h.Arch, h.Boot), CheckWords("runs", h.Runs...),
		CheckWords("orphans", h.Orphans...), checkXKey(h.XKey))
}

func (a *Alive) check() error {
	return all(checkReasons(a.Refused), checkReasons(a.RefusedLastHour), a.Hello.check())
}

func checkReasons(counts map[Reason]uint64) error {
	if len(counts) > maxWords {
		return fmt.Errorf("it has more than %d reasons of refusal", maxWords)
	}
	for reason := range counts {
		if err := CheckWords("reasons of refusal", string(reason)); err != nil {
			return err
		}
	}
	return nil
}

func (b *Beat) check() error {
	if len(b.Jobs) > MaxBeatJobs {
		return fmt.Errorf("it names more than %d jobs", MaxBeatJobs)
	}
	for _, j := range b.Jobs {
		if err := CheckWords("job", j.ID, j.Run, j.State); err != nil {
			return err
		}
	}
	return all(checkReasons(b.Refused), checkReasons(b.RefusedLastHour))
}

// The registrar checks the name and tells the agent.
func (j *Join) check() error {
	return all(CheckWords("version or platform", j.OS, j.Arch, j.Version), checkXKey(j.XKey))
}

func (t *Trusted) check() error { return CheckWords("operators", t.Operators...) }

// Check returns what is wrong with what an agent says of itself over ssh, where no frame surrounds it.
func (k *SetupKeys) Check() error {
	if !ValidKey(k.Key) {
		return fmt.Errorf("%.300q is not the key of an agent", k.Key)
	}
	return all(CheckWords("version or platform", k.OS, k.Arch, k.Version), checkXKey(k.XKey))
}
