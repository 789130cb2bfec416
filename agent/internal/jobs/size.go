package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// size returns how many bytes a job takes on the disk.
func (j *job) size() (n int64) {
	entries, _ := os.ReadDir(j.dir) // what cannot be read takes nothing
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// strip removes the result and the output of a job.
func (j *job) strip() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.rec.Stripped {
		return
	}
	j.rec.Stripped = true
	if j.rec.write(j.dir) != nil {
		j.rec.Stripped = false // it is tried again
		return
	}
	entries, _ := os.ReadDir(j.dir)
	for _, e := range entries {
		switch name := e.Name(); {
		case name == resultFile, strings.HasPrefix(name, "stdout."), strings.HasPrefix(name, "stderr."):
			_ = os.Remove(filepath.Join(j.dir, name)) // the same
		}
	}
	_ = removeResults(j.rec)
}

// shortened returns a result that fits into resultBytes: output loses its end, with a warning. A result that is too
// large without output becomes a failure that says so.
func shortened(result json.RawMessage) json.RawMessage {
	if len(result) <= resultBytes {
		return result
	}
	var r map[string]json.RawMessage
	if json.Unmarshal(result, &r) != nil {
		return result
	}
	rest, left := len(result), 0
	for _, stream := range []string{"stdout", "stderr"} {
		rest -= len(r[stream])
	}
	if rest > resultBytes/2 {
		text := fmt.Sprintf("the result has %d MB: more than %d MB of a job are not kept", len(result)>>20, resultBytes>>20)
		// plain data always encodes
		raw, _ := json.Marshal(map[string]any{"failed": true, "changed": true, "msg": text, "rc": r["rc"]})
		return raw
	}
	for _, stream := range []string{"stdout", "stderr"} {
		raw, n := cut(r[stream], (resultBytes-rest-(1<<10))/2)
		if n > 0 {
			r[stream], left = raw, left+n
		}
	}
	var warnings []string
	_ = json.Unmarshal(r["warnings"], &warnings) // warnings of another type are replaced
	text := fmt.Sprintf("the output was too large to be kept: %d bytes at the end were left out", left)
	r["warnings"], _ = json.Marshal(append(warnings, text))
	raw, _ := json.Marshal(r)
	return raw
}

// cut returns a text that takes at most room bytes as JSON, and how many of its bytes were left out.
func cut(raw json.RawMessage, room int) (json.RawMessage, int) {
	var text string
	if len(raw) <= room || json.Unmarshal(raw, &text) != nil {
		return raw, 0
	}
	// In proportion, with a margin: characters that JSON escapes need not be spread evenly.
	for keep := int(float64(len(text)) * float64(room) / float64(len(raw))); ; keep = keep / 10 * 9 {
		short := strings.ToValidUTF8(text[:keep], "")
		if out, _ := json.Marshal(short); len(out) <= room {
			return out, len(text) - len(short)
		}
	}
}
