// Package trust keeps the keys of people: the operator identity that signs everything sent to agents, and the
// record of which key belongs to which agent. Both are files that their owner alone can read.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// NoKeyError says that there is no operator key yet.
type NoKeyError struct{ Path string }

func (e *NoKeyError) Error() string {
	return fmt.Sprintf("there is no operator key at %s: make one with `hark key create`", e.Path)
}

// Load reads the operator's identity from a file. The error is a *NoKeyError if there is none, and something else if
// others can read the file or replace it.
func Load(path string) (*wire.Identity, error) { return LoadOf(path, os.Geteuid()) }

// LoadOf is Load for a key that root or the user uid owns.
func LoadOf(path string, uid int) (*wire.Identity, error) {
	text, err := securefile.ReadOf(path, securefile.Secret, uid)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoKeyError{Path: path}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the operator key: %w", err)
	}
	id, err := wire.ParseIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	return id, nil
}

// Create makes a new operator identity; the directory of the file is made if need be. It refuses to replace one.
func Create(path string) (*wire.Identity, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the directory of the operator key: %v", err)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	text, err := id.Text()
	if err != nil {
		return nil, err
	}
	if err := atomicfile.WriteNew(path, text); err != nil {
		return nil, fmt.Errorf("cannot write the operator key: %w", err)
	}
	return id, nil
}

// LostKeyError says that the operator's key is gone though there was one: agents obey it and no other.
type LostKeyError struct {
	Path string
	Was  string // its public key, "" if that is not known
}

func (e *LostKeyError) Error() string {
	was := ""
	if e.Was != "" {
		was = " (" + e.Was + ")"
	}
	return fmt.Sprintf(
		"the operator key %s is gone: agents and brokers know this operator by it%s. Put it back from a backup; `hark key "+
			"create` makes another, which nobody obeys yet", e.Path, was)
}

// lost reports whether there was a key, by what is on record in an operator's directory: access to brokers, or agents
// that were met. was is its public key, "" if that is not known.
func lost(home string) (was string, is bool) {
	if brokers, err := OpenBrokers(home); err == nil {
		for _, a := range brokers.Brokers {
			if claims, err := jwt.DecodeUserClaims(a.Token); err == nil {
				return claims.Subject, true
			}
		}
	}
	st, err := os.Stat(filepath.Join(home, KnownFile))
	return "", err == nil && st.Size() > 0
}

// Lost reports whether there was a key in a file that is gone, and its public key if that is known.
func Lost(path, home string) (was string, is bool) {
	for _, dir := range []string{home, filepath.Dir(path)} {
		if was, is = lost(dir); is {
			return was, true
		}
	}
	return "", false
}

// LoadOrCreate is Load, and Create if there is no key and never was one; created tells which. The error is a
// *LostKeyError if there was, by what is on record beside it or in the operator's directories.
func LoadOrCreate(path string, homes ...string) (id *wire.Identity, created bool, err error) {
	id, err = Load(path)
	var none *NoKeyError
	if !errors.As(err, &none) {
		return id, false, err
	}
	for _, home := range append(homes, filepath.Dir(path)) {
		if was, is := lost(home); is {
			return nil, false, &LostKeyError{path, was}
		}
	}
	id, err = Create(path)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		id, err = Load(path)
		return id, false, err
	}
	return id, err == nil, err
}
