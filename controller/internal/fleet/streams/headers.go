package streams

import "github.com/nats-io/nats.go"

// The headers of the broker's answers. It adds its own behind those that a message has of its sender, who may have used
// the same names.
const (
	subjectHeader     = "Nats-Subject"
	sequenceHeader    = "Nats-Sequence"
	timeHeader        = "Nats-Time-Stamp"
	pendingHeader     = "Nats-Num-Pending"
	lastHeader        = "Nats-Last-Sequence"
	statusHeader      = "Status"
	descriptionHeader = "Description"
)

// last returns the value of a header that the broker added.
func last(m *nats.Msg, header string) string {
	all := m.Header[header]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// answers reports whether a message of a stream is itself an answer of the broker: NATS sends one to whatever reply
// subject a request names, and that may be one of a stream.
func answers(m *nats.Msg) bool {
	return len(m.Header[statusHeader]) > 0 || len(m.Header[sequenceHeader]) > 1
}

// Bounds of what altered lets pass: hark and the broker send fewer headers, and what the broker adds is longer.
const (
	mostHeaders = 20
	slack       = 50
)

// altered reports whether a message is one of a stream whose header is none, or ends before the bytes that the broker
// takes for it: a client may publish any bytes as a header. What the broker added is not seen then, and what is seen
// may be made up. hark sends nothing like that.
func altered(m *nats.Msg) bool {
	const line, end = "NATS/1.0\r\n", "\r\n"
	size, n := len(line)+len(end), 0
	for name, values := range m.Header {
		for _, v := range values {
			size += len(name) + len(": ") + len(v) + len(end)
			n++
		}
	}
	took := m.Size() - len(m.Subject) - len(m.Reply) - len(m.Data)
	return n > mostHeaders || took > size+slack // a header may be two bytes shorter than counted, a status 23
}
