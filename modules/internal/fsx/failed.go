package fsx

import "hark/modules/py/value"

// Failed is an error with keys for the result: pairs of name and value.
func Failed(msg string, pairs ...any) error {
	e := &Error{Msg: msg, Data: value.NewDict()}
	for i := 0; i+1 < len(pairs); i += 2 {
		e.Data.Put(pairs[i].(string), pairs[i+1])
	}
	return e
}
