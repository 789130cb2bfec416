// Package peer runs module calls in another process of the agent's binary: a resident worker of another user, or the
// process of a job. The two sides speak frames of JSON, one a line, over pipes; several calls share a connection. What
// the module needs of the session (blobs, uploads, warnings) is asked back over the same connection; child
// processes and files are the other process's own.
package peer

import (
	"encoding/json"
	"errors"

	"hark/agent/wire"
	"hark/modules"
)

// Banner is the line with which the serving side begins: what stands before it (the notices of a login, of sudo)
// is not ours.
const Banner = "hark-peer 1"

// ErrGone says that the other process ended, or its connection broke, before the call was done.
var ErrGone = errors.New("the process that ran the module ended before it was done")

// frame is one message. Kind says which fields count.
type frame struct {
	Call uint64 `json:"call,omitempty"` // which call it belongs to
	Kind string `json:"kind"`
	Ask  uint64 `json:"ask,omitempty"` // of a question and its answer

	Job    *Job            `json:"job,omitempty"`    // run
	Result json.RawMessage `json:"result,omitempty"` // done: the module's result
	Name   string          `json:"name,omitempty"`   // digest, destination, text
	Names  []string        `json:"names,omitempty"`  // digests
	Handle uint64          `json:"handle,omitempty"` // of an open stream
	Mode   uint32          `json:"mode,omitempty"`
	Data   []byte          `json:"data,omitempty"`
	EOF    bool            `json:"eof,omitempty"`
	Err    string          `json:"err,omitempty"`
}

// The kinds of frames.
const (
	kindRun    = "run"    // caller: begin a call
	kindCancel = "cancel" // caller: end it
	kindAnswer = "answer" // caller: to an ask
	kindDone   = "done"   // server: the result
	kindOutput = "output" // server: Data of a child's stdout, or of its stderr if Name says so; not answered

	askOpen   = "open"   // a blob: Name; the answer has Handle
	askExpect = "expect" // blobs: Names
	askRead   = "read"   // Handle; the answer has Data, EOF
	askClose  = "close"  // Handle
	askPut    = "put"    // begin an upload: Name, Mode; the answer has Handle
	askWrite  = "write"  // Handle, Data
	askFinish = "finish" // Handle: the upload is complete
	askSum    = "sum"    // Name; the answer has Name
	askWarn   = "warn"   // Name
)

// Job is a call with what the other process needs to know of its session.
type Job struct {
	Call    wire.Call `json:"call"`
	Environ []string  `json:"environ"`
	Name    string    `json:"name"` // of the module as written
	Host    string    `json:"host"`
	Task    string    `json:"task,omitempty"`
	// Files are controller-side files by their digests, for which the caller is not asked.
	Files map[string][]byte `json:"files,omitempty"`
	// Live wants the output of child processes as it comes.
	Live bool `json:"live,omitempty"`
	// Bounds are what the host's policy keeps the module from.
	Bounds modules.Bounds `json:"bounds,omitzero"`
}

// stderrName is the Name of output that is a child's stderr.
const stderrName = "stderr"

func output(call uint64, stderr bool, chunk []byte) frame {
	f := frame{Call: call, Kind: kindOutput, Data: chunk}
	if stderr {
		f.Name = stderrName
	}
	return f
}

// chunk is how much of a blob or an upload one frame carries, in bytes.
const chunk = 256 << 10
