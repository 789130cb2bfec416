package builtin

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"hark/modules/internal/hostfs"
	"hark/modules/py/codecs"
)

// hasContent searches the file. One that cannot be read has nothing; neither has one that is no text, if its encoding
// is not given.
func (f *finder) hasContent(path string) (bool, error) {
	switch {
	case f.uncontained != nil:
		return false, f.uncontained
	case f.contains == nil:
		return true, nil
	case f.Encoding != nil:
		return f.hasEncoded(path, *f.Encoding)
	case f.Whole:
		raw, err := hostfs.ReadFile(path)
		return err == nil && utf8.Valid(raw) && f.found(universalNewlines(string(raw))), nil
	}
	file, err := hostfs.Open(path)
	if err != nil {
		return false, nil
	}
	defer file.Close()
	return f.hasLine(file), nil
}

// hasLine searches a file line by line. As Python does, it decodes pieces of 8 KiB: bytes that are no text hide the
// lines of their piece, those before them too.
func (f *finder) hasLine(file io.Reader) bool {
	var carry []byte
	var begun strings.Builder // of a line
	piece := make([]byte, 8192)
	for {
		n, err := io.ReadFull(file, piece)
		raw, cut := append(carry, piece[:n]...), n+len(carry)
		if err == nil {
			cut = wholeText(raw)
		}
		if !utf8.Valid(raw[:cut]) {
			return false
		}
		text := universalNewlines(string(raw[:cut]))
		carry = slices.Clone(raw[cut:])
		for head, rest, more := strings.Cut(text, "\n"); more; head, rest, more = strings.Cut(text, "\n") {
			begun.WriteString(head + "\n")
			if f.found(begun.String()) {
				return true
			}
			begun.Reset()
			text = rest
		}
		begun.WriteString(text)
		if err != nil {
			return begun.Len() > 0 && f.found(begun.String())
		}
	}
}

// wholeText returns how much of a piece of text can be decoded: no half of a character, and no CR that may have an LF.
func wholeText(raw []byte) int {
	end := len(raw)
	for k := 1; k <= min(utf8.UTFMax-1, end); k++ {
		if utf8.RuneStart(raw[end-k]) {
			if !utf8.FullRune(raw[end-k:]) {
				return end - k
			}
			break
		}
	}
	if end > 0 && raw[end-1] == '\r' {
		return end - 1
	}
	return end
}

func (f *finder) found(text string) bool {
	ok, err := f.contains.Matches(text)
	return err == nil && ok
}

// hasEncoded searches a file in an encoding; what is not in it ends the search in this path.
func (f *finder) hasEncoded(path, name string) (bool, error) {
	if _, err := codecs.Decode(nil, name); err != nil {
		return false, err // nobody knows it, whether the file can be read or not
	}
	raw, err := hostfs.ReadFile(path)
	if err != nil {
		return false, nil
	}
	text, err := codecs.DecodeStrict(raw, name)
	if err != nil {
		//lint:ignore ST1005 the words that users see
		return false, fmt.Errorf("Failed to read the file %s due to an encoding error. current encoding: %s", path, name)
	}
	text = universalNewlines(text)
	if f.Whole {
		return f.found(text), nil
	}
	for line := range strings.Lines(text) {
		if f.found(line) {
			return true, nil
		}
	}
	return false, nil
}
