package record

import (
	"encoding/json"

	"hark/modules/mask"
	"hark/modules/py/value"
)

// hide takes secrets out of a line. Nothing that leads to other lines is touched: the numbers of tasks and hosts, the names of hosts.
func (l *Line) hide(m *mask.Masker) {
	if m == nil {
		return
	}
	l.Text, l.Result = m.Text(l.Text), hidden(l.Result, m)
	if l.Kind != KindHost {
		l.Name = m.Text(l.Name)
	}
	if l.Outcome != nil {
		l.Outcome.Label = m.Text(l.Outcome.Label)
	}
	for i := range l.Origins {
		o := &l.Origins[i]
		o.Text, o.At.Text, o.At.Key, o.At.File = m.Text(o.Text), m.Text(o.At.Text), m.Text(o.At.Key), m.Text(o.At.File)
	}
	if l.Play != nil {
		l.Play.Name = m.Text(l.Play.Name)
	}
	if l.Step != nil {
		l.Step.Name, l.Step.Args = m.Text(l.Step.Name), hidden(l.Step.Args, m)
	}
	if l.Files != nil {
		l.Files.Path, l.Files.Label = m.Text(l.Files.Path), m.Text(l.Files.Label)
	}
	if l.Stats != nil {
		for whose, stats := range l.Stats.Custom {
			l.Stats.Custom[whose] = hidden(stats, m)
		}
	}
	if l.Notice != nil {
		own := *l.Notice
		own.Text, own.Help, own.Origin = m.Text(own.Text), m.Text(own.Help), m.Text(own.Origin)
		l.Notice = &own
	}
}

// hide takes secrets out of a foot.
func (f *Foot) hide(m *mask.Masker) {
	f.Error = m.Text(f.Error)
	for i := range f.Tasks {
		f.Tasks[i].Name = m.Text(f.Tasks[i].Name)
	}
}

// hidden is a value without secrets.
func hidden(raw json.RawMessage, m *mask.Masker) json.RawMessage {
	if !m.Holds(raw) {
		return raw
	}
	v, err := value.Decode(raw, value.KindStr)
	if err != nil {
		return raw
	}
	return value.PlainJSON(m.Value(v))
}
