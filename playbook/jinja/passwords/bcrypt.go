package passwords

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	//lint:ignore SA1019 bcrypt is made of it
	"golang.org/x/crypto/blowfish"
)

// bcryptBase64 is bcrypt's own order of 64 digits.
var bcryptBase64 = base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").WithPadding(base64.NoPadding)

// bcrypt takes the salt from the caller, which golang.org/x/crypto/bcrypt does not.
func bcrypt(ctx context.Context, password []byte, o Options) (string, error) {
	if o.Ident == "" {
		o.Ident = "2b"
	}
	if !strings.Contains(" 2 2a 2b 2y ", " "+o.Ident+" ") {
		return "", refuse("invalid ident: '%s'", o.Ident)
	}
	salt, err := bcryptBase64.DecodeString(o.Salt)
	if err != nil {
		return "", Error("Could not hash the secret.")
	}
	cipher, err := schedule(ctx, password, salt, o)
	if err != nil {
		return "", err
	}
	sum := []byte("OrpheanBeholderScryDoubt")
	for block := 0; block < len(sum); block += blowfish.BlockSize {
		for range 64 {
			cipher.Encrypt(sum[block:], sum[block:])
		}
	}
	return fmt.Sprintf("$%s$%02d$%s%s", o.Ident, o.Rounds, bcryptBase64.EncodeToString(salt), bcryptBase64.EncodeToString(sum[:23])), nil
}

// schedule is the costly part: the key schedule run over and over.
func schedule(ctx context.Context, password, salt []byte, o Options) (*blowfish.Cipher, error) {
	key := password
	if o.Ident != "2" {
		key = append(password[:len(password):len(password)], 0)
	}
	key = key[:min(len(key), 72)]
	cipher, err := blowfish.NewSaltedCipher(key, salt)
	if err != nil {
		return nil, Error("Could not hash the secret.")
	}
	for i := range uint64(1) << o.Rounds {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		blowfish.ExpandKey(key, cipher)
		blowfish.ExpandKey(salt, cipher)
	}
	return cipher, nil
}
