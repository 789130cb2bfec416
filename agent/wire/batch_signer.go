package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"sync"
	"time"
)

// BatchSigner signs the headers of many messages with one signature: it signs the root of a Merkle tree of their
// digests, and each message carries its path to the root. A header that is alone gets a signature of its own. It is
// safe for concurrent use.
type BatchSigner struct {
	By *Identity

	mu   sync.Mutex
	open *unsignedBatch // the batch that headers may still join, nil for none; guarded by mu
}

// mostJoint is how many headers one signature may cover, mostSteps how many steps each path to the root then has at
// most.
const (
	mostJoint = 32
	mostSteps = 5
)

// stepSize is the size of a step on the path to the root: one byte for the side of the other digest, and that digest.
const stepSize = 1 + sha256.Size

// The sides of a step.
const (
	otherFirst = 0
	otherLast  = 1
)

// jointPurpose begins what is signed for many headers. No header begins so, and no challenge of a broker contains a
// space.
const jointPurpose = "joint signature of hark, 1\n"

// unsignedBatch are headers that wait for their signature.
type unsignedBatch struct {
	digests []digest
	full    chan struct{} // closed when no more may join
	done    chan struct{} // closed when the fields below are set
	sigs    [][]byte
	err     error
}

type digest = [sha256.Size]byte

// Sign signs a header together with those that arrive within the given time; the first header of a batch decides the
// time. With 0 it signs at once.
func (j *BatchSigner) Sign(head []byte, within time.Duration) ([]byte, error) {
	j.mu.Lock()
	s, first := j.open, j.open == nil
	if first {
		s = &unsignedBatch{full: make(chan struct{}), done: make(chan struct{})}
		j.open = s
	}
	place := len(s.digests)
	if s.digests = append(s.digests, leaf(head)); len(s.digests) == mostJoint {
		j.open = nil
		close(s.full)
	}
	j.mu.Unlock()
	if !first {
		<-s.done
		return s.sig(place)
	}
	if within > 0 {
		select {
		case <-s.full:
		case <-time.After(within):
		}
	}
	j.mu.Lock()
	if j.open == s {
		j.open = nil
	}
	j.mu.Unlock()
	s.sign(j.By, head)
	close(s.done)
	return s.sig(place)
}

func (s *unsignedBatch) sig(place int) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.sigs[place], nil
}

// sign signs for all headers. only is the header if there is just one.
func (s *unsignedBatch) sign(by *Identity, only []byte) {
	if len(s.digests) == 1 {
		var sig []byte
		sig, s.err = by.Sign(only)
		s.sigs = [][]byte{sig}
		return
	}
	ways, root := climb(s.digests)
	sig, err := by.Sign(underJoint(root))
	s.sigs, s.err = make([][]byte, len(ways)), err
	for i, way := range ways {
		s.sigs[i] = append(append(make([]byte, 0, len(sig)+len(way)), sig...), way...)
	}
}

// climb returns the path of each leaf to the root of their tree. A node without a neighbour rises unchanged.
func climb(row []digest) (ways [][]byte, root digest) {
	ways = make([][]byte, len(row))
	at := make([]int, len(row))
	for i := range at {
		at[i] = i
	}
	for len(row) > 1 {
		for i, n := range at {
			switch other := n ^ 1; {
			case other >= len(row):
			case other < n:
				ways[i] = append(append(ways[i], otherFirst), row[other][:]...)
			default:
				ways[i] = append(append(ways[i], otherLast), row[other][:]...)
			}
			at[i] = n / 2
		}
		above := make([]digest, 0, (len(row)+1)/2)
		for i := 0; i < len(row); i += 2 {
			if i+1 == len(row) {
				above = append(above, row[i])
				break
			}
			above = append(above, node(row[i], row[i+1]))
		}
		row = above
	}
	return ways, row[0]
}

// leaf and node hash different first bytes, so that the digest of a node never equals that of a header.
func leaf(head []byte) digest { return sha256.Sum256(append([]byte{0}, head...)) }

func node(first, last digest) digest {
	return sha256.Sum256(append(append(append(make([]byte, 0, 1+2*len(first)), 1), first[:]...), last[:]...))
}

func underJoint(root digest) []byte { return append([]byte(jointPurpose), root[:]...) }

// verifyHeader checks the signature of a header by the owner of a public key: one for it alone, or one for many.
func verifyHeader(key string, head, sig []byte) bool {
	if len(sig) <= ed25519.SignatureSize {
		return verify(key, head, sig)
	}
	sig, way := sig[:ed25519.SignatureSize], sig[ed25519.SignatureSize:]
	if len(way)%stepSize != 0 || len(way)/stepSize > mostSteps {
		return false
	}
	at := leaf(head)
	for ; len(way) > 0; way = way[stepSize:] {
		switch other := digest(way[1:stepSize]); way[0] {
		case otherFirst:
			at = node(other, at)
		case otherLast:
			at = node(at, other)
		default:
			return false
		}
	}
	return verify(key, underJoint(at), sig)
}
