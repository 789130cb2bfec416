package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// logger writes to the journal under systemd, for people on a terminal, and JSON elsewhere.
func logger(level string) zerolog.Logger {
	l, _ := zerolog.ParseLevel(level) // checked with the settings
	if ok, err := journal.StderrIsJournalStream(); err == nil && ok {
		return zerolog.New(journalWriter{send: journal.Send}).Level(l)
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr}).Level(l).With().Timestamp().Logger()
	}
	return zerolog.New(os.Stderr).Level(l).With().Timestamp().Logger()
}

// journalWriter sends each line to the journal: its text with its fields for those who read, its fields as
// HARK_<NAME> for those who search (journalctl HARK_RUN=...).
type journalWriter struct {
	send func(message string, priority journal.Priority, vars map[string]string) error
}

func (w journalWriter) Write(p []byte) (int, error) { return w.WriteLevel(zerolog.InfoLevel, p) }

// WriteLevel takes one line as zerolog writes it.
func (w journalWriter) WriteLevel(level zerolog.Level, p []byte) (int, error) {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(p))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return 0, fmt.Errorf("cannot read a log line: %w", err)
	}
	vars := map[string]string{"SYSLOG_IDENTIFIER": "hark-agent"}
	for k, v := range fields {
		if k != zerolog.MessageFieldName && k != zerolog.LevelFieldName {
			vars["HARK_"+journalName(k)] = text(v)
		}
	}
	if err := w.send(readable(p), priority(level), vars); err != nil {
		return 0, err
	}
	return len(p), nil
}

// readable returns a line as people read it, without what the journal shows anyway.
func readable(p []byte) string {
	var b bytes.Buffer
	console := zerolog.ConsoleWriter{Out: &b, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName,
		zerolog.LevelFieldName}}
	if _, err := console.Write(p); err != nil {
		return strings.TrimSpace(string(p))
	}
	return strings.TrimSpace(b.String())
}

// journalName returns a field's name as the journal allows it.
func journalName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

func priority(level zerolog.Level) journal.Priority {
	switch level {
	case zerolog.TraceLevel, zerolog.DebugLevel:
		return journal.PriDebug
	case zerolog.WarnLevel:
		return journal.PriWarning
	case zerolog.ErrorLevel:
		return journal.PriErr
	case zerolog.FatalLevel, zerolog.PanicLevel:
		return journal.PriCrit
	}
	return journal.PriInfo
}
