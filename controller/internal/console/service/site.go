// Package service is a console as a process: its directory with keys of its own, its address and its users, the records
// of this machine and, with access to a broker, those of the fleet. It has a reader's key, which agents do not obey,
// and reads no other.
package service

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
	"hark/controller/internal/console"
	"hark/controller/internal/console/auth"
	"hark/controller/internal/fleet/health"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/ui/view"
)

// DefaultListen is where a console listens by default.
const DefaultListen = "127.0.0.1:8470"

// Config says what a console serves, and to whom.
type Config struct {
	// Dir is its own directory, Records that of the records of this machine.
	Dir, Records string
	Listen       string
	// Certificate and Key are files, "" for none. Names are its host names beside the certificate's.
	Certificate, Key string
	Names            []string
	// Operators are the operators who may sign in, each as KEY or KEY=NAME.
	Operators []string
	// Header is the header in which a proxy of Proxies (addresses or networks) names the user.
	Header  string
	Proxies []string
	// Prelude reports whether a step of a broadcast comes before the one that counts.
	Prelude func(view.Task) bool
	Version string
	Log     zerolog.Logger
}

// The files of a console's directory. All are secrets of its own.
const (
	secretFile = "secret"
	keyFile    = "key"
	TokenFile  = "metrics-token"
	ReaderFile = "reader.nk"
	accessFile = "access.json"
)

// Reader returns the key of the console in a directory, and creates it if there is none. A broker admits this key as a
// reader, and operators seal records for it.
func Reader(dir string) (*wire.Identity, error) {
	path := filepath.Join(dir, ReaderFile)
	if id, err := trust.LoadOf(path, ownerOf(dir)); err == nil {
		return id, nil
	}
	id, created, err := trust.LoadOrCreate(path)
	if err == nil && created {
		err = likeItsDirectory(path)
	}
	return id, err
}

// Run serves until ctx is done. It calls ready with the address that admits a browser.
func Run(ctx context.Context, c Config, ready func(address string)) error {
	if err := c.Check(); err != nil {
		return err
	}
	g, certificate, err := c.gate()
	if err != nil {
		return err
	}
	on, err := net.Listen("tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("cannot listen on %s: another program does, maybe a console that runs already; --listen "+
			"HOST:PORT takes another place", c.Listen)
	}
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	defer on.Close()
	_, g.Port, _ = net.SplitHostPort(on.Addr().String())
	var own time.Time // the end of the console's own certificate
	if certificate != nil && certificate.Leaf != nil {
		own = certificate.Leaf.NotAfter
	}
	conf := console.Config{Play: console.Screen(c.Prelude), Gate: g, Version: c.Version, Now: time.Now, Log: c.Log}
	done, err := c.sources(ctx, &conf)
	if err != nil {
		return err
	}
	defer done()
	if beyond := conf.Endings; !own.IsZero() || beyond != nil {
		conf.Endings = func() []console.Ending {
			all := []console.Ending{{What: "the console's certificate", At: own}}
			if beyond != nil {
				all = append(all, beyond()...)
			}
			return all
		}
	}
	s, err := console.New(conf)
	if err != nil {
		return err
	}
	defer s.Close()
	ready(address(on.Addr().String(), g))
	var work sync.WaitGroup
	watching, stop := context.WithCancel(ctx)
	defer work.Wait()
	defer stop()
	work.Go(func() { health.Watch(watching, c.Log, s.Healthy) })
	return s.Serve(ctx, on, certificate)
}

// Check returns an error for settings that cannot be meant, before anything is created.
func (c *Config) Check() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("%q is not where one can listen: give HOST:PORT", c.Listen)
	}
	if (c.Certificate == "") != (c.Key == "") {
		return errors.New("a certificate needs its key: give --tls-cert and --tls-key")
	}
	if (c.Header == "") != (len(c.Proxies) == 0) {
		return errors.New("a header is believed only from named proxies: give --trust-header and --trust-proxy")
	}
	if !console.Beyond(c.Listen) {
		return nil
	}
	if c.Certificate == "" {
		return fmt.Errorf("others could read along: to listen on %s, beyond this machine, give --tls-cert and --tls-key",
			c.Listen)
	}
	if len(c.Operators) == 0 && c.Header == "" {
		return fmt.Errorf("nobody could sign in: to listen on %s, beyond this machine, give --operator KEY or "+
			"--trust-header and --trust-proxy", c.Listen)
	}
	return nil
}

// gate returns who is admitted, and reads the certificate.
func (c *Config) gate() (g auth.Config, certificate *tls.Certificate, err error) {
	g = auth.Config{Now: time.Now, Header: c.Header, Operators: map[string]string{}}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return g, nil, fmt.Errorf("cannot make the console's directory: %w", err)
	}
	if c.Certificate != "" {
		loaded, names, digest, err := console.Certificate(c.Certificate, c.Key)
		if err != nil {
			return g, nil, err
		}
		certificate, g.TLS, g.Digest, g.Names = &loaded, true, digest, names
	}
	for _, name := range c.Names {
		g.Names = append(g.Names, strings.ToLower(name))
	}
	for _, text := range c.Operators {
		key, name, _ := strings.Cut(text, "=")
		if !wire.ValidKey(key) {
			return g, nil, notOperator(key)
		}
		if name == "" {
			name = wire.IDOf(key)[:8]
		}
		g.Operators[key] = name
	}
	for _, text := range c.Proxies {
		network, err := prefix(text)
		if err != nil {
			return g, nil, err
		}
		g.Proxies = append(g.Proxies, network)
	}
	secret, err := own(c.Dir, secretFile)
	if err != nil {
		return g, nil, err
	}
	g.Secret = []byte(secret)
	if g.Token, err = own(c.Dir, TokenFile); err != nil {
		return g, nil, err
	}
	if len(c.Operators) == 0 && c.Header == "" {
		g.Key, err = own(c.Dir, keyFile)
	}
	return g, certificate, err
}

func notOperator(key string) error {
	return fmt.Errorf("%.80q is not an operator's public key: `hark key show --public` prints it", key)
}

func prefix(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network", text)
	}
	return p.Masked(), nil
}

// own returns a random text that a file of the console's directory keeps.
func own(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	text, err := securefile.Read(path, securefile.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		made := rand.Text() + rand.Text()
		if err = atomicfile.WriteNew(path, []byte(made+"\n")); err == nil {
			return made, nil
		}
		if errors.Is(err, fs.ErrExist) { // another console was faster
			text, err = securefile.Read(path, securefile.Secret)
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot use %s: %w", path, err)
	}
	const shortest = 32
	secret := strings.TrimSpace(string(text))
	if len(secret) < shortest {
		return "", fmt.Errorf("%s is too short for a secret: remove it, and another is made", path)
	}
	return secret, nil
}

// address returns the address of a console for a browser on this machine.
func address(listens string, g auth.Config) string {
	u := url.URL{Scheme: "http", Host: listens, Path: "/"}
	if g.TLS {
		u.Scheme = "https"
		if len(g.Names) > 0 {
			u.Host = net.JoinHostPort(g.Names[0], g.Port)
		}
	}
	if g.Key != "" {
		u.RawQuery = url.Values{"k": {g.Key}}.Encode()
	}
	return u.String()
}
