package crypto

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"hark/modules/community/crypto/internal/pki"
	"hark/modules/internal/host/tool"
)

// sshPrivate is what there is to know of a private key's file.
type sshPrivate struct {
	key    pki.PrivateKey // nil: it is locked, only its public half is known
	public ssh.PublicKey  // what is known of it without the secret
	format string
}

func (p *sshPrivate) kind() string { return sshKind(p.public) }

// sshKind returns a key's type as users write it.
func sshKind(key ssh.PublicKey) string {
	name := strings.TrimPrefix(key.Type(), "ssh-")
	switch {
	case name == "dss":
		return "dsa"
	case strings.HasPrefix(name, "ecdsa-"):
		return "ecdsa"
	}
	return name
}

func (p *sshPrivate) size() int {
	if key, ok := p.public.(ssh.CryptoPublicKey); ok {
		if kind, size := pki.KindOf(key.CryptoPublicKey()); kind != "unknown" {
			return size
		}
	}
	return 1024 // of DSA keys, which have no other
}

// readSSHKey reads a private key in OpenSSH's form or in PEM.
func readSSHKey(raw []byte, passphrase *string) (*sshPrivate, error) {
	p := &sshPrivate{format: sshFormat(raw)}
	var err error
	if block, _ := pem.Decode(raw); block != nil && block.Type != "OPENSSH PRIVATE KEY" &&
		block.Type != "DSA PRIVATE KEY" {
		p.key, err = pki.LoadKey(raw, passphrase)
	} else {
		p.key, err = parseSSH(raw, passphrase)
	}
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked) && locked.PublicKey != nil:
		p.public = locked.PublicKey
		return p, nil
	case err != nil:
		return nil, err
	}
	p.public, err = ssh.NewPublicKey(p.key.Public())
	return p, err
}

func parseSSH(raw []byte, passphrase *string) (pki.PrivateKey, error) {
	key, err := ssh.ParseRawPrivateKey(raw)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) && passphrase != nil {
		key, err = ssh.ParseRawPrivateKeyWithPassphrase(raw, []byte(*passphrase))
	}
	if err != nil {
		return nil, err
	}
	if k, ok := key.(*ed25519.PrivateKey); ok {
		return *k, nil
	}
	k, ok := key.(pki.PrivateKey)
	if !ok {
		return nil, errors.New("unknown kind of key")
	}
	return k, nil
}

// sshFormat returns a file's form as Ansible's results have it, "" for others.
func sshFormat(raw []byte) string {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	switch strings.TrimSpace(string(line)) {
	case "-----BEGIN OPENSSH PRIVATE KEY-----":
		return "SSH"
	case "-----BEGIN PRIVATE KEY-----":
		return "PKCS8"
	case "-----BEGIN RSA PRIVATE KEY-----":
		return "PKCS1"
	}
	return ""
}

// errPKCS1 means that a key has no such form.
const errPKCS1 = pki.Error("ed25519 keys cannot be represented in PKCS1 format")

// writeSSHKey returns a key as SSH, PKCS8 or PKCS1, encrypted if there is a passphrase.
func writeSSHKey(key pki.PrivateKey, format, comment, passphrase string) ([]byte, error) {
	if format != "SSH" {
		raw, err := pki.SaveKey(key, strings.ToLower(format), passphrase)
		if errors.Is(err, pki.ErrForm) {
			err = errPKCS1
		}
		return raw, err
	}
	var block *pem.Block
	var err error
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(crypto.PrivateKey(key), comment)
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(crypto.PrivateKey(key), comment, []byte(passphrase))
	}
	return pem.EncodeToMemory(block), err
}

// sshPublic is a line of a public key's file.
type sshPublic struct{ kind, blob, comment string }

// line returns what belongs in the public key's file, without a comment.
func (p *sshPrivate) line() (*sshPublic, error) {
	public, err := ssh.NewPublicKey(p.key.Public())
	if err != nil {
		return nil, tool.Fail(nil, "%v", err)
	}
	return &sshPublic{kind: public.Type(), blob: base64.StdEncoding.EncodeToString(public.Marshal())}, nil
}

// readPublic reads a public key's file; nil if there is none, or no key in it.
func readPublic(path string) *sshPublic {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	f := strings.SplitN(strings.Trim(string(raw), " \n"), " ", 3)
	if len(f) < 2 {
		return nil
	}
	return &sshPublic{f[0], f[1], strings.Join(f[2:], "")}
}

func (p *sshPublic) String() string { return p.kind + " " + p.blob }
