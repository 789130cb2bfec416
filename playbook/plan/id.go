package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// ID is a step's position in play order: numbers joined by dots. A fragment's steps are below the step that included
// them ("12.0.3" is step 3 of fragment 0 of step 12); a handler's run is below its flush ("20.0.4": handler 0.4, run by
// the flush at 20). Compare orders them as Ansible runs them.
type ID string

// Under returns the ID of child n of id.
func (id ID) Under(n int) ID {
	if id == "" {
		return ID(strconv.Itoa(n))
	}
	return id + ID("."+strconv.Itoa(n))
}

// Compare returns a negative number when a comes before b in play order. A step comes before what is below it.
func Compare(a, b ID) int {
	for a != b {
		first, underA, deeperA := strings.Cut(string(a), ".")
		second, underB, deeperB := strings.Cut(string(b), ".")
		x, y := idNumber(first), idNumber(second)
		switch {
		case x != y:
			return x - y
		case deeperA != deeperB && deeperB:
			return -1
		case deeperA != deeperB:
			return 1
		case !deeperA:
			return 0
		}
		a, b = ID(underA), ID(underB)
	}
	return 0
}

// idNumber returns one number of an ID, 0 for an invalid one. It is called several times for each event of each host,
// so it allocates nothing, not even an error.
func idNumber(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' || n > math.MaxInt32 {
			return 0
		}
		n = n*10 + int(text[i]-'0')
	}
	return n
}

// Within reports whether id is parent or below it.
func (id ID) Within(parent ID) bool {
	return id == parent || strings.HasPrefix(string(id), string(parent)+".")
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
