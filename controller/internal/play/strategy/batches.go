package strategy

import (
	"fmt"
	"strconv"
	"strings"
)

// Batches are the batches of a play, one after the other (serial).
type Batches struct {
	states *HostStates
	rest   [][]string
	// now is the current batch, out how many hosts were out when it began.
	now []string
	out int
	// over says that no batch follows; broke says that no play follows either.
	over, broke bool
}

// NewBatches divides the hosts of a play by the entries of serial: numbers and percentages of all hosts. The last entry
// applies to the rest; an entry of 0 or less takes all that are left. Without hosts there are no batches.
func NewBatches(hosts []string, serial []string, fates *HostStates) (*Batches, error) {
	batches, err := split(hosts, serial)
	return &Batches{states: fates, rest: batches}, err
}

// None reports whether the play has no hosts.
func (b *Batches) None() bool { return b.now == nil && len(b.rest) == 0 }

// Next returns the next batch; false if there is none.
func (b *Batches) Next() ([]string, bool) {
	if b.over || len(b.rest) == 0 {
		return nil, false
	}
	b.now, b.rest = b.rest[0], b.rest[1:]
	b.out = b.states.count()
	return b.now, true
}

// Done takes the balance of the current batch. stop says that no more hosts may be lost.
func (b *Batches) Done(of Balance, stop bool) {
	if of.EndPlay {
		b.over, b.broke = true, false
		return
	}
	b.broke = b.broke || of.Broken
	if stop || b.states.count()-b.out == len(b.now) {
		b.over, b.broke = true, true
	}
}

// Broke reports whether no play follows: a failure applied to all hosts, or all hosts of a batch are out.
func (b *Batches) Broke() bool { return b.broke }

func split(hosts []string, serial []string) ([][]string, error) {
	var batches [][]string
	rest := hosts
	for i := 0; len(rest) > 0; i++ {
		size := 0
		if len(serial) > 0 {
			n, err := batchSize(serial[min(i, len(serial)-1)], len(hosts))
			if err != nil {
				return nil, err
			}
			size = n
		}
		if size <= 0 || size > len(rest) {
			size = len(rest)
		}
		batches = append(batches, rest[:size:size])
		rest = rest[size:]
	}
	return batches, nil
}

// batchSize returns the number of hosts of one entry of serial. A percentage is at least one host.
func batchSize(entry string, hosts int) (int, error) {
	if percent, ok := strings.CutSuffix(entry, "%"); ok {
		f, err := strconv.ParseFloat(percent, 64)
		if err != nil {
			return 0, fmt.Errorf("invalid serial value: %q", entry)
		}
		return max(1, int(f/100*float64(hosts))), nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(entry))
	if err != nil {
		return 0, fmt.Errorf("invalid serial value: %q", entry)
	}
	return n, nil
}
