package builtin

import (
	"bufio"
	"fmt"
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
		return err == nil && utf8.Valid(raw) && f.found(string(raw)), nil
	}
	file, err := hostfs.Open(path)
	if err != nil {
		return false, nil
	}
	defer file.Close()
	r := bufio.NewReader(file)
	for {
		line, err := r.ReadString('\n')
		if !utf8.ValidString(line) {
			return false, nil
		}
		if line != "" && f.found(line) {
			return true, nil
		}
		if err != nil {
			return false, nil
		}
	}
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
