package view

import (
	"fmt"
	"os"
	"path/filepath"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
)

// logPlays appends each result to a file of its host.
type logPlays struct {
	Silent
	o        Options
	playbook string
}

func newLogPlays(o Options) (View, error) { return &logPlays{o: o}, nil }

func (v *logPlays) PlaybookStart(path string) {
	v.playbook = path
	if err := os.MkdirAll(v.o.LogDir, 0o755); err != nil {
		v.o.Display.Warn(fmt.Sprintf("Unable to access or create the configured directory (%s): %v", v.o.LogDir, err))
	}
}

func (v *logPlays) Done(r Result) {
	s := prepare(r)
	category := "OK"
	switch s.Outcome.Status {
	case wire.StatusFailed:
		category = "FAILED"
	case wire.StatusUnreachable:
		category = "UNREACHABLE"
	case wire.Skipped:
		category = "SKIPPED"
	}
	text := "omitted"
	if s.marks.Quiet == result.Unsaid {
		text = ""
		if args, ok := s.res.Get("invocation"); ok {
			text = value.JSONText(args, value.JSONOptions{ASCII: true}) + " => "
			drop(s.res, "invocation")
		}
		data := value.JSONText(s.res, value.JSONOptions{ASCII: true})
		if text != "" {
			data += " "
		}
		text += data
	}
	line := fmt.Sprintf("%s - %s - %s - %s - %s - %s\n\n", v.o.Now().Format("Jan 02 2006 15:04:05"), v.playbook,
		s.Task.Name, s.Task.Action, category, text)
	if err := v.append(s.Host, line); err != nil {
		v.o.Display.Warn(fmt.Sprintf("Unable to write to %s's file: %v", s.Host, err))
	}
}

func (v *logPlays) append(host, line string) error {
	f, err := os.OpenFile(filepath.Join(v.o.LogDir, filepath.Base(host)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(line); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
