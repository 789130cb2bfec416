package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// holdFile, in the state directory, has the hold of a host. A command on the host writes it too, so the agent reads
// it each time that it reports the hold.
const holdFile = "hold.json"

// ReadHold returns the hold in a state directory, nil if there is none or it has ended.
func ReadHold(dir string, now time.Time) (*wire.Hold, error) {
	text, err := securefile.Read(filepath.Join(dir, holdFile), securefile.Ours)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var h wire.Hold
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the hold of this host: %w", err)
	}
	if !h.Until.After(now) {
		return nil, nil
	}
	return &h, nil
}

// WriteHold keeps keepers from this host. A nil hold lets them play again.
func WriteHold(dir string, h *wire.Hold, now time.Time) error {
	path := filepath.Join(dir, holdFile)
	var err error
	if h == nil {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else {
		if err := h.Check(now); err != nil {
			return err
		}
		var text []byte
		if text, err = json.Marshal(h); err == nil {
			err = atomicfile.Write(path, append(text, '\n'))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot keep the hold of this host: %w", err)
	}
	return nil
}

// held returns the hold that the agent reports. A file that cannot be read is a hold: somebody wanted one.
func (a *Agent) held() *wire.Hold {
	if a.store == nil {
		return nil
	}
	h, err := ReadHold(a.store.Dir(), a.cfg.Now())
	if err != nil {
		a.cfg.Logger.Warn().AnErr("cause", err).Msg("keepers leave this host alone")
		return &wire.Hold{Until: a.cfg.Now().Add(time.Hour), Why: "the hold that is on record cannot be read"}
	}
	return h
}

// handleHold changes the hold of the host.
func (a *Agent) handleHold(l *letter) {
	var in wire.HoldChange
	var out wire.HoldChanged
	err := l.Body(a.codec, wire.SealBox, wire.Keys{Own: a.cfg.Identity}, &in)
	if err == nil {
		err = a.inbox.admit(l)
	}
	if err == nil {
		err = a.cfg.Policy.may(l.Header.Issuer, func(*Rule) *bool { return nil }, "to hold or release the host")
	}
	if err == nil && a.store == nil {
		err = errors.New("this agent keeps nothing")
	}
	if err == nil {
		if in.Hold != nil {
			in.Hold.By = l.Header.Issuer
		}
		err = WriteHold(a.store.Dir(), in.Hold, a.cfg.Now())
	}
	if err != nil {
		a.inbox.refuse(l.msg, l.Header.Kind, err)
		out.Err = err.Error()
	} else {
		out.Hold = a.held()
		a.cfg.Logger.Info().Str("operator", l.Header.Issuer).Bool("held", out.Hold != nil).Msg("hold changed")
		a.presence.say(wire.KindHello)
	}
	a.inbox.answer(l, out)
}
