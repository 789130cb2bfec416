package crypt

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the scheme that was asked for
)

// The identifiers of MD5: FreeBSD's own, and Apache's.
const (
	FreeBSD = "$1$"
	Apache  = "$apr1$"
)

// MD5 returns the scheme of FreeBSD 2, with its fixed thousand rounds; Apache's differs by its identifier. The salt
// has up to 8 digits.
func MD5(id string, password []byte, saltText string) string {
	salt := []byte(saltText)
	other := md5.Sum(bytes.Join([][]byte{password, salt, password}, nil))

	h := md5.New()
	h.Write(bytes.Join([][]byte{password, []byte(id), salt, repeat(other[:], len(password))}, nil))
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

	out := []byte(id + saltText + "$")
	for i, last := range []int{12, 13, 14, 15, 5} {
		out = digits(out, sum[i], sum[i+6], sum[last], 4)
	}
	return string(digits(out, 0, 0, sum[11], 2))
}
