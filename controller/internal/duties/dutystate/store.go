package dutystate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
)

// Store is what keepers say, at the broker. It is safe for concurrent use.
type Store struct {
	conn *nats.Conn
	js   jetstream.JetStream
	own  *wire.Identity
	// believes returns whose words count.
	believes func(key string) bool
	codec    wire.Codec
	keys     *sealkeys.Keys

	mu   sync.Mutex
	next uint64 // where Overwritten goes on; guarded by mu
}

// Open returns the store at a broker, for one operator. Its words are sealed for the readers, by their public curve
// keys, and for itself. believes reports whether it takes the word of a keeper, by its public key.
func Open(conn *nats.Conn, own *wire.Identity, readers []string, believes func(key string) bool) (*Store, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	keys, err := sealkeys.New(sealkeys.Config{Conn: conn, Stream: StreamName, Subject: wire.DutyKeysSubject, Self: own,
		Readers: readers})
	if err != nil {
		return nil, err
	}
	return &Store{conn: conn, js: js, own: own, believes: believes, keys: keys}, nil
}

// SetReaders says who the readers are from now on, and reports whether they are others than before.
func (s *Store) SetReaders(readers []string) bool { return s.keys.SetReaders(readers) }

// ShareAll gives the readers, as they are now, the keys of all weeks that are still there.
func (s *Store) ShareAll(ctx context.Context) error {
	_, err := s.keys.ShareAll(ctx, time.Now())
	return err
}

// Words are what one keeper says.
type Words struct {
	Keeper      string  // its public key
	Report      *Report // nil for a keeper that has not said anything of itself
	Definitions []Definition
	States      []State
}

// Read returns the words of all keepers who are believed. What is forged, or sealed for others, is passed over and
// told in the warnings.
func (s *Store) Read(ctx context.Context) (all []Words, warnings []string, err error) {
	return s.read(ctx, "*")
}

func (s *Store) read(ctx context.Context, keeper string) (all []Words, warnings []string, err error) {
	opened, err := s.words(ctx, keeper)
	if err != nil {
		return nil, nil, err
	}
	return s.sort(opened)
}

