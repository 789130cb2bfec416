package argparse

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// The annotations of flags.
const (
	groupAnnotation   = "group"   // the title
	metavarAnnotation = "metavar" // what the value is called in the usage
	excludeAnnotation = "exclude" // flags of the same word exclude each other
	// longFirstAnnotation: the long name is the one that the usage shows; quietShortAnnotation: the short one is taken
	// and not shown, being of a later Ansible.
	longFirstAnnotation  = "long-first"
	quietShortAnnotation = "quiet-short"
)

// Flags declares flags with what argparse knows of them and pflag does not.
type Flags struct {
	*pflag.FlagSet
	// Group is the title under which the help has the flags that are declared next, "" for the usual one.
	Group string
}

func (f Flags) note(name, key string, values ...string) {
	_ = f.SetAnnotation(name, key, values) // the flag was just declared
}

// meta titles a flag, and names its value.
func (f Flags) meta(name, metavar string) {
	f.note(name, metavarAnnotation, metavar)
	if f.Group != "" {
		f.note(name, groupAnnotation, f.Group)
	}
}

// Text declares a flag with a text.
func (f Flags) Text(p *string, name, short, value, metavar, usage string) {
	f.StringVarP(p, name, short, value, usage)
	f.meta(name, metavar)
}

// Number declares a flag with a number.
func (f Flags) Number(p *int, name, short string, value int, metavar, usage string) {
	f.IntVarP(p, name, short, value, usage)
	f.meta(name, metavar)
}

// Span declares a flag with a duration. Its help says how it is written, and what it is by itself unless that is 0.
func (f Flags) Span(p *time.Duration, name string, def time.Duration, metavar, usage string) {
	usage += ", such as " + spans
	if def != 0 {
		usage += fmt.Sprintf(" (default: %s)", spanText(def))
	}
	f.DurationVar(p, name, def, usage)
	f.meta(name, metavar)
}

// spans are examples of a duration.
const spans = "90s, 5m or 2h"

// spanText returns a duration without the parts that are nothing: 5m, not 5m0s.
func spanText(d time.Duration) string {
	text := d.String()
	for _, rest := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, rest) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// List declares a flag that may be given several times.
func (f Flags) List(p *[]string, name, short, metavar, usage string) {
	f.StringArrayVarP(p, name, short, nil, usage)
	f.meta(name, metavar)
}

// Toggle declares a flag without a value.
func (f Flags) Toggle(p *bool, name, short string, value bool, usage string) {
	f.BoolVarP(p, name, short, value, usage)
	f.meta(name, "")
}

// aliases returns the other names of flags, whichever command has them.
func aliases() map[string]string {
	return map[string]string{
		"key-file": "private-key", "conn-pass-file": "connection-password-file", "inventory-file": "inventory",
		"ask-vault-pass": "ask-vault-password", "vault-pass-file": "vault-password-file",
		"become-pass-file": "become-password-file",
		"changed-only":     "only-changed", "api-key": "token",
	}
}

func normalize(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if to, ok := aliases()[name]; ok {
		name = to
	}
	return pflag.NormalizedName(name)
}

// NewFlags declares flags of a command: in the order of its help, and by all their names.
func NewFlags(fs *pflag.FlagSet) Flags {
	fs.SetNormalizeFunc(normalize)
	fs.SortFlags = false
	return Flags{FlagSet: fs}
}

// Exclusive flags cannot be given together.
func (f Flags) Exclusive(names ...string) {
	for _, name := range names {
		f.note(name, excludeAnnotation, names...)
	}
}

// Count declares a flag that counts how often it is given.
func (f Flags) Count(p *int, name, short, usage string) {
	f.CountVarP(p, name, short, usage)
	f.note(name, metavarAnnotation, "")
}

// LongFirst has the usage show the long name of a flag.
func (f Flags) LongFirst(name string) { f.note(name, longFirstAnnotation, "") }

// QuietShort takes the short name of a flag, which is of a later Ansible, and does not show it.
func (f Flags) QuietShort(name string) { f.note(name, quietShortAnnotation, "") }
