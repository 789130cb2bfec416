package wire

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// jointly are n frames that were signed together.
func jointly(t *testing.T, by *Identity, n int) (frames [][]byte) {
	t.Helper()
	var c Codec
	frames = make([][]byte, n)
	synctest.Test(t, func(t *testing.T) {
		j := BatchSigner{By: by}
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				p := Packing{Sign: by, Jointly: func(head []byte) ([]byte, error) { return j.Sign(head, time.Second) }}
				var err error
				if frames[i], err = c.Pack(Header{Kind: KindPlan, Run: fmt.Sprint("r", i)}, Opening{}, p); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	return frames
}

// parts are the header of a frame and its signature.
func parts(t *testing.T, data []byte) (head, sig, body []byte) {
	t.Helper()
	head, rest, ok := cutField(data[len(magic):], MaxHeader)
	if sig, body, ok = cutField(rest, 256); !ok {
		t.Fatal("it is no frame")
	}
	return head, sig, body
}

func TestOneSignatureIsForMany(t *testing.T) {
	operator := identity(t)
	for _, n := range []int{1, 2, 3, 5, 8, 17, mostJoint, mostJoint + 1, 3 * mostJoint} {
		signatures := map[string]bool{}
		for i, data := range jointly(t, operator, n) {
			f, err := Parse(data)
			if err != nil || !f.Signed || f.Header.Run != fmt.Sprint("r", i) {
				t.Fatalf("%d of %d: %v", i, n, err)
			}
			head, sig, _ := parts(t, data)
			signatures[string(sig[:ed25519.SignatureSize])] = true
			if alone := len(sig) == ed25519.SignatureSize; alone != verify(operator.Key, head, sig) ||
				alone && n%mostJoint != 1 {
				t.Errorf("%d of %d: receivers of before take it for something else", i, n)
			}
		}
		if want := (n + mostJoint - 1) / mostJoint; len(signatures) != want {
			t.Errorf("%d headers have %d signatures, want %d", n, len(signatures), want)
		}
	}
}

// A signature for many is for those alone: with no other header, no other way, and no other key.
func TestAJointSignatureIsForNoOther(t *testing.T) {
	operator, stranger := identity(t), identity(t)
	frames := jointly(t, operator, 6)
	own, sig, body := parts(t, frames[2])
	other, othersSig, _ := parts(t, frames[3])
	const step = ed25519.SignatureSize
	way := sig[step:]
	side := bytes.Clone(sig)
	side[step] ^= 1
	unknown := bytes.Clone(sig)
	unknown[step] = 2
	long := bytes.Clone(sig)
	for len(long) <= step+mostSteps*stepSize {
		long = append(long, way[:stepSize]...)
	}
	// The digest of two headers is that of a text that begins with 1: it is to pass for no header, nor a header for
	// what is signed for many.
	inner := append(append([]byte{1}, digestBytes(leaf(own))...), way[1:stepSize]...)
	for name, c := range map[string]struct{ head, sig []byte }{
		"another header of the tree":  {other, sig},
		"another's way":               {own, append(bytes.Clone(sig[:step]), othersSig[step:]...)},
		"a new header":                {bytes.Replace(own, []byte(`"r2"`), []byte(`"r9"`), 1), sig},
		"no way":                      {own, sig[:step]},
		"a shorter way":               {own, sig[:len(sig)-stepSize]},
		"a way that is cut off":       {own, sig[:len(sig)-1]},
		"a longer way":                {own, append(bytes.Clone(sig), way[:stepSize]...)},
		"too long a way":              {own, long},
		"the other side":              {own, side},
		"a side that there is not":    {own, unknown},
		"a node in place of a header": {inner, append(bytes.Clone(sig[:step]), way[stepSize:]...)},
		"what is signed for many":     {underJoint(rootOf(own, way)), sig[:step]},
	} {
		if good := verifyHeader(operator.Key, c.head, c.sig); good != (name == "what is signed for many") {
			t.Errorf("%s: the signature is good: %t", name, good)
		}
		if _, err := Parse(frame(c.head, c.sig, body)); err == nil {
			t.Errorf("%s: its frame is taken", name)
		}
	}
	if verifyHeader(stranger.Key, own, sig) {
		t.Error("it is another's too")
	}
	for i := range sig {
		altered := bytes.Clone(sig)
		altered[i] ^= 1
		if verifyHeader(operator.Key, own, altered) {
			t.Errorf("byte %d of the signature does not matter", i)
		}
	}
}

func digestBytes(d digest) []byte { return d[:] }

// rootOf climbs a way.
func rootOf(head, way []byte) digest {
	at := leaf(head)
	for ; len(way) > 0; way = way[stepSize:] {
		if other := digest(way[1:stepSize]); way[0] == otherFirst {
			at = node(other, at)
		} else {
			at = node(at, other)
		}
	}
	return at
}

// A header that comes alone is signed alone, as receivers of before want it, and waits no longer than it was told to.
func TestWhoIsAloneHasASignatureOfHisOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		operator := identity(t)
		j := BatchSigner{By: operator}
		for _, within := range []time.Duration{0, time.Second} {
			began := time.Now()
			sig, err := j.Sign([]byte(`{}`), within)
			if err != nil || !verify(operator.Key, []byte(`{}`), sig) || time.Since(began) != within {
				t.Errorf("within %s: %v after %s", within, err, time.Since(began))
			}
		}
	})
}
