package record

import (
	"context"
	"errors"
	"strings"
)

// Last and LastFailed are words for runs.
const (
	Last       = "last"
	LastFailed = "last-failed"
)

// Choose finds the run that a word names: by its id or the beginning of one, "last" or "last-failed"; the latter skip
// runs of keepers. The error is a *MissingError or an *AmbiguousError if the word names none or several.
func Choose(ctx context.Context, s Store, word string) (Entry, error) {
	if word == Last || word == LastFailed {
		found, err := s.List(ctx, Filter{Failed: word == LastFailed, Persons: true, Limit: 1})
		if err != nil {
			return Entry{}, err
		}
		if len(found.Entries) == 0 {
			return Entry{}, &MissingError{Run: word}
		}
		return s.Find(ctx, found.Entries[0].Head.Run)
	}
	var missing *MissingError
	if e, err := s.Find(ctx, word); !errors.As(err, &missing) {
		return e, err
	}
	all, err := s.List(ctx, Filter{})
	if err != nil || word == "" {
		return Entry{}, orMissing(err, word)
	}
	var names []string
	for _, e := range all.Entries {
		if strings.HasPrefix(e.Head.Run, word) {
			names = append(names, e.Head.Run)
		}
	}
	switch len(names) {
	case 0:
		return Entry{}, &MissingError{Run: word}
	case 1:
		return s.Find(ctx, names[0])
	}
	return Entry{}, &AmbiguousError{Begin: word, Runs: names}
}

func orMissing(err error, word string) error {
	if err != nil {
		return err
	}
	return &MissingError{Run: word}
}
