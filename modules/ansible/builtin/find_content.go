package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"hark/modules/ansible/builtin/internal/encodings"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hasContent searches the file. One that cannot be read has nothing; neither has one that is no text, if its encoding is not given.
func (f *finder) hasContent(path string) (bool, error) {
	switch {
	case f.contains == nil:
		return true, nil
	case f.Encoding != nil:
		return f.hasEncoded(path, *f.Encoding)
	case f.Whole:
		raw, err := os.ReadFile(path)
		return err == nil && utf8.Valid(raw) && f.found(string(raw)), nil
	}
	file, err := os.Open(path)
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
	_, ascii, err := encodings.Of(name)
	if err != nil {
		return false, errors.New("unknown encoding: " + name)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return false, nil
	}
	text, err := encodings.Decode(string(raw), name)
	foreign := func(r rune) bool { return r == utf8.RuneError || ascii && r > unicode.MaxASCII }
	if err != nil || strings.ContainsFunc(text, foreign) {
		return false, fmt.Errorf("Failed to read the file %s due to an encoding error. current encoding: %s", path, name) //lint:ignore ST1005 the words that users see
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
