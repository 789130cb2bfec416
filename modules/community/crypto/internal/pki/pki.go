// Package pki reads and makes private keys, with the messages of the collection community.crypto. It knows the
// algorithms of Go's library and touches no file.
package pki

// Error is a fault in what users gave, in the words that Ansible has for it.
type Error string

func (e Error) Error() string { return string(e) }
