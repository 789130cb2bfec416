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

// Choose finds the run that a word means: its id or the beginning of one, "last" or "last-failed". The error is a *MissingError or an *AmbiguousError
// where that is why.
func Choose(ctx context.Context, s Store, word string) (Entry, error) {
	if word == Last || word == LastFailed {
		found, err := s.List(ctx, Filter{Failed: word == LastFailed, Limit: 1})
		if err != nil {
			return Entry{}, err
		}
		if len(found.Entries) == 0 {
			return Entry{}, &MissingError{Run: word}
		}
		return found.Entries[0], nil
	}
	var missing *MissingError
	if e, err := s.Find(ctx, word); !errors.As(err, &missing) {
		return e, err
	}
	all, err := s.List(ctx, Filter{})
	if err != nil || word == "" {
		return Entry{}, orMissing(err, word)
	}
	var found []Entry
	var names []string
	for _, e := range all.Entries {
		if strings.HasPrefix(e.Head.Run, word) {
			found, names = append(found, e), append(names, e.Head.Run)
		}
	}
	switch len(found) {
	case 0:
		return Entry{}, &MissingError{Run: word}
	case 1:
		return found[0], nil
	}
	return Entry{}, &AmbiguousError{Begin: word, Runs: names}
}

func orMissing(err error, word string) error {
	if err != nil {
		return err
	}
	return &MissingError{Run: word}
}
