// Package mask hides secrets in what is shown, as ansible-core 2.22 does: vaults, passwords and the values of no_log
// arguments. Tasks still read them.
package mask

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"hark/modules/py/value"
)

// Placeholder replaces a secret. Adjacent and overlapping secrets share one.
const Placeholder = "$REDACTED$"

// Lengths in characters, of ansible-core 2.22.0b2 (module_utils/_internal/_secrets.py). A text shorter than MinLength
// is no secret. One of at most maxShort is hidden only as a separate word. Of one longer than maxLength only the
// beginning counts.
const (
	MinLength = 4
	maxShort  = 6
	maxLength = 65536
)

// Trim are the characters that are cut off at the ends of a secret.
const Trim = " \t\r\n"

// anchor is how many bytes of a secret the search compares first.
const anchor = 4

// Masker knows secrets. The zero value and nil know none. It is safe for concurrent use.
type Masker struct {
	known atomic.Bool // there is any secret

	mu      sync.RWMutex
	secrets map[string]bool
	// forms are the secrets, plain and as in JSON, by their first bytes; longest first.
	forms map[uint32][]string
}

// Add makes texts secrets, and returns those that were not before. It leaves out those that are too short.
func (m *Masker) Add(texts ...string) (fresh []string) {
	if m == nil {
		return nil
	}
	for _, text := range texts {
		if text = trimmed(text); text != "" && m.add(text) {
			fresh = append(fresh, text)
		}
	}
	return fresh
}

// trimmed returns the secret part of a text, "" if that is too short.
func trimmed(text string) string {
	text = strings.Trim(text, Trim)
	n := 0
	for i := range text {
		if n++; n > maxLength {
			return text[:i]
		}
	}
	if n < MinLength {
		return ""
	}
	return text
}

func (m *Masker) add(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secrets[text] {
		return false
	}
	if m.secrets == nil {
		m.secrets, m.forms = map[string]bool{}, map[uint32][]string{}
	}
	m.secrets[text] = true
	for _, form := range []string{text, inJSON(text, true), inJSON(text, false)} {
		key := binary.LittleEndian.Uint32([]byte(form[:anchor]))
		if bucket := m.forms[key]; !slices.Contains(bucket, form) {
			at, _ := slices.BinarySearchFunc(bucket, form, func(x, y string) int { return len(y) - len(x) })
			m.forms[key] = slices.Insert(bucket, at, form)
		}
	}
	m.known.Store(true)
	return true
}

// inJSON returns a text as it stands between the quotes of JSON.
func inJSON(text string, ascii bool) string {
	quoted := value.JSONText(value.Str(text), value.JSONOptions{ASCII: ascii})
	return quoted[1 : len(quoted)-1]
}

// Text returns s with Placeholder in place of secrets.
func (m *Masker) Text(s string) string { return m.TextAs(s, Placeholder) }

// TextAs is Text with another placeholder.
func (m *Masker) TextAs(s, placeholder string) string {
	runs := m.find(s)
	if len(runs) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, r := range runs {
		b.WriteString(s[at:r.start])
		b.WriteString(placeholder)
		at = r.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// Holds reports whether s, a text or JSON, may contain a secret.
func (m *Masker) Holds(s []byte) bool {
	if m == nil || !m.known.Load() {
		return false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	found := false
	each(m, s, func(run) bool { found = true; return false })
	return found
}

// run is a range of a text, in bytes.
type run struct{ start, end int }

// each calls f with the ranges of forms in s by their beginning, the longest first, until f returns false. It needs mu.
func each[T string | []byte](m *Masker, s T, f func(run) bool) {
	for at := 0; at+anchor <= len(s); at++ {
		key := uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
		for _, form := range m.forms[key] {
			end := at + len(form)
			if end <= len(s) && string(s[at:end]) == form && !f(run{at, end}) {
				return
			}
		}
	}
}

// find returns the ranges to hide. Adjacent and overlapping ones become one, which is hidden however short its parts
// are. A range that is as long as one secret is hidden if that secret, or one within it, would be by itself.
func (m *Masker) find(s string) []run {
	if m == nil || !m.known.Load() {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var runs []run
	hide := false // the last one
	end := func() {
		if len(runs) > 0 && !hide {
			runs = runs[:len(runs)-1]
		}
	}
	each(m, s, func(r run) bool {
		switch last := len(runs) - 1; {
		case last < 0 || r.start > runs[last].end:
			end()
			runs, hide = append(runs, r), counts(s, r)
		case r.end > runs[last].end:
			runs[last].end, hide = r.end, true
		case !hide:
			hide = counts(s, r)
		}
		return true
	})
	end()
	return runs
}

// counts reports whether a secret is hidden by itself: it is long, or a word.
func counts(s string, r run) bool {
	if utf8.RuneCountInString(s[r.start:r.end]) > maxShort {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:r.start])
	after, _ := utf8.DecodeRuneInString(s[r.end:])
	return (r.start == 0 || !wordly(before)) && (r.end == len(s) || !wordly(after))
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
