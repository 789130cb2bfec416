package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// ID is a step's place in play order: numbers joined by dots. A fragment's steps lie under the
// step that included them ("12.0.3" is step 3 of fragment 0 of step 12); a handler's run lies under its
// flush ("20.0.4": handler 0.4, run by the flush at 20). Compare orders them as Ansible runs them.
type ID string

// Under is the ID of child n of id.
func (id ID) Under(n int) ID {
	if id == "" {
		return ID(strconv.Itoa(n))
	}
	return id + ID("."+strconv.Itoa(n))
}

// Compare is negative when a comes before b in play order. A step comes before what lies under it.
func Compare(a, b ID) int {
	as, bs := strings.Split(string(a), "."), strings.Split(string(b), ".")
	for i := 0; i < len(as) && i < len(bs); i++ {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x - y
		}
	}
	return len(as) - len(bs)
}

// Within tells that id lies under parent, or is it.
func (id ID) Within(parent ID) bool {
	return id == parent || strings.HasPrefix(string(id), string(parent)+".")
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
