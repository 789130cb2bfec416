// Package xmltree reads, searches, changes and writes XML documents as lxml does, with which Ansible's module xml works: what is written
// differs from what was read in nothing but what lxml changes too.
package xmltree

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/beevik/etree"
)

// Tree is an XML document.
type Tree struct{ doc *etree.Document }

// Options change how a document is read.
type Options struct {
	// NoBlanks drops the white space between elements.
	NoBlanks bool
	// PlainCDATA makes text of CDATA sections.
	PlainCDATA bool
}

// Parse reads a document. Its errors tell the line.
func Parse(raw []byte, o Options) (*Tree, error) {
	text, err := toUTF8(raw)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, said("Document is empty, line 1, column 1")
	}
	if err := wellFormed(text); err != nil {
		return nil, err
	}
	doc := etree.NewDocument()
	doc.ReadSettings = etree.ReadSettings{PreserveCData: !o.PlainCDATA, PreserveDuplicateAttrs: true}
	if err := doc.ReadFromString(spaced(text)); err != nil {
		return nil, err
	}
	t := &Tree{doc}
	if err := t.check(); err != nil {
		return nil, err
	}
	if o.NoBlanks {
		dropBlanks(t.Root(), false)
	}
	return t, nil
}

// wellFormed reads a document once for its errors, since etree does not tell where they are.
func wellFormed(text string) error {
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	for {
		_, err := dec.Token()
		var syntax *xml.SyntaxError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &syntax):
			return fmt.Errorf("%s, line %d", syntax.Msg, syntax.Line)
		case err != nil:
			return err
		}
	}
}

// Root is the outermost element.
func (t *Tree) Root() *etree.Element { return t.doc.Root() }

// Copy is a document like this one.
func (t *Tree) Copy() *Tree { return &Tree{t.doc.Copy()} }

// said is an error in the words of libxml2 or lxml.
func said(format string, a ...any) error { return fmt.Errorf(format, a...) }

var encodingPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)
})

// toUTF8 is the text of a document in UTF-8, ASCII or Latin-1.
func toUTF8(raw []byte) (string, error) {
	text := strings.TrimPrefix(string(raw), "\ufeff")
	match := encodingPattern().FindStringSubmatch(text)
	if match == nil {
		match = []string{"", "utf-8"}
	}
	switch name := strings.ToLower(match[1]); name {
	case "utf-8", "utf8", "us-ascii", "ascii":
		if !utf8.ValidString(text) {
			return "", said("Input is not proper UTF-8, indicate encoding !")
		}
		return text, nil
	case "iso-8859-1", "latin1", "latin-1":
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		return string(runes), nil
	}
	return "", said("Unsupported encoding %s", match[1])
}

// spaced puts a space for each line break and tab in the values of attributes, as XML wants it; Go's decoder leaves them.
func spaced(text string) string {
	var out strings.Builder
	skips := []struct{ from, to string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}}
next:
	for text != "" {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		text = text[at:]
		for _, s := range skips {
			if strings.HasPrefix(text, s.from) {
				end := strings.Index(text, s.to)
				if end < 0 {
					break next
				}
				out.WriteString(text[:end+len(s.to)])
				text = text[end+len(s.to):]
				continue next
			}
		}
		tag := tagLength(text)
		out.WriteString(valueSpaces().ReplaceAllStringFunc(text[:tag], func(value string) string { return breaks.Replace(value) }))
		text = text[tag:]
	}
	return out.String() + text
}

var (
	valueSpaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"|'[^']*'`) })
	breaks      = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")
)

// tagLength is where a tag ends.
func tagLength(text string) int {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(text)
}

// check finds what Go's decoder lets pass and lxml does not.
func (t *Tree) check() error {
	elements := 0
	for _, c := range t.doc.Child {
		switch c := c.(type) {
		case *etree.Element:
			elements++
		case *etree.CharData:
			if !c.IsWhitespace() {
				return said("Start tag expected, '<' not found")
			}
		}
	}
	if elements != 1 {
		return said("Extra content at the end of the document")
	}
	return checkNames(t.Root())
}

func checkNames(e *etree.Element) error {
	if _, ok := lookup(e, e.Space); !ok {
		return said("Namespace prefix %s on %s is not defined", e.Space, e.Tag)
	}
	seen := map[string]bool{}
	for _, a := range e.Attr {
		if _, ok := lookup(e, a.Space); !ok && a.Space != "xmlns" {
			return said("Namespace prefix %s for %s on %s is not defined", a.Space, a.Key, e.Tag)
		}
		if seen[a.FullKey()] {
			return said("Attribute %s redefined", a.FullKey())
		}
		seen[a.FullKey()] = true
	}
	for _, c := range e.ChildElements() {
		if err := checkNames(c); err != nil {
			return err
		}
	}
	return nil
}

// dropBlanks drops white space that stands between elements, by libxml2's rule: not where it is all that an element holds, nor in an element
// that had text before, nor where xml:space says that it shall stay.
func dropBlanks(e *etree.Element, preserve bool) {
	switch e.SelectAttrValue("xml:space", "") {
	case "preserve":
		preserve = true
	case "default":
		preserve = false
	}
	kept := make([]etree.Token, 0, len(e.Child))
	mixed := preserve || len(e.Child) == 1
	for _, c := range e.Child {
		text, ok := c.(*etree.CharData)
		afterText := len(kept) > 0 && (isText(kept[0]) || isText(kept[len(kept)-1]))
		if ok && !text.IsCData() {
			if text.IsWhitespace() && !mixed && !afterText {
				continue
			}
			mixed = true
		}
		kept = append(kept, c)
	}
	e.Child = kept
	e.ReindexChildren()
	for _, c := range e.ChildElements() {
		dropBlanks(c, preserve)
	}
}

func isText(t etree.Token) bool {
	_, ok := t.(*etree.CharData)
	return ok
}
