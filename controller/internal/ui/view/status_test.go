package view

import (
	"strings"
	"testing"
	"time"
)

func TestStatusNamesTheOldestHost(t *testing.T) {
	d, out, err := newTestDisplay(t, DisplayOptions{StatusLine: true})
	now := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	s := NewStatus(d, func() time.Time { return now })
	task := Task{ID: "1", Name: "install", Role: "web"}
	s.TaskStart(task)
	s.HostStart(task, "b")
	now = now.Add(time.Second)
	s.HostStart(task, "a")
	s.HostStart(task, "c")
	s.Tick()
	if err.Len() > 0 {
		t.Fatalf("it speaks at once: %q", err)
	}
	now = now.Add(2 * time.Second)
	s.Done(Result{Task: task, Host: "c"})
	if got := err.String(); got != "[web : install] 1 of 3 hosts done, b for 3s" {
		t.Errorf("the line is %q", got)
	}
	s.Done(Result{Task: task, Host: "b"})
	s.Done(Result{Task: task, Host: "a"})
	if !strings.HasSuffix(err.String(), "a for 2s\r\x1b[K") || out.Len() > 0 {
		t.Errorf("after the step: %q", err)
	}
}
