package crypt

import (
	"context"
	"encoding/base64"
	"fmt"

	//lint:ignore SA1019 bcrypt is made of it
	"golang.org/x/crypto/blowfish"
)

// bcryptBase64 is bcrypt's own order of 64 digits.
var bcryptBase64 = base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").
	WithPadding(base64.NoPadding)

// Bcrypt returns the scheme that Blowfish's key schedule makes. ident is 2, 2a, 2b or 2y; the rounds are 2 to the
// power of cost, 4 to 31; the salt has 22 digits. golang.org/x/crypto/bcrypt does not take the salt from the caller.
func Bcrypt(ctx context.Context, password []byte, ident string, cost int, salt string) (string, error) {
	raw, err := bcryptBase64.DecodeString(salt)
	if err != nil {
		return "", fmt.Errorf("cannot hash a password: %q is no salt", salt)
	}
	cipher, err := schedule(ctx, password, raw, ident, cost)
	if err != nil {
		return "", err
	}
	sum := []byte("OrpheanBeholderScryDoubt")
	for block := 0; block < len(sum); block += blowfish.BlockSize {
		for range 64 {
			cipher.Encrypt(sum[block:], sum[block:])
		}
	}
	return fmt.Sprintf("$%s$%02d$%s%s", ident, cost, bcryptBase64.EncodeToString(raw),
		bcryptBase64.EncodeToString(sum[:23])), nil
}

// schedule returns the costly part: the key schedule run over and over.
func schedule(ctx context.Context, password, salt []byte, ident string, cost int) (*blowfish.Cipher, error) {
	key := password
	if ident != "2" {
		key = append(password[:len(password):len(password)], 0)
	}
	key = key[:min(len(key), 72)]
	cipher, err := blowfish.NewSaltedCipher(key, salt)
	if err != nil {
		return nil, fmt.Errorf("cannot hash a password: %w", err)
	}
	for i := range uint64(1) << cost {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		blowfish.ExpandKey(key, cipher)
		blowfish.ExpandKey(salt, cipher)
	}
	return cipher, nil
}
