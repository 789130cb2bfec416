package view

import (
	"strconv"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// jsonView prints the whole run as one JSON document when it is over.
type jsonView struct {
	Silent
	o        Options
	plays    *value.List
	play     *value.Dict // the one that runs
	tasks    *value.List // of that play
	byHost   map[string]*value.Dict
	lockstep bool
	number   int // of the play
}

func newJSON(o Options) (View, error) {
	return &jsonView{o: o, plays: value.NewList()}, nil
}

func (v *jsonView) now() value.Value {
	return value.Str(v.o.Now().UTC().Format("2006-01-02T15:04:05.000000") + "Z")
}

// stamp returns a thing that starts now: a play or a task.
func (v *jsonView) stamp(name, id, path string) *value.Dict {
	duration := value.NewDict()
	duration.Set("start", v.now())
	d := value.NewDict()
	d.Set("name", value.Str(name))
	d.Set("id", value.Str(id))
	if path != "" {
		d.Set("path", value.Str(path))
	}
	d.Set("duration", duration)
	return d
}

func (v *jsonView) PlayStart(p Play) {
	v.lockstep, v.byHost = Lockstep(p.Strategy), map[string]*value.Dict{}
	v.number++
	id := p.ID
	if id == "" {
		id = strconv.Itoa(v.number - 1)
	}
	v.play, v.tasks = v.stamp(p.Name, id, p.Path), value.NewList()
	entry := value.NewDict()
	entry.Set("play", v.play)
	entry.Set("tasks", v.tasks)
	v.plays.Items = append(v.plays.Items, entry)
}

func (v *jsonView) addTask(t Task) *value.Dict {
	entry := value.NewDict()
	entry.Set("task", v.stamp(t.Title(), v.playID()+"-"+string(t.ID), t.Place))
	entry.Set("hosts", value.NewDict())
	if v.tasks != nil {
		v.tasks.Items = append(v.tasks.Items, entry)
	}
	return entry
}

func (v *jsonView) playID() string {
	if v.play == nil {
		return ""
	}
	return textOf(v.play, "id")
}

func (v *jsonView) TaskStart(t Task) {
	if v.lockstep {
		v.addTask(t)
	}
}

func (v *jsonView) HostStart(t Task, host string) {
	if !v.lockstep {
		v.byHost[host+" "+string(t.ID)] = v.addTask(t)
	}
}

// entry returns where a result goes: the host's own entry of the task, or the task that started last.
func (v *jsonView) entry(r Result) *value.Dict {
	key := r.Host + " " + string(r.Task.ID)
	if e := v.byHost[key]; e != nil {
		delete(v.byHost, key)
		return e
	}
	if !v.lockstep || v.tasks == nil || len(v.tasks.Items) == 0 {
		return v.addTask(r.Task)
	}
	return v.tasks.Items[len(v.tasks.Items)-1].(*value.Dict)
}

func (v *jsonView) Done(r Result) {
	data := r.data()
	if o := r.Outcome; o != nil && o.Status == wire.StatusFailed {
		data.Set("failed", value.Bool(true))
	} else if o != nil && o.Status == wire.Skipped {
		data.Set("skipped", value.Bool(true))
	}
	data.Set("action", value.Str(r.Task.Action))
	e := v.entry(r)
	hosts, _ := e.Get("hosts")
	hosts.(*value.Dict).Set(r.Host, data)
	task, _ := e.Get("task")
	v.end(task.(*value.Dict))
	if v.play != nil {
		v.end(v.play)
	}
}

func (v *jsonView) end(d *value.Dict) {
	duration, _ := d.Get("duration")
	duration.(*value.Dict).Set("end", v.now())
}

func (v *jsonView) Stats(s Stats) {
	out := value.NewDict()
	out.Set("plays", v.plays)
	out.Set("stats", statsValue(s))
	custom, global := value.NewDict(), value.Value(value.NewDict())
	if v.o.CustomStats {
		for host, stats := range s.Custom {
			if host == "_run" {
				global = value.FromGo(stats, value.KindStr)
				continue
			}
			custom.Set(host, value.FromGo(stats, value.KindStr))
		}
	}
	out.Set("custom_stats", custom)
	out.Set("global_custom_stats", global)
	v.o.Display.Print(NoColor, value.JSONText(out,
		value.JSONOptions{Lines: v.o.JSONIndent > 0, Indent: strings.Repeat(" ", max(v.o.JSONIndent, 0)), Sorted: true,
			ASCII: true}))
}

func statsValue(s Stats) *value.Dict {
	d := value.NewDict()
	for _, host := range s.Hosts {
		c := s.Counts[host]
		counts := value.NewDict()
		for name, n := range map[string]int{"ok": c.OK, "failures": c.Failed, "unreachable": c.Unreachable,
			"changed": c.Changed,
			"skipped": c.Skipped, "rescued": c.Rescued, "ignored": c.Ignored} {
			counts.Set(name, value.Int(n))
		}
		d.Set(host, counts)
	}
	return d
}
