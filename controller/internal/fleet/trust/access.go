package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/statefile"
)

// AccessFile is the name of the record of brokers in the operator's directory.
const AccessFile = "brokers.json"

// accessVersion is the version of that file's form.
const accessVersion = 1

// Access is what an operator needs to reach a broker.
type Access struct {
	URL string `json:"url"`
	// Token is the operator's token of the broker's authority, CA the certificate of the authority that signs for the
	// broker only, in PEM; "" trusts the system's.
	Token string `json:"token,omitempty"`
	CA    string `json:"ca,omitempty"`
	// Operators are the public keys of the other operators whose word for an agent's name is taken.
	Operators []string `json:"operators,omitempty"`
	// ReadOnly says that the token lets its owner look and command nobody.
	ReadOnly bool `json:"read_only,omitempty"`
	// Readers may read the records of this operator's runs, as those whom he has named: who gave the access.
	Readers []Reader `json:"readers,omitempty"`
}

// Brokers is the record of the brokers that an operator may use.
type Brokers struct {
	path string

	Version int `json:"version"`
	// Default is the URL of the broker that is used when none is named.
	Default string            `json:"default,omitempty"`
	Brokers map[string]Access `json:"brokers"`
}

// OpenBrokers reads the record in dir; none is an empty one.
func OpenBrokers(dir string) (*Brokers, error) {
	b := &Brokers{path: filepath.Join(dir, AccessFile), Version: accessVersion}
	if err := statefile.Load(b.path, accessVersion, b); err != nil {
		return nil, fmt.Errorf("cannot read the record of brokers %s: %v", b.path, err)
	}
	return b, nil
}

// For returns how to reach a broker, "" for the default. One that is not on record under this URL, since it has
// several, is reached as the default is.
func (b *Brokers) For(url string) Access {
	if url == "" {
		url = b.Default
	}
	a, ok := b.Brokers[url]
	if !ok {
		a = b.Brokers[b.Default]
		a.URL = url
	}
	return a
}

// Put enters a broker and makes it the default. Whose word is taken for its agents stays so.
func (b *Brokers) Put(a Access) error {
	for _, key := range a.Operators {
		if !wire.ValidKey(key) {
			return fmt.Errorf("%.300q is not an operator's public key", key)
		}
	}
	for _, r := range a.Readers {
		if err := checkReader(r.Name, r.Key); err != nil {
			return err
		}
	}
	return b.change(func(b *Brokers) {
		for _, key := range b.Brokers[a.URL].Operators {
			if !slices.Contains(a.Operators, key) {
				a.Operators = append(slices.Clone(a.Operators), key)
			}
		}
		for _, r := range b.Brokers[a.URL].Readers {
			if !slices.Contains(a.Readers, r) {
				a.Readers = append(slices.Clone(a.Readers), r)
			}
		}
		if b.Brokers == nil {
			b.Brokers = map[string]Access{}
		}
		b.Brokers[a.URL], b.Default = a, a.URL
	})
}

// Renew enters a newer token in the place of one.
func (b *Brokers) Renew(old, newer string) error {
	return b.change(func(b *Brokers) {
		for url, a := range b.Brokers {
			if a.Token == old {
				a.Token = newer
				b.Brokers[url] = a
			}
		}
	})
}

// Disbelieve takes an operator's word no more, at no broker, and has the reader of that key no more: "" is none. It
// reports whether the record had either.
func (b *Brokers) Disbelieve(operator, reader string) (had bool, err error) {
	err = b.change(func(b *Brokers) {
		for url, a := range b.Brokers {
			n := len(a.Operators) + len(a.Readers)
			a.Operators = slices.DeleteFunc(slices.Clone(a.Operators), func(key string) bool { return key == operator })
			a.Readers = slices.DeleteFunc(slices.Clone(a.Readers), func(r Reader) bool { return r.Key == reader })
			if len(a.Operators)+len(a.Readers) < n {
				had = true
				b.Brokers[url] = a
			}
		}
	})
	return had, err
}

// Believe takes an operator's word for agents of a broker from now on, "" for the default.
func (b *Brokers) Believe(url, operator string) error {
	if url == "" {
		url = b.Default
	}
	known := false
	err := b.change(func(b *Brokers) {
		a, ok := b.Brokers[url]
		if known = ok; ok && !slices.Contains(a.Operators, operator) {
			a.Operators = append(slices.Clone(a.Operators), operator)
			b.Brokers[url] = a
		}
	})
	if err == nil && !known {
		err = fmt.Errorf("there is no access to a broker at %q on record: `hark broker use` enters it", url)
	}
	return err
}

// Drop forgets a broker.
func (b *Brokers) Drop(url string) error {
	return b.change(func(b *Brokers) {
		delete(b.Brokers, url)
		if b.Default == url {
			b.Default = ""
		}
	})
}

// change reads the file again, since other commands write it too, and replaces it whole.
func (b *Brokers) change(f func(*Brokers)) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return fmt.Errorf("cannot keep the record of brokers: %v", err)
	}
	unlock, err := lockFile(b.path + ".lock")
	if err != nil {
		return fmt.Errorf("cannot keep the record of brokers: %v", err)
	}
	defer unlock()
	now, err := OpenBrokers(filepath.Dir(b.path))
	if err != nil {
		return err
	}
	f(now)
	if err := statefile.Save(b.path, now); err != nil {
		return fmt.Errorf("cannot keep the record of brokers: %v", err)
	}
	*b = *now
	return nil
}
