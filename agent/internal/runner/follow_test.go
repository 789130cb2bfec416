package runner

import (
	"strings"
	"sync"
	"testing"
)

func TestLiveOutputIsSentInLinesAndWithinItsRate(t *testing.T) {
	var mu sync.Mutex
	var sent [2]string
	f := &follower{tell: func(text string, stderr bool) {
		mu.Lock()
		defer mu.Unlock()
		if stderr {
			sent[1] += text
		} else {
			sent[0] += text
		}
	}}
	f.take(false, []byte("on"))
	f.take(false, []byte("e\ntw"))
	f.take(true, []byte("err\n"))
	f.flush()
	if sent != [2]string{"one\n", "err\n"} {
		t.Errorf("sent %q", sent)
	}
	f.take(false, []byte(strings.Repeat("x\n", followSize)))
	f.close()
	f.take(false, []byte("too late\n"))
	text := strings.TrimPrefix(sent[0], "one\n")
	if !strings.HasPrefix(text, "twx\n") || len(text) > followSize+100 || !strings.Contains(text, "lines left out\n") ||
		strings.Contains(text, "late") {
		t.Errorf("sent %d bytes, from %q to %q", len(text), text[:10], text[len(text)-40:])
	}
}

func TestALineThatDoesNotEndIsSentAtTheEnd(t *testing.T) {
	var sent string
	f := &follower{tell: func(text string, _ bool) { sent += text }}
	f.take(false, []byte("no end"))
	f.close()
	if sent != "no end\n" {
		t.Errorf("sent %q", sent)
	}
}
