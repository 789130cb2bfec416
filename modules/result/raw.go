package result

import "bytes"

// Raw is the JSON of a result for readers who do not decode it: most results need no more. Its answers may be about
// something within the result.
type Raw []byte

// Has reports whether there may be an entry with a name.
func (r Raw) Has(name string) bool { return bytes.Contains(r, []byte(`"`+name+`"`)) }

// Verbose reports whether it is marked to be shown whole.
func (r Raw) Verbose() bool { return bytes.Contains(r, []byte(`"`+verbose+`":true`)) }

// Labelled reports whether something else is shown in place of its item.
func (r Raw) Labelled() bool { return r.Has(label) }

// MayHide reports whether it may be marked as no_log. Most say that they are not.
func (r Raw) MayHide() bool {
	for mark := []byte(`"` + noLog + `"`); ; {
		_, rest, found := bytes.Cut(r, mark)
		if !found {
			return false
		}
		if r = bytes.TrimLeft(rest, ": "); !bytes.HasPrefix(r, []byte("false")) {
			return true
		}
	}
}

// Displayed reports whether a key is that of a mark which views read even where they show nothing but the status.
func Displayed(key string) bool {
	switch key {
	case noLog, label, ofItem, verbose, quiet, delegated, notices:
		return true
	}
	return false
}
