package link

import (
	"fmt"
	"time"

	"hark/agent/wire"
)

// replier reads what agents send, and answers it.
type replier struct {
	cfg   *Config
	codec *wire.Codec
}

// open opens what an agent has sealed with the key of its session, which proves that it is there.
func (r *replier) open(f *wire.Frame, p *peer, into any) error {
	err := f.Body(r.codec, wire.SealHost, wire.Keys{Host: &p.hostKey}, into)
	if err == nil {
		p.hear(time.Now())
	}
	return err
}

// reply answers a message of an agent, sealed with the key of its session.
func (r *replier) reply(m wire.Msg, f *wire.Frame, p *peer, body any) {
	if frame := r.pack(f, p, body); frame != nil {
		_ = r.respond(m, p, frame) // lost answers are asked for again
	}
}

func (r *replier) pack(f *wire.Frame, p *peer, body any) []byte {
	frame, err := r.codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: r.cfg.Run, To: f.Header.Nonce}, body,
		wire.Packing{Key: &p.hostKey, Seal: wire.SealHost})
	if err != nil {
		r.cfg.Logger.Error().Str("kind", string(f.Header.Kind)).AnErr("cause", err).Msg("cannot answer an agent")
		return nil
	}
	return frame
}

// respond sends a packed answer, and only to a subject of the agent's own.
func (r *replier) respond(m wire.Msg, p *peer, frame []byte) error {
	if m.Respond == nil || !wire.OwnReply(m.Reply, p.id) {
		err := fmt.Errorf("it wants its answer at %q", m.Reply)
		r.refused(m, err)
		return err
	}
	err := m.Respond(frame)
	if err != nil {
		r.cfg.Logger.Debug().AnErr("cause", err).Msg("cannot answer an agent")
	}
	return err
}

func (r *replier) refused(m wire.Msg, err error) {
	r.cfg.Logger.Warn().Str("subject", m.Subject).AnErr("cause", err).Msg("message refused")
}
