package main

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// keyVariable names the variable of the environment with the path of the private key, as ssh-keygen -t ed25519 makes
// it.
const keyVariable = "HARK_RELEASE_KEY"

// namespace keeps signatures of releases apart from all others of the key (ssh-keygen -Y sign -n).
const namespace = "hark-release"

// principal is who signs, in the file of allowed signers.
const principal = "release"

// pgpMade is the time of the OpenPGP form of any key: it is part of its fingerprint, so it must not change.
var pgpMade = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// signer signs with one Ed25519 key in two forms: that of ssh for people and scripts, that of OpenPGP for apt and
// rpm, which know no other.
type signer struct {
	key    ed25519.PrivateKey
	ssh    ssh.Signer
	pgp    *openpgp.Entity
	config *packet.Config
}

// openSigner reads the private key. Without a path it makes one that is thrown away, and says so.
func openSigner(path string, now time.Time) (*signer, error) {
	var key ed25519.PrivateKey
	if path == "" {
		fmt.Fprintf(os.Stderr,
			"release: %s names no key: signing with a key that is made for this run and thrown away. Do not publish this.\n",
			keyVariable)
		var err error
		if _, key, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return nil, err
		}
	} else {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read the key of %s: %w", keyVariable, err)
		}
		read, err := ssh.ParseRawPrivateKey(text)
		if err != nil {
			return nil, fmt.Errorf("cannot use the key %s: %w", path, err)
		}
		held, ok := read.(*ed25519.PrivateKey)
		if !ok {
			return nil, fmt.Errorf("cannot use the key %s: it is not of the kind ed25519 (ssh-keygen -t ed25519)", path)
		}
		key = *held
	}
	return newSigner(key, now)
}

func newSigner(key ed25519.PrivateKey, now time.Time) (*signer, error) {
	s := &signer{key: key}
	var err error
	if s.ssh, err = ssh.NewSignerFromKey(key); err != nil {
		return nil, err
	}
	off := false
	s.config = &packet.Config{
		DefaultHash: crypto.SHA256, Time: func() time.Time { return now }, NonDeterministicSignaturesViaNotation: &off,
		Algorithm: packet.PubKeyAlgoEdDSA,
	}
	s.pgp, err = pgpEntity(key, s.config)
	return s, err
}

// pgpEntity is an Ed25519 key as OpenPGP has it, with its own signature over its name.
func pgpEntity(key ed25519.PrivateKey, config *packet.Config) (*openpgp.Entity, error) {
	read, err := packet.Read(bytes.NewReader(pgpSecretKey(key)))
	if err != nil {
		return nil, fmt.Errorf("cannot make an OpenPGP key of the key: %w", err)
	}
	private, ok := read.(*packet.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("internal error: the OpenPGP key is a %T", read)
	}
	own := *config
	own.Time = func() time.Time { return pgpMade }
	e := &openpgp.Entity{PrimaryKey: &private.PublicKey, PrivateKey: private, Identities: map[string]*openpgp.Identity{}}
	return e, e.AddUserId("hark releases", "", "", &own)
}

// pgpSecretKey is the packet of an Ed25519 key without a passphrase, version 4 (RFC 4880, section 5.5.3, and the
// draft of EdDSA).
func pgpSecretKey(key ed25519.PrivateKey) []byte {
	oid := []byte{9, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01}
	body := append([]byte{4}, binary.BigEndian.AppendUint32(nil, uint32(pgpMade.Unix()))...)
	body = append(append(body, byte(packet.PubKeyAlgoEdDSA)), oid...)
	body = append(body, mpi(append([]byte{0x40}, key.Public().(ed25519.PublicKey)...))...)
	secret, sum := mpi(key.Seed()), uint16(0)
	for _, b := range secret {
		sum += uint16(b)
	}
	body = append(append(append(body, 0), secret...), byte(sum>>8), byte(sum))
	return append([]byte{0xc0 | 5, byte(len(body))}, body...)
}

// mpi is a number as OpenPGP writes it: its length in bits, and no zeros before it.
func mpi(number []byte) []byte {
	n := new(big.Int).SetBytes(number)
	return append(binary.BigEndian.AppendUint16(nil, uint16(n.BitLen())), n.Bytes()...)
}

// packet signs for rpm: a binary OpenPGP signature.
func (s *signer) packet(data io.Reader) ([]byte, error) {
	var b bytes.Buffer
	err := openpgp.DetachSign(&b, s.pgp, data, s.config)
	return b.Bytes(), err
}

// armored is an OpenPGP signature in text.
func (s *signer) armored(text []byte) ([]byte, error) {
	var b bytes.Buffer
	err := openpgp.ArmoredDetachSign(&b, s.pgp, bytes.NewReader(text), s.config)
	return append(b.Bytes(), '\n'), err
}

// within is a text with its OpenPGP signature around it.
func (s *signer) within(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, s.pgp.PrivateKey, s.config)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return append(b.Bytes(), '\n'), nil
}

// sshSignature is what `ssh-keygen -Y sign -n hark-release` makes.
func (s *signer) sshSignature(text []byte) ([]byte, error) {
	sig, err := sshsig.Sign(bytes.NewReader(text), s.ssh, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, err
	}
	return sshsig.Armor(sig), nil
}

// allowed is the line of the public key in a file of allowed signers.
func (s *signer) allowed() string {
	return fmt.Sprintf("%s namespaces=%q %s", principal, namespace,
		strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.ssh.PublicKey()))))
}

// keys writes the public key in both forms.
func (r *release) keys() error {
	if err := os.WriteFile(filepath.Join(r.out, "hark.allowed_signers"), []byte(r.sign.allowed()+"\n"),
		0o644); err != nil {
		return err
	}
	var plain, text bytes.Buffer
	if err := r.sign.pgp.Serialize(&plain); err != nil {
		return err
	}
	w, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err != nil {
		return err
	}
	if _, err := w.Write(plain.Bytes()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	text.WriteByte('\n')
	return errors.Join(os.WriteFile(filepath.Join(r.out, "hark.asc"), text.Bytes(), 0o644),
		os.WriteFile(filepath.Join(r.out, "hark.gpg"), plain.Bytes(), 0o644))
}

// signSums signs SHA256SUMS.
func (r *release) signSums() error {
	text, err := os.ReadFile(filepath.Join(r.out, sumsFile))
	if err != nil {
		return err
	}
	sig, err := r.sign.sshSignature(text)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile+".sig"), sig, 0o644)
}
