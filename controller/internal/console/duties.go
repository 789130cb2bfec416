package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/runs/record"
)

// Words are what trusted keepers published, and what of it could not be read.
type Words struct {
	All      []dutystate.Words
	Warnings []string
	// Idle has the keepers that nobody runs, by public key, and since when that is known.
	Idle map[string]time.Time
}

// words returns those of all keepers.
func (s fleetPages) words(ctx context.Context) (Words, error) {
	if s.Duties == nil {
		return Words{}, errNoFleet
	}
	return s.duties.get(s.Now, func() (Words, error) { return s.Duties(ctx) })
}

// dutyAt is a duty with the states of its hosts.
type dutyAt struct {
	dutystate.Definition
	states []dutystate.State
}

// inForce returns the duties in force, by name.
func inForce(all []dutystate.Words) []dutyAt {
	var found []dutyAt
	for _, w := range all {
		for _, d := range w.Definitions {
			if d.Gone {
				continue
			}
			x := dutyAt{Definition: d}
			for _, st := range w.States {
				if st.Duty == d.Name {
					x.states = append(x.states, st)
				}
			}
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(a, b dutyAt) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// dutyRow is a duty in the list.
type dutyRow struct {
	Name   string     `json:"duty"`
	Path   string     `json:"-"`
	State  sign       `json:"state"`
	Mode   string     `json:"mode"`
	Play   string     `json:"play"`
	Every  string     `json:"every"`
	Counts []count    `json:"hosts"`
	Share  []segment  `json:"-"`
	Blind  string     `json:"blind,omitempty"`
	Commit string     `json:"commit"`
	Next   *time.Time `json:"next,omitempty"`
	Note   string     `json:"note,omitempty"`
}

func (s fleetPages) dutyList(w http.ResponseWriter, r *http.Request) error {
	var b struct {
		Rows  []dutyRow `json:"duties"`
		Empty empty     `json:"-"`
	}
	p := page{Title: "Duties", Nav: "Duties", Refresh: 30}
	all, err := s.words(r.Context())
	switch {
	case errors.Is(err, errNoFleet):
		b.Empty = empty{
			Big: "There are no duties to show",
			Small: "Plays that hosts are held to, and how they stand, are shown here once this console may read at a broker. " +
				noBroker, Command: "hark console use access.json",
		}
	case err != nil:
		return fmt.Errorf("the duties cannot be shown: %w", err)
	default:
		b.Empty = empty{Big: "No keeper holds hosts to anything yet",
			Small:   "Write the plays that hosts are to be held to into duties.yml, and start a keeper:",
			Command: "hark keeper run --project ."}
		if len(all.Warnings) > 0 { // there are duties that this console cannot read
			b.Empty = empty{Big: "No duties that can be read"}
		}
		for _, d := range inForce(all.All) {
			b.Rows = append(b.Rows, s.dutyRow(&d))
		}
	}
	p.Warnings, p.Body = append(keeperNotes(all.All), all.Warnings...), b
	return s.show(w, r, "duties", p)
}

func (s fleetPages) dutyRow(d *dutyAt) dutyRow {
	x := dutyRow{Name: d.Name, Path: dutyPath(d), State: s.dutySign(d), Mode: string(d.Mode), Play: d.Play, Every: d.Every,
		Commit: d.Commit}
	x.Counts, x.Share = stateCounts(d)
	if blind, of, _ := dutystate.Blindness(d.states, d.Name); blind > 0 {
		x.Blind = fmt.Sprintf("%d of %d tasks", blind, of)
	}
	if d.Paused == nil && !d.Next.IsZero() {
		x.Next = &d.Next
	}
	x.Note = s.dutyNote(d)
	return x
}

// dutyPath returns the address of a duty. It names the keeper too, since two keepers may have a duty of one name.
func dutyPath(d *dutyAt) string {
	return "/duties/" + url.PathEscape(d.Name) + "?" + url.Values{"keeper": {d.Keeper[:min(len(d.Keeper), 12)]}}.Encode()
}

// dutySign returns the state of a duty itself.
func (s fleetPages) dutySign(d *dutyAt) sign {
	switch {
	case d.Paused != nil:
		return sign{"paused", "‖", "changed"}
	case d.Stale != "":
		return sign{"stale", "!", "changed"}
	case d.Late(s.Now()):
		return sign{"silent", "?", "lost"}
	}
	n := dutystate.Count(d.states, d.Name)
	switch {
	case n[dutystate.Failed] > 0:
		return sign{"failed", "✗", "failed"}
	case n[dutystate.Drifted] > 0:
		return sign{"drifted", "≠", "changed"}
	}
	if d.Later != nil && d.Later.Ended.IsZero() {
		return sign{"waits", "…", "running"}
	}
	if d.Later != nil && len(d.Later.Expired) > 0 {
		return sign{"expired", "?", "lost"}
	}
	return calmSign(n, d.Count)
}

// calmSign returns the state of a duty without problems: it is kept only where every host is.
func calmSign(n map[dutystate.Kind]int, hosts int) sign {
	switch {
	case n[dutystate.Absent] > 0:
		return stateSign(dutystate.Absent)
	case hosts == 0:
		return sign{"no hosts", "–", "skipped"}
	case n[dutystate.Kept]+n[dutystate.Mended]+n[dutystate.Held] < hosts:
		return stateSign(dutystate.Never)
	case n[dutystate.Kept]+n[dutystate.Mended] == 0:
		return stateSign(dutystate.Held)
	}
	return sign{"kept", "✓", "ok"}
}

// dutyNote returns what a person should know of a duty.
func (s fleetPages) dutyNote(d *dutyAt) string {
	var say []string
	if d.Paused != nil {
		say = append(say, "paused: "+d.Paused.Why)
	}
	if d.Late(s.Now()) {
		say = append(say, "its keeper has said nothing since "+when(d.At)+": is it running?")
	}
	if d.Stale != "" {
		say = append(say, "a newer commit is not in force: "+d.Stale)
	}
	if d.Before != "" {
		say = append(say, fmt.Sprintf("stage %d, the other hosts have %s", d.Stage+1, d.Before))
	}
	if d.Later != nil {
		say = append(say, laterNote(d.Later))
	}
	return brief(strings.Join(say, "; "))
}

// laterNote describes a play that was put off for hosts that were away.
func laterNote(l *dutystate.Later) string {
	text := fmt.Sprintf("put off for %s, until %s", plural(len(l.Hosts), "host"), when(l.Until))
	if !l.Ended.IsZero() {
		text = fmt.Sprintf("was put off for %s, over since %s", plural(len(l.Hosts), "host"), when(l.Ended))
	}
	if n := len(l.Expired); n > 0 {
		const named = 5
		text += fmt.Sprintf("; %s did not come back in time: %s", plural(n, "host"),
			strings.Join(record.Fold(l.Expired)[:min(named, len(record.Fold(l.Expired)))], " "))
	}
	return text
}

// keeperNotes describe keepers whose project cannot be read as it is now.
func keeperNotes(all []dutystate.Words) []string {
	var notes []string
	for _, w := range all {
		if w.Report != nil && w.Report.Stale != "" {
			notes = append(notes, brief(fmt.Sprintf("The keeper of %s cannot go on with its newest commit: %s", w.Report.Project,
				w.Report.Stale)))
		}
	}
	return notes
}

// stateCounts returns the hosts of a duty by their state, the bad ones first.
func stateCounts(d *dutyAt) ([]count, []segment) {
	n := dutystate.Count(d.states, d.Name)
	var all []count
	for _, k := range []dutystate.Kind{dutystate.Failed, dutystate.Drifted, dutystate.Absent, dutystate.Held,
		dutystate.Never, dutystate.Mended, dutystate.Kept} {
		if n[k] > 0 {
			all = append(all, count{n[k], string(k), stateClass(k)})
		}
	}
	return all, share(all, max(d.Count, len(d.states)))
}

// stateClass returns the style sheet's class of a state.
func stateClass(k dutystate.Kind) string {
	switch k {
	case dutystate.Failed:
		return "failed"
	case dutystate.Drifted:
		return "changed"
	case dutystate.Absent:
		return "unreachable"
	case dutystate.Mended:
		return "running"
	case dutystate.Kept:
		return "ok"
	}
	return "skipped"
}

func stateSign(k dutystate.Kind) sign {
	mark := map[dutystate.Kind]string{dutystate.Failed: "✗", dutystate.Drifted: "≠", dutystate.Absent: "○",
		dutystate.Mended: "↻", dutystate.Kept: "✓", dutystate.Held: "‖"}[k]
	if mark == "" {
		mark = "–"
	}
	return sign{string(k), mark, stateClass(k)}
}
