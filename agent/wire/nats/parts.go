package nats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"hark/agent/wire"
)

// Messages larger than partSize travel in parts: the servers' limit is 1 MB by default, and large messages hold up
// small ones. headroom is reserved for subject and headers.
const (
	partSize = 512 << 10
	headroom = 4 << 10
)

// partHeader of each part is "id i n": part i of n of message id.
const partHeader = "Hark-Part"

// The limits of unfinished messages, in number and bytes. Parts are joined before anybody has checked a signature, so
// each sender has its own limits and cannot use up another's. Beyond them the sender's oldest message is dropped, and
// beyond maxHeld the oldest of the sender that holds most. A sender that is still there sends all of it again.
const (
	maxOpenEach = 16
	maxHeldEach = 2 * wire.MaxMessage
	maxHeld     = 256 << 20
)

// minPart is the smallest part that is not the last; a server that accepts less is of no use. It rejects beginnings of
// nothing before they cost anything.
const minPart = 4 << 10

// split cuts a message; the reply subject goes with the last part.
func split(m *nats.Msg, limit int) ([]*nats.Msg, error) {
	if len(m.Data) <= limit {
		return []*nats.Msg{m}, nil
	}
	if len(m.Data) > wire.MaxMessage {
		return nil, wire.ErrTooLarge
	}
	n := (len(m.Data) + limit - 1) / limit
	id := nuid.Next()
	parts := make([]*nats.Msg, n)
	for i := range parts {
		p := nats.NewMsg(m.Subject)
		p.Header.Set(partHeader, fmt.Sprintf("%s %d %d", id, i, n))
		p.Data = m.Data[i*limit : min((i+1)*limit, len(m.Data))]
		parts[i] = p
	}
	parts[n-1].Reply = m.Reply
	return parts, nil
}

// joiner joins parts. Parts of one message arrive in order, since one connection sent them. It is used from one
// goroutine. The zero value is ready.
type joiner struct {
	senders map[string]*sender // those with an unfinished message
	held    int                // bytes of all
}

// sender holds the unfinished messages of one sender.
type sender struct {
	open  map[string]*partial
	order []string // ids, oldest first
	held  int      // bytes
}

type partial struct {
	next, n int
	size    int // of each part but the last
	data    []byte
}

// join returns the whole message when m is it or its last part.
func (j *joiner) join(m *nats.Msg) ([]byte, bool) {
	mark := m.Header.Get(partHeader)
	if mark == "" {
		return m.Data, true
	}
	f := strings.Fields(mark)
	if len(f) != 3 || len(f[0]) > maxMark {
		return nil, false
	}
	i, err1 := strconv.Atoi(f[1])
	n, err2 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil {
		return nil, false
	}
	return j.add(from(m.Subject), part{id: f[0], i: i, n: n, data: m.Data})
}

// maxMark is the longest id of a message in parts.
const maxMark = 64

// from returns the sender of a subject: the agent that owns it, since nobody else may publish there.
func from(subject string) string {
	if id := wire.SubjectID(subject); id != "" {
		return id
	}
	return subject
}

// part is part i of the n of a message.
type part struct {
	id   string
	i, n int
	data []byte
}

func (j *joiner) add(who string, p part) ([]byte, bool) {
	s := j.senders[who]
	var had *partial
	if s != nil {
		had = s.open[p.id]
	}
	if had == nil {
		if p.i != 0 || p.n < 2 || len(p.data) < minPart || int64(len(p.data))*int64(p.n-1) >= wire.MaxMessage {
			return nil, false
		}
		s, had = j.begin(who, p)
	}
	last := p.i == p.n-1
	if p.i != had.next || p.n != had.n || len(p.data) > had.size || !last && len(p.data) != had.size ||
		len(had.data)+len(p.data) > wire.MaxMessage {
		j.drop(who, p.id) // a part was lost: the sender will send it all again
		return nil, false
	}
	had.data = append(had.data, p.data...)
	had.next++
	s.held += len(p.data)
	j.held += len(p.data)
	if last {
		j.drop(who, p.id)
		return had.data, true
	}
	j.bound(who, s, p.id)
	return nil, false
}

func (j *joiner) begin(who string, p part) (*sender, *partial) {
	if j.senders == nil {
		j.senders = map[string]*sender{}
	}
	s := j.senders[who]
	if s == nil {
		s = &sender{open: map[string]*partial{}}
		j.senders[who] = s
	}
	had := &partial{n: p.n, size: len(p.data)}
	s.open[p.id] = had
	s.order = append(s.order, p.id)
	return s, had
}

// bound drops what exceeds the limits, except the current message.
func (j *joiner) bound(who string, s *sender, hand string) {
	for (len(s.order) > maxOpenEach || s.held > maxHeldEach) && s.order[0] != hand {
		j.drop(who, s.order[0])
	}
	for j.held > maxHeld {
		most := who
		for name, other := range j.senders {
			if other.held > j.senders[most].held {
				most = name
			}
		}
		oldest := j.senders[most].order[0]
		if most == who && oldest == hand {
			return
		}
		j.drop(most, oldest)
	}
}

func (j *joiner) drop(who, id string) {
	s := j.senders[who]
	if s == nil || s.open[id] == nil {
		return
	}
	n := len(s.open[id].data)
	s.held, j.held = s.held-n, j.held-n
	delete(s.open, id)
	s.order = slices.DeleteFunc(s.order, func(o string) bool { return o == id })
	if len(s.open) == 0 {
		delete(j.senders, who)
	}
}
