// Package pycsv reads tables of text as Python's csv module does.
package pycsv

import (
	"fmt"
	"unicode/utf8"
)

// Dialect is how fields are parted and quoted with ".
type Dialect struct {
	Delimiter rune
	// SkipInitialSpace drops spaces after a delimiter.
	SkipInitialSpace bool
	// Strict refuses what is quoted badly.
	Strict bool
}

// Delimiter returns the one character that a delimiter must be.
func Delimiter(s string) (rune, error) {
	if utf8.RuneCountInString(s) != 1 {
		return 0, fmt.Errorf(`"delimiter" must be a 1-character string`)
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r, nil
}

// state is where in a field the reader is.
type state int

const (
	fieldStart state = iota
	inField
	inQuotes
	afterQuote // a quote within quotes: the end, or the first of two
	lineEnd    // a carriage return
)

// reader reads one text.
type reader struct {
	d     Dialect
	state state
	field []rune
	row   []string
	rows  [][]string
}

// Read returns the rows of a text. An empty line is a row without fields.
func Read(text string, d Dialect) ([][]string, error) {
	r := &reader{d: d}
	begun := false
	for _, c := range text {
		begun = true
		if c == '\n' && r.state != inQuotes {
			r.finish()
			begun = false
			continue
		}
		if err := r.take(c); err != nil {
			return nil, err
		}
	}
	if begun {
		if r.state == inQuotes && r.d.Strict {
			return nil, fmt.Errorf("unexpected end of data")
		}
		r.finish()
	}
	return r.rows, nil
}

func (r *reader) save() {
	r.row = append(r.row, string(r.field))
	r.field = r.field[:0]
}

// endField saves the last field of a row, unless the row is empty or has ended.
func (r *reader) endField() {
	if r.state != lineEnd && (len(r.row) > 0 || len(r.field) > 0 || r.state != fieldStart) {
		r.save()
	}
}

func (r *reader) finish() {
	r.endField()
	r.rows = append(r.rows, r.row)
	r.row, r.field, r.state = nil, nil, fieldStart
}

// take takes one character that does not end the row.
func (r *reader) take(c rune) error {
	switch {
	case r.state == lineEnd && c != '\r':
		return fmt.Errorf("new-line character seen in unquoted field - do you need to open the file in universal-newline " +
			"mode?")
	case r.state == inQuotes && c == '"':
		r.state = afterQuote
	case r.state == inQuotes:
		r.field = append(r.field, c)
	case r.state == afterQuote && c == '"':
		r.field, r.state = append(r.field, c), inQuotes
	case c == '\r':
		r.endField()
		r.state = lineEnd
	case c == r.d.Delimiter:
		r.save()
		r.state = fieldStart
	case r.state == afterQuote && r.d.Strict:
		return fmt.Errorf("'%c' expected after '\"'", r.d.Delimiter)
	case r.state == fieldStart && c == '"':
		r.state = inQuotes
	case r.state == fieldStart && c == ' ' && r.d.SkipInitialSpace:
	default:
		r.field, r.state = append(r.field, c), inField
	}
	return nil
}
