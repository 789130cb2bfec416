package files

import (
	"context"
	"errors"
	"io"

	"hark/controller/internal/runs/record"
)

// Parts implements record.Store.
func (s *Store) Parts(ctx context.Context, run string) (record.Parts, error) {
	f, err := s.open(run)
	if err != nil {
		return nil, err
	}
	p := &parts{frames: frames{f: f, run: run, store: s}}
	fr, err := p.next(ctx, true)
	if errors.Is(err, errCutOff) {
		return nil, errors.Join(&record.MissingError{Run: run}, p.Close()) // as for Find
	}
	if err == nil {
		err = p.read(fr)
	}
	if err != nil {
		return nil, errors.Join(inRun(run, err), p.Close())
	}
	return p, nil
}

// parts implements record.Parts.
type parts struct {
	frames
	head     record.Head
	headData []byte
	foot     *record.Foot
	footData []byte
}

// read reads a head or a foot.
func (p *parts) read(fr frame) error {
	packed, err := p.data(fr)
	if err != nil {
		return err
	}
	text, err := p.unpack(fr)
	if err != nil {
		return err
	}
	l, err := record.DecodeLine(text)
	if err != nil {
		return err
	}
	if l.Head != nil {
		p.head, p.headData = *l.Head, packed
	}
	if l.Foot != nil {
		p.foot, p.footData = l.Foot, packed
	}
	return nil
}

// Head implements record.Parts.
func (p *parts) Head() (record.Head, []byte) { return p.head, p.headData }

// Foot implements record.Parts.
func (p *parts) Foot() (*record.Foot, []byte) { return p.foot, p.footData }

// Next implements record.Parts.
func (p *parts) Next(ctx context.Context) (record.Part, error) {
	if p.foot != nil {
		return record.Part{}, io.EOF
	}
	fr, err := p.next(ctx, true)
	switch {
	case errors.Is(err, errCutOff):
		return record.Part{}, io.EOF
	case err != nil && ctx.Err() != nil:
		return record.Part{}, err
	case err != nil:
		return record.Part{}, inRun(p.run, err)
	case fr.Kind == footFrame:
		if err := p.read(fr); err != nil {
			return record.Part{}, inRun(p.run, err)
		}
		return record.Part{}, io.EOF
	}
	packed, err := p.data(fr)
	return record.Part{PartSum: fr.PartSum, Lines: fr.Lines, Raw: fr.Raw, Data: packed}, inRun(p.run, err)
}
