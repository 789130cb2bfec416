package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/internal/store"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// enrolmentFile, in the state directory, holds the Enrolment; enrolmentVersion is the version of its format.
const (
	enrolmentFile    = "enrolment.json"
	enrolmentVersion = 1
)

// IdentityFile, in the state directory, holds the agent's keys.
const IdentityFile = store.IdentityFile

// Enrolment is what an agent received when it was enrolled. The configuration file may replace each field.
type Enrolment struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Broker  string `json:"broker"`
	// CA is the authority of the broker's certificate in PEM, "" for the system's.
	CA string `json:"ca,omitempty"`
	// JWT are the credentials for the broker, given to the key of the state directory; "" if it asks for none.
	JWT string `json:"jwt,omitempty"`
	// Operators are the public keys that the agent obeys.
	Operators []string `json:"operators"`
	// Limited are the operators whom the agent obeys with limits.
	Limited []wire.Limited `json:"limited,omitempty"`
	Fleet   string         `json:"fleet,omitempty"`
}

// ReadEnrolment reads the enrolment of a state directory, nil if the agent was never enrolled.
func ReadEnrolment(dir string) (*Enrolment, error) {
	path := filepath.Join(dir, enrolmentFile)
	text, err := securefile.Read(path, securefile.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read how this agent was enrolled: %w", err)
	}
	var e Enrolment
	err = json.Unmarshal(text, &e)
	if err == nil && e.Version > enrolmentVersion {
		err = fmt.Errorf("it has version %d, this agent knows %d; upgrade hark-agent", e.Version, enrolmentVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read how this agent was enrolled: %s: %w", path, err)
	}
	return &e, nil
}

// RemoveEnrolment forgets the enrolment of a state directory.
func RemoveEnrolment(dir string) error {
	if err := os.Remove(filepath.Join(dir, enrolmentFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot forget how this agent was enrolled: %v", err)
	}
	return nil
}

// ReadIdentity reads the keys of a state directory, which are made if there are none. Another agent may be using it.
func ReadIdentity(dir string) (*wire.Identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the state directory: %v", err)
	}
	return store.Identity(dir)
}

// CheckState reports whether this program can use a state directory. Another agent may be using it.
func CheckState(dir string) error { return store.CheckVersion(dir) }

// Write stores the enrolment in a state directory, readable by its owner only.
func (e *Enrolment) Write(dir string) error {
	e.Version = enrolmentVersion
	text, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, enrolmentFile), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("cannot keep how this agent was enrolled: %v", err)
	}
	return nil
}

// Operators are the public keys that an agent obeys: those of its configuration, which only an administrator of the
// host changes, and those of its enrolment, which operators change. Operators stores that enrolment, with its
// credentials.
type Operators struct {
	configured []string
	dir        string
	now        func() time.Time

	mu       sync.Mutex
	enrolled *Enrolment // nil if there is none; guarded by mu
}

// NewOperators returns the configured operators and, if e is not nil, those of the enrolment stored in dir.
func NewOperators(configured []string, e *Enrolment, dir string) *Operators {
	return &Operators{configured: configured, enrolled: e, dir: dir, now: time.Now}
}

// Obeys reports whether the owner of a key is obeyed.
func (o *Operators) Obeys(key string) bool { return slices.Contains(o.List(), key) }

