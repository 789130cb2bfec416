// Package ansibleerror has errors in Ansible's words, as users know them: they begin with a capital and end as they
// end there.
package ansibleerror

import "fmt"

// Error is such an error.
type Error string

func (e Error) Error() string { return string(e) }

// Errorf formats one.
func Errorf(format string, a ...any) error { return Error(fmt.Sprintf(format, a...)) }
