// Package pki reads and makes keys, requests and certificates, and tells of them in the words of the collection community.crypto. It knows
// the algorithms of Go's library and touches no file.
package pki

import "fmt"

// Error is a fault in what users gave, in the words that Ansible has for it.
type Error string

func (e Error) Error() string { return string(e) }

func failf(format string, a ...any) error { return Error(fmt.Sprintf(format, a...)) }
