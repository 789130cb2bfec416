package nats

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"hark/agent/wire"
)

// Messages larger than partSize travel in parts: the servers' limit is 1 MB by default, and large messages hold up the
// small ones behind them. headroom is kept for subject and headers.
const (
	partSize = 512 << 10
	headroom = 4 << 10
)

// partHeader of each part is "id i n": part i of n of message id.
const partHeader = "Hark-Part"

// maxOpen is how many messages may be incomplete at once on one subscription, maxHeld how many bytes they may have: as many as a large
// fleet answers at once, and not what somebody likes to begin. Beyond either the oldest is given up; if its sender is still there it
// sends all of it again.
const (
	maxOpen = 1024
	maxHeld = 256 << 20
)

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

// joiner puts parts together again. Parts of one message come in order, since one connection sent them. It is used
// from one goroutine.
type joiner struct {
	open  map[string]*partial
	order []string // ids, oldest first
	held  int      // bytes of all
}

type partial struct {
	next, n int
	data    []byte
}

func newJoiner() *joiner { return &joiner{} }

// join gives the whole message when m is it or its last part.
func (j *joiner) join(m *nats.Msg) ([]byte, bool) {
	mark := m.Header.Get(partHeader)
	if mark == "" {
		return m.Data, true
	}
	f := strings.Fields(mark)
	if len(f) != 3 {
		return nil, false
	}
	i, err1 := strconv.Atoi(f[1])
	n, err2 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil {
		return nil, false
	}
	return j.add(f[0], i, n, m.Data)
}

func (j *joiner) add(id string, i, n int, data []byte) ([]byte, bool) {
	p := j.open[id]
	if p == nil {
		if i != 0 || n < 2 {
			return nil, false
		}
		p = j.begin(id, n)
	}
	if i != p.next || n != p.n || len(p.data)+len(data) > wire.MaxMessage {
		j.drop(id) // a part was lost: the sender will send it all again
		return nil, false
	}
	p.data = append(p.data, data...)
	p.next++
	j.held += len(data)
	for j.held > maxHeld && j.order[0] != id {
		j.drop(j.order[0])
	}
	if p.next < p.n {
		return nil, false
	}
	j.drop(id)
	return p.data, true
}

func (j *joiner) begin(id string, n int) *partial {
	if len(j.order) >= maxOpen {
		j.drop(j.order[0])
	}
	if j.open == nil {
		j.open = map[string]*partial{}
	}
	p := &partial{n: n}
	j.open[id] = p
	j.order = append(j.order, id)
	return p
}

func (j *joiner) drop(id string) {
	if p := j.open[id]; p != nil {
		j.held -= len(p.data)
	}
	delete(j.open, id)
	for i, o := range j.order {
		if o == id {
			j.order = append(j.order[:i], j.order[i+1:]...)
			return
		}
	}
}
