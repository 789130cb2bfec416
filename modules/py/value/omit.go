package value

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
)

// Omit is the value of the variable omit: an argument that renders to it is left out. To templates it is a str, with
// a text that nobody can guess. No text of a host's is one, even if it is the same: it would take arguments out of
// tasks.
type Omit struct{}

// Type returns that of its text.
func (Omit) Type() string { return "str" }

// OmitText is the text of Omit. Each process has its own.
var OmitText = sync.OnceValue(func() string {
	const size = 20 // of a SHA-1, as in Ansible
	id := make([]byte, size)
	if _, err := rand.Read(id); err != nil {
		panic(err) // crypto/rand does not return one
	}
	return "__omit_place_holder__" + hex.EncodeToString(id)
})

// IsOmit reports whether v is Omit, or its text as a template has made it of it.
func IsOmit(v Value) bool {
	switch v := v.(type) {
	case Omit:
		return true
	case Str:
		return len(v) > 0 && v[0] == '_' && string(v) == OmitText()
	case Rendered:
		return v.text != "" && v.text[0] == '_' && v.text == OmitText()
	case NativeStr:
		return len(v) > 0 && v[0] == '_' && string(v) == OmitText()
	}
	return false
}
