package passwords

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the scheme that was asked for
)

// md5Crypt is the scheme of FreeBSD 2, with its fixed thousand rounds.
func md5Crypt(_ context.Context, password []byte, o Options) (string, error) {
	if o.Rounds != 0 {
		return "", Error("crypt.crypt does not support 'md5_crypt' algorithm")
	}
	salt := []byte(o.Salt)
	other := md5.Sum(bytes.Join([][]byte{password, salt, password}, nil))

	h := md5.New()
	h.Write(bytes.Join([][]byte{password, []byte("$1$"), salt, repeat(other[:], len(password))}, nil))
	for n := len(password); n > 0; n >>= 1 {
		h.Write(either(n&1 != 0, []byte{0}, password[:1]))
	}
	sum := h.Sum(nil)

	for i := range 1000 {
		h := md5.New()
		h.Write(either(i&1 != 0, password, sum))
		if i%3 != 0 {
			h.Write(salt)
		}
		if i%7 != 0 {
			h.Write(password)
		}
		h.Write(either(i&1 != 0, sum, password))
		sum = h.Sum(nil)
	}

	out := []byte("$1$" + o.Salt + "$")
	for i, last := range []int{12, 13, 14, 15, 5} {
		out = digits(out, sum[i], sum[i+6], sum[last], 4)
	}
	return string(digits(out, 0, 0, sum[11], 2)), nil
}
