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

// checked are the bodies in which somebody says what he is called and what he has. They are looked at where every
// body enters, in Decode, so that no reader has to: what is in them ends in files, in lines of lists and in logs.
type checked interface{ check() error }

// Decode reads a body and looks at what it says of its sender.
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

// maxWord is how many characters a version, a platform or an id may have, maxWords how many of them a list.
const (
	maxWord  = 128
	maxWords = 1024
)

// nameForm counts no letters: compiled for so many of them it is 10 MB in every process.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]*$`) })

// CheckName returns what is wrong with an agent's name. A name that means something to Ansible where hosts are named
// would take what is meant for others: the controller itself, all hosts, a group of hosts or the host at an address.
func CheckName(name string) error {
	_, notAddress := netip.ParseAddr(name)
	switch word := strings.ToLower(name); {
	case notAddress == nil:
		return fmt.Errorf("%.300q cannot be the name of an agent: it is an address. Give the host a name, and its address with ansible_host", name)
	case word == "localhost", word == "all", word == "ungrouped":
		return fmt.Errorf("%.300q cannot be the name of an agent: to Ansible it is not the name of one host", name)
	case !nameForm().MatchString(name), utf8.RuneCountInString(name) > 253:
		return fmt.Errorf("%.300q cannot be the name of an agent: it must be up to 253 letters, digits and _ . @ + -", name)
	}
	return nil
}

// CheckWords returns which of some texts is not one short word: no white space, nothing that a screen would not show.
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

// checkXKey reports whether a text is a public curve key; who has said nothing yet has none.
func checkXKey(text string) error {
	if text != "" && !nkeys.IsValidPublicCurveKey(text) {
		return fmt.Errorf("%.300q is not a public curve key", text)
	}
	return nil
}

// all is the first error of several checks.
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
	return all(CheckWords("id, version or platform", h.ID, h.Version, h.OS, h.Arch, h.Boot), CheckWords("runs", h.Runs...), CheckWords("orphans", h.Orphans...), checkXKey(h.XKey))
}

func (a *Alive) check() error {
	return all(checkReasons(a.Refused), checkReasons(a.Lately), a.Hello.check())
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
	if len(b.Jobs) > MostTold {
		return fmt.Errorf("it names more than %d jobs", MostTold)
	}
	for _, j := range b.Jobs {
		if err := CheckWords("job", j.ID, j.Run, j.State); err != nil {
			return err
		}
	}
	return all(checkReasons(b.Refused), checkReasons(b.Lately))
}

// The name is for the registrar to check, who tells the agent.
func (j *Join) check() error {
	return all(CheckWords("version or platform", j.OS, j.Arch, j.Version), checkXKey(j.XKey))
}

func (t *Trusted) check() error { return CheckWords("operators", t.Operators...) }

// Check returns what is wrong with what an agent says of itself over ssh, where no frame is around it.
func (k *SetupKeys) Check() error {
	if !ValidKey(k.Key) {
		return fmt.Errorf("%.300q is not the key of an agent", k.Key)
	}
	return all(CheckWords("version or platform", k.OS, k.Arch, k.Version), checkXKey(k.XKey))
}
