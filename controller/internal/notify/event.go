// Package notify notifies people and programs outside of hark that something has changed: an Event goes to targets,
// which are addresses of the web, mail, a command, or the broker. It does not decide what is worth telling;
// controller/internal/keeper and the commands do.
package notify

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"hark/controller/internal/ui/hostnames"
)

// What is what has happened: a change of state.
type What string

// What there is to tell.
const (
	Failed   What = "failed"   // hosts have failed under a duty, or a run has
	Fixed    What = "fixed"    // what was told before is over
	Drifted  What = "drifted"  // hosts are not as a duty wants them
	Absent   What = "absent"   // hosts have been away for longer than they may
	Paused   What = "paused"   // a duty does nothing any more
	Resumed  What = "resumed"  // it goes on
	Stale    What = "stale"    // a newer commit of a project cannot be in force
	Silent   What = "silent"   // a keeper says nothing any more
	Lost     What = "lost"     // a run has no end, and nobody writes it
	Expiring What = "expiring" // a certificate or a credential is over soon
)

// All returns the changes that there are.
func All() []What {
	return []What{Failed, Fixed, Drifted, Absent, Paused, Resumed, Stale, Silent, Lost, Expiring}
}

// Event is a document of CloudEvents 1.0.
type Event struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`
	Source          string    `json:"source"` // hark/keeper/ID or hark/run/ID: ids of operators' keys
	Type            string    `json:"type"`   // hark.duty.failed, hark.run.failed, ...
	Subject         string    `json:"subject,omitempty"`
	Time            time.Time `json:"time"`
	DataContentType string    `json:"datacontenttype"`
	Data            Data      `json:"data"`
}

// Data is the content of an event.
type Data struct {
	V    int  `json:"v"`
	What What `json:"what"`
	// Text is all of it in one line.
	Text string `json:"text"`
	Duty string `json:"duty,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Run is the id of a run: of the event, or of one of the hosts.
	Run     string `json:"run,omitempty"`
	Project string `json:"project,omitempty"`
	Commit  string `json:"commit,omitempty"`
	// Hosts are those that the event is about; Of is how many the duty or the run has.
	Hosts []string `json:"hosts,omitempty"`
	Of    int      `json:"of,omitempty"`
	// Left is how many hosts of the duty are still so where the event is the end of it for some.
	Left int `json:"left,omitempty"`
	// Causes are the hosts by what was the matter, the most frequent first.
	Causes []Cause `json:"causes,omitempty"`
	// Link is the page of the console.
	Link string `json:"link,omitempty"`
	By   string `json:"by,omitempty"` // who made a run: login@machine
	// Key parts what events of one state have in common: the same for failed and fixed.
	Key string `json:"key"`
}

// Cause is why something is the matter with some hosts.
type Cause struct {
	Why   string   `json:"why"`
	Hosts []string `json:"hosts"`
}

// Version is that of Data.
const Version = 1

// New makes an event of a kind of thing, such as duty or run.
func New(kind, source, subject string, at time.Time, d Data) Event {
	d.V, d.Text = Version, oneLine(d.Text)
	d.Causes = slices.Clone(d.Causes)
	for i := range d.Causes {
		d.Causes[i].Why = oneLine(d.Causes[i].Why)
	}
	if d.Key == "" {
		d.Key = kind + "/" + subject
	}
	return Event{
		SpecVersion: "1.0", ID: rand.Text(), Source: source, Type: "hark." + kind + "." + string(d.What), Subject: subject,
		Time:            at.UTC(),
		DataContentType: "application/json", Data: d,
	}
}

// oneLine returns a text in one line, without characters that cannot be seen. Much of it is what hosts say: it must not
// look like other lines of a message, and commands are given it in their environment.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
}

// JSON returns the document.
func (e *Event) JSON() ([]byte, error) { return json.Marshal(e) }

// Over reports whether the event is the end of what was told before.
func (e *Event) Over() bool {
	return (e.Data.What == Fixed || e.Data.What == Resumed) && e.Data.Left == 0
}

// GroupCauses puts hosts with the same cause together, the largest group first. why has one entry for each host.
func GroupCauses(why map[string]string) []Cause {
	by := map[string][]string{}
	for host, text := range why {
		if text != "" {
			by[text] = append(by[text], host)
		}
	}
	var all []Cause
	for text, hosts := range by {
		slices.Sort(hosts)
		all = append(all, Cause{text, hosts})
	}
	slices.SortFunc(all, func(a, b Cause) int {
		if n := len(b.Hosts) - len(a.Hosts); n != 0 {
			return n
		}
		return strings.Compare(a.Why, b.Why)
	})
	return all
}

// mostNamed is how many hosts a text names.
const mostNamed = 10

// Hosts names hosts in a text: ranges of names, and how many more there are.
func Hosts(names []string) string {
	folded := hostnames.Fold(slices.Sorted(slices.Values(names)))
	if len(folded) <= mostNamed {
		return strings.Join(folded, " ")
	}
	return fmt.Sprintf("%s and more, %d in all", strings.Join(folded[:mostNamed], " "), len(names))
}

// lines returns the parts of a message for people: what has happened, the causes, the link.
func (e *Event) lines() []string {
	out := []string{e.Data.Text}
	const most = 5
	for i, c := range e.Data.Causes {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more causes", len(e.Data.Causes)-most))
			break
		}
		out = append(out, Hosts(c.Hosts)+": "+c.Why)
	}
	if e.Data.Link != "" {
		out = append(out, e.Data.Link)
	}
	return out
}