// List returns the keys.
func (o *Operators) List() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Clone(o.configured)
	if o.enrolled != nil {
		all = append(all, o.enrolled.Operators...)
		now := o.now()
		for _, l := range o.enrolled.Limited {
			if l.Until.IsZero() || now.Before(l.Until) {
				all = append(all, l.Key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Change adds and removes keys, and stores them. It refuses to remove the last key, and keys that only an
// administrator of the host may remove.
func (o *Operators) Change(c wire.Trust) error {
	for _, key := range c.Add {
		if !wire.ValidKey(key) {
			return fmt.Errorf("%q is not an operator's public key", key)
		}
	}
	if err := o.limits(c.Limited); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.enrolled == nil {
		return errors.New("this agent was not enrolled: its operators are in its configuration file")
	}
	next := *o.enrolled
	next.Operators = slices.DeleteFunc(append(slices.Clone(next.Operators), c.Add...),
		func(k string) bool { return slices.Contains(c.Remove, k) })
	slices.Sort(next.Operators)
	next.Operators = slices.Compact(next.Operators)
	next.limit(c)
	for _, key := range c.Remove {
		if slices.Contains(o.configured, key) {
			return fmt.Errorf("the key %s is in this agent's configuration file", key)
		}
	}
	if len(next.Operators)+len(o.configured) == 0 {
		return errors.New("this agent would obey nobody any more")
	}
	if err := next.Write(o.dir); err != nil {
		return err
	}
	o.enrolled = &next
	return nil
}

// limits checks the operators to add who have limits.
func (o *Operators) limits(all []wire.Limited) error {
	for _, l := range all {
		switch {
		case !wire.ValidKey(l.Key):
			return fmt.Errorf("%q is not an operator's public key", l.Key)
		case slices.Contains(o.configured, l.Key):
			return fmt.Errorf("the key %s is in this agent's configuration file: its limits are in policy.yml", l.Key)
		case !l.Until.IsZero() && !o.now().Before(l.Until):
			return fmt.Errorf("the key %s would be obeyed until %s, which is past", l.Key, l.Until.Format(time.DateTime))
		}
	}
	return nil
}

// limit applies the limits in a change. An operator who gets a limit loses every other right; an operator who is
// added without one loses the limit.
func (e *Enrolment) limit(c wire.Trust) {
	named := func(key string) bool {
		return slices.Contains(c.Add, key) || slices.Contains(c.Remove, key) ||
			slices.ContainsFunc(c.Limited, func(l wire.Limited) bool { return l.Key == key })
	}
	e.Limited = append(slices.DeleteFunc(slices.Clone(e.Limited),
		func(l wire.Limited) bool { return named(l.Key) }), c.Limited...)
	e.Operators = slices.DeleteFunc(e.Operators, func(key string) bool {
		return slices.ContainsFunc(c.Limited, func(l wire.Limited) bool { return l.Key == key })
	})
}

// Looks reports whether the owner of a key may read but not change the host.
func (o *Operators) Looks(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.enrolled == nil || slices.Contains(o.configured, key) {
		return false
	}
	return slices.ContainsFunc(o.enrolled.Limited, func(l wire.Limited) bool { return l.Key == key && l.Check })
}

// Token returns the credentials of the enrolment, "" if there are none.
func (o *Operators) Token() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.enrolled == nil {
		return ""
	}
	return o.enrolled.JWT
}

// Keep stores newer credentials with the enrolment.
func (o *Operators) Keep(token string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.enrolled == nil {
		return errors.New("this agent was not enrolled")
	}
	next := *o.enrolled
	next.JWT = token
	if err := next.Write(o.dir); err != nil {
		return err
	}
	o.enrolled = &next
	return nil
}

// handleTrust changes which operators the agent obeys.
func (a *Agent) handleTrust(l *letter) {
	var in wire.Trust
	ack := wire.Trusted{}
	err := l.Body(a.codec, wire.SealBox, wire.Keys{Own: a.cfg.Identity}, &in)
	if err == nil {
		err = a.inbox.admit(l)
	}
	if err == nil {
		err = a.cfg.Policy.may(l.Header.Issuer, func(r *Rule) *bool { return r.Trust }, "to change whom it obeys")
	}
	if err == nil && a.cfg.Operators == nil {
		err = errors.New("this agent's operators cannot be changed")
	}
	if err == nil {
		err = a.cfg.Operators.Change(in)
	}
	if err != nil {
		a.inbox.refuse(l.msg, l.Header.Kind, err)
		ack.Err = err.Error()
	} else {
		ack.Operators = a.cfg.Operators.List()
		a.cfg.Logger.Info().Str("operator", l.Header.Issuer).Strs("add", in.Add).Strs("remove", in.Remove).
			Msg("operators changed")
	}
	a.inbox.answer(l, ack)
}
