package crypt

import (
	"context"
	"testing"
)

// The hashes are what passlib 1.7 makes of "secret".
func TestVerifyKnowsEveryScheme(t *testing.T) {
	for hash, scheme := range map[string]string{
		"$1$abcdefgh$cHJi5PXp/ki/ktXzqlk6I1":                                                                             "md5_crypt",
		"$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/":                                                                          "apr_md5_crypt",
		"{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=":                                                                              "ldap_sha1",
		"$5$rounds=1000$abcdefgh$XIppta5rT8zJUu4vAOKQXrwq9uY4Ijlz6VjyOmkx5i4":                                            "sha256_crypt",
		"$5$abcdefgh$gruCpC7VkOTspMQTTSAR8mtlO9Upms.fwqE5y16JVM.":                                                        "sha256_crypt",
		"$6$rounds=1000$abcdefgh$nhYjN017qxiYztzyUpZtPnUQcnLy62KsunSLHNeLahp2EHPlAKmFFlrjEwSXGo2kgY5hR2.peKEg2VGUqIJJu1": "sha512_crypt",
		"$2y$04$CnOrHBJZOcVvNfoUB7C7t.cOP2F0n4QGsb7jzd7YfE87ERFMaZlq6":                                                   "bcrypt",
		"$2b$04$Zx8pNiznJ5jGTvpUjixdhuQoWCky2p008AART7gRn8pcdYLmOTVPu":                                                   "bcrypt",
	} {
		if got := Scheme(hash); got != scheme {
			t.Errorf("the scheme of %s is %s, want %s", hash, got, scheme)
		}
		if ok, err := Verify(t.Context(), []byte("secret"), hash); err != nil || !ok {
			t.Errorf("%s was not accepted: %v", hash, err)
		}
		if ok, _ := Verify(t.Context(), []byte("Secret"), hash); ok {
			t.Errorf("%s was accepted for another password", hash)
		}
	}
}

func TestVerifyRefusesWhatIsNoHash(t *testing.T) {
	for _, text := range []string{"", "secret", "$1$", "$5$", "$5$rounds=1$a$b", "$6$rounds=x$a$b", "$2b$12$short",
		"$2b$99$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW", "$apr1$a"} {
		if ok, err := Verify(t.Context(), []byte("secret"), text); ok || err != nil {
			t.Errorf("%q: %t, %v", text, ok, err)
		}
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, []byte("x"), "$6$rounds=999999999$abc$x"); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
