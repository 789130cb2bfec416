package link

import (
	"crypto/rand"
	"strings"
)

// NewID returns a name that no other run or call has: one token of a subject.
func NewID() string { return strings.ToLower(rand.Text()[:12]) }
