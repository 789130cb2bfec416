package record

import (
	"slices"

	"hark/modules/mask"
)

// hide hides secrets in a line. It does not touch what other lines refer to: the numbers of tasks and hosts, the names
// of hosts.
func (l *Line) hide(m *mask.Masker) {
	if m == nil {
		return
	}
	l.Text, l.Result = m.Text(l.Text), m.JSON(l.Result)
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
		l.Step.Name, l.Step.Args = m.Text(l.Step.Name), m.JSON(l.Step.Args)
	}
	if l.Files != nil {
		l.Files.Path, l.Files.Label = m.Text(l.Files.Path), m.Text(l.Files.Label)
	}
	if l.Stats != nil {
		for whose, stats := range l.Stats.Custom {
			l.Stats.Custom[whose] = m.JSON(stats)
		}
	}
	if l.Notice != nil {
		own := *l.Notice
		own.Text, own.Help, own.Origin = m.Text(own.Text), m.Text(own.Help), m.Text(own.Origin)
		l.Notice = &own
	}
}

// hide hides secrets in a foot. It leaves the tasks of others that share the list as they are.
func (f *Foot) hide(m *mask.Masker) {
	f.Error = m.Text(f.Error)
	f.Tasks = slices.Clone(f.Tasks)
	for i := range f.Tasks {
		f.Tasks[i].Name = m.Text(f.Tasks[i].Name)
	}
}
