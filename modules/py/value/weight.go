package value

import "bytes"

// What Decode makes of JSON takes more memory than the text, up to forty times as much. These are about the bytes that
// each kind of value takes beside its text, its place in a list or a mapping included.
const (
	weightOfDict = 56
	weightOfList = 32
	weightOfText = 24
	weightOfItem = 24
	weightOfKey  = 60
)

// unsafeTag begins the mapping that stands for a text which is no template: most texts of hosts are such.
var unsafeTag = []byte(`"!u":`)

// Weight is about how many bytes the values take in memory that Decode makes of JSON. It makes none of them, so that
// who reads what others write can refuse it before.
func Weight(text []byte) int {
	n := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			if bytes.HasPrefix(text[i+1:], unsafeTag) {
				i += len(unsafeTag)
				continue
			}
			n += weightOfDict
		case '[':
			n += weightOfList
		case ',':
			n += weightOfItem
		case ':':
			n += weightOfKey
		case '"':
			from := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			n += weightOfText + i - from
		}
	}
	return n
}