func (s *Store) words(ctx context.Context, keeper string) ([]word, error) {
	var messages []streams.Message
	_, err := streams.Each(ctx, s.conn, StreamName, wire.DutyStateSubject(keeper, "*", "*"), 1, func(m streams.Message) {
		if !isKey(m.Subject) {
			messages = append(messages, m)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read how hosts stand: %w", err)
	}
	opened := make([]word, len(messages))
	var work sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		work.Go(func() {
			for i := range next {
				opened[i] = s.open(ctx, messages[i])
			}
		})
	}
	for i := range messages {
		next <- i
	}
	close(next)
	work.Wait()
	return opened, nil
}

func isKey(subject string) bool { return strings.Contains(subject, "._keys.") }

// word is one message, opened.
type word struct {
	keeper     string
	state      *State
	definition *Definition
	report     *Report
	err        error
	// foreign is the duty or host whose word somebody has overwritten. err says so.
	foreign *Place
}

// Place is what a word is about: a host under a duty, or a duty, whose agent is wire.DutyToken.
type Place struct{ Duty, Agent string }

func (s *Store) sort(opened []word) (all []Words, warnings []string, err error) {
	by := map[string]*Words{}
	for _, w := range opened {
		switch {
		case w.err != nil:
			if text := w.err.Error(); !slices.Contains(warnings, text) {
				warnings = append(warnings, text)
			}
			continue
		case by[w.keeper] == nil:
			by[w.keeper] = &Words{Keeper: w.keeper}
		}
		switch {
		case w.state != nil && w.state.Gone:
		case w.state != nil:
			by[w.keeper].States = append(by[w.keeper].States, *w.state)
		case w.report != nil:
			by[w.keeper].Report = w.report
		default:
			by[w.keeper].Definitions = append(by[w.keeper].Definitions, *w.definition)
		}
	}
	for _, w := range by {
		slices.SortFunc(w.States, func(a, b State) int { return strings.Compare(a.Duty+"\x00"+a.Host, b.Duty+"\x00"+b.Host) })
		slices.SortFunc(w.Definitions, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b Words) int { return strings.Compare(a.Keeper, b.Keeper) })
	return all, warnings, nil
}

// open checks who says a word and of what, and opens it.
func (s *Store) open(ctx context.Context, m streams.Message) word {
	part := strings.Split(m.Subject, ".")
	keeper, duty, agent := part[2], part[3], part[4]
	kind := wire.KindDutyState
	if agent == wire.DutyToken {
		kind = wire.KindDefinition
	}
	if duty == wire.KeeperToken {
		kind = wire.KindReport
	}
	f, err := own(m, keeper)
	if err != nil {
		return word{err: err, foreign: &Place{duty, agent}}
	}
	h := f.Header
	switch {
	case h.Kind != kind || h.Run != duty || h.To != agent:
		return word{foreign: &Place{duty, agent}, err: fmt.Errorf(
			"at the broker lies a word on the duty %s that is none of its keeper %s: it is passed over", duty, keeper)}
	case !s.believes(h.Issuer):
		return word{err: fmt.Errorf("the keeper %s is not believed here: `hark key believe %s`", h.Issuer, h.Issuer)}
	}
	w := word{keeper: h.Issuer}
	key, err := s.keys.Of(ctx, keeper, h.Plan)
	if err != nil {
		return word{err: fmt.Errorf("the words of the keeper %s are sealed for others: %w", h.Issuer, err)}
	}
	var into any
	switch kind {
	case wire.KindReport:
		w.report = &Report{}
		into = w.report
	case wire.KindDefinition:
		w.definition = &Definition{}
		into = w.definition
	default:
		w.state = &State{}
		into = w.state
	}
	if err := f.Body(&s.codec, wire.SealRecord, wire.Keys{Record: &key}, into); err != nil {
		return word{err: fmt.Errorf("a word of the keeper %s cannot be opened: %w", h.Issuer, err)}
	}
	if v := w.version(); v > Version {
		return word{err: fmt.Errorf("the keeper %s is newer than this hark: its words have version %d, this reads up to %d",
			h.Issuer, v, Version)}
	}
	if w.definition != nil {
		w.definition.Keeper = h.Issuer
	}
	if w.report != nil {
		w.report.Keeper = h.Issuer
	}
	return w
}

// own returns a message that a keeper has signed. Others come from those who had the broker answer to its subject.
func own(m streams.Message, keeper string) (*wire.Frame, error) {
	f, err := wire.Parse(m.Data)
	switch {
	case m.Answer || err != nil:
		return nil, fmt.Errorf("somebody has overwritten words of the keeper %s at the broker", keeper)
	case !f.Signed || wire.IDOf(f.Header.Issuer) != keeper:
		return nil, fmt.Errorf("at the broker lies a word that is not of its keeper %s: it is passed over", keeper)
	}
	return f, nil
}

// Overwritten returns what was overwritten of this operator's own words since it was called last. Whoever keeps them
// puts them there again.
func (s *Store) Overwritten(ctx context.Context) ([]Place, error) {
	s.mu.Lock()
	from := max(s.next, 1)
	s.mu.Unlock()
	var places []Place
	next, err := streams.Each(ctx, s.conn, StreamName, wire.DutyStateSubject(s.own.ID(), "*", "*"), from,
		func(m streams.Message) {
			part := strings.Split(m.Subject, ".")
			f, err := own(m, s.own.ID())
			if !isKey(m.Subject) && (err != nil || f.Header.Run != part[3] || f.Header.To != part[4]) {
				places = append(places, Place{part[3], part[4]})
			}
		})
	if err != nil {
		return nil, fmt.Errorf("cannot read the words at the broker: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = next
	return places, nil
}

func (w word) version() int {
	switch {
	case w.state != nil:
		return w.state.V
	case w.report != nil:
		return w.report.V
	}
	return w.definition.V
}

// PutState says how a host stands.
func (s *Store) PutState(ctx context.Context, st State) error {
	return s.put(ctx, wire.KindDutyState, st.Duty, st.Agent, st)
}

// PutDefinition says how a duty stands.
func (s *Store) PutDefinition(ctx context.Context, d Definition) error {
	d.XKey = s.own.XKey
	return s.put(ctx, wire.KindDefinition, d.Name, wire.DutyToken, d)
}

// PutReport says how it stands with the keeper itself.
func (s *Store) PutReport(ctx context.Context, r Report) error {
	r.XKey = s.own.XKey
	return s.put(ctx, wire.KindReport, wire.KeeperToken, wire.DutyToken, r)
}

func (s *Store) put(ctx context.Context, k wire.Kind, duty, agent string, body any) error {
	now := time.Now()
	key, err := s.keys.Own(ctx, now)
	if err != nil {
		return fmt.Errorf("cannot seal what is said: %w", err)
	}
	h := wire.Header{Kind: k, Run: duty, To: agent, Plan: sealkeys.Week(now)}
	return s.publish(ctx, wire.DutyStateSubject(s.own.ID(), duty, agent), h, body,
		wire.Packing{Sign: s.own, Key: &key, Seal: wire.SealRecord})
}

func (s *Store) publish(ctx context.Context, subject string, h wire.Header, body any, p wire.Packing) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	frame, err := s.codec.PackBytes(h, raw, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := s.js.Publish(ctx, subject, frame); err != nil {
		return fmt.Errorf("cannot put it to the broker: %w", err)
	}
	return nil
}

// Own are this operator's own words. Where somebody has overwritten what was said of a duty, nobody knows whether it
// was paused: it is.
func (s *Store) Own(ctx context.Context) (Words, error) {
	opened, err := s.words(ctx, s.own.ID())
	if err != nil {
		return Words{}, err
	}
	var mine []word
	for _, w := range opened {
		switch {
		case w.foreign == nil:
			mine = append(mine, w)
		case w.foreign.Agent == wire.DutyToken && w.foreign.Duty != wire.KeeperToken:
			mine = append(mine, word{keeper: s.own.Key, definition: &Definition{V: Version, Name: w.foreign.Duty,
				Keeper: s.own.Key, Paused: &Pause{At: time.Now(), Why: overwritten}}})
		}
	}
	all, warnings, err := s.sort(mine)
	switch {
	case err != nil:
		return Words{}, err
	case len(warnings) > 0:
		return Words{}, errors.New(warnings[0])
	case len(all) == 0:
		return Words{Keeper: s.own.Key}, nil
	}
	return all[0], nil
}

// overwritten is the reason of a pause when the state of a duty was overwritten and is unknown.
const overwritten = "somebody has overwritten at the broker what was said of this duty"
