package crypt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
)

// MaxRounds is the limit of rounds of SHA, usualRounds what is taken without any, by the specification "Unix crypt
// using SHA-256 and SHA-512" (U. Drepper, https://www.akkadia.org/drepper/SHA-crypt.txt).
const (
	usualRounds = 5000
	MaxRounds   = 999999999
)

// SHA256 returns the scheme of that name. The salt has up to 16 digits. Many rounds take long: it ends early with
// ctx.
func SHA256(ctx context.Context, password []byte, rounds int, salt string) (string, error) {
	sum, err := shaSum(ctx, sha256.New, password, []byte(salt), rounds)
	if err != nil {
		return "", err
	}
	out := []byte(shaPrefix("$5$", rounds, salt))
	for i := range 10 {
		at := [3]int{i, i + 10, i + 20}
		k := (3 - i%3) % 3 // the three bytes change places from group to group
		out = digits(out, sum[at[k]], sum[at[(k+1)%3]], sum[at[(k+2)%3]], 4)
	}
	return string(digits(out, 0, sum[31], sum[30], 3)), nil
}

// SHA512 returns the scheme of that name. The salt has up to 16 digits. Many rounds take long: it ends early with
// ctx.
func SHA512(ctx context.Context, password []byte, rounds int, salt string) (string, error) {
	sum, err := shaSum(ctx, sha512.New, password, []byte(salt), rounds)
	if err != nil {
		return "", err
	}
	out := []byte(shaPrefix("$6$", rounds, salt))
	for i := range 21 {
		at := [3]int{i, i + 21, i + 42}
		k := i % 3
		out = digits(out, sum[at[k]], sum[at[(k+1)%3]], sum[at[(k+2)%3]], 4)
	}
	return string(digits(out, 0, 0, sum[63], 2)), nil
}

// shaPrefix returns what stands before the sum: the specification's own rounds need not be said.
func shaPrefix(id string, rounds int, salt string) string {
	if rounds == usualRounds {
		return id + salt + "$"
	}
	return fmt.Sprintf("%srounds=%d$%s$", id, rounds, salt)
}

// shaSum returns the sum before it is written as digits. The steps are numbered as in the specification.
func shaSum(ctx context.Context, algorithm func() hash.Hash, password, salt []byte, rounds int) ([]byte, error) {
	sum := firstSum(algorithm, password, salt) // 1 to 12

	all := algorithm() // 13 to 16
	for range password {
		all.Write(password)
	}
	p := repeat(all.Sum(nil), len(password))

	salts := algorithm() // 17 to 20
	for range 16 + int(sum[0]) {
		salts.Write(salt)
	}
	s := repeat(salts.Sum(nil), len(salt))

	for i := range rounds { // 21
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h := algorithm()
		h.Write(either(i&1 != 0, p, sum))
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		h.Write(either(i&1 != 0, sum, p))
		sum = h.Sum(sum[:0:0])
	}
	return sum, nil
}

func firstSum(algorithm func() hash.Hash, password, salt []byte) []byte {
	b := algorithm()
	b.Write(bytes.Join([][]byte{password, salt, password}, nil))
	other := b.Sum(nil)

	a := algorithm()
	a.Write(password)
	a.Write(salt)
	a.Write(repeat(other, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		a.Write(either(n&1 != 0, other, password))
	}
	return a.Sum(nil)
}
