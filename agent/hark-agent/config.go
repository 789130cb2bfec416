package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"hark/agent/wire"
)

// defaultConfig is read when it is there and no other file is named.
const defaultConfig = "/etc/hark/agent.yml"

// settings are the agent's configuration: the file, and the flags of `run` over it.
//
//	name: web1                      # the host's name in inventories; default: the host name
//	broker: nats://10.0.0.1:4222    # one URL or several with commas
//	credentials: /etc/hark/creds    # token for a broker that asks for one, or a .creds file
//	ca: /etc/hark/ca.pem            # authority of the broker's certificate; default: the system's
//	operators: [UD...]              # public keys whose plans are obeyed (hark key show --public)
//	fleet: ""                       # if set, messages of other fleets are refused
//	state_dir: /var/lib/hark        # journal, unsent events, cached files, jobs
//	log_level: info                 # trace, debug, info, warn, error
type settings struct {
	Name      string   `yaml:"name"`
	Broker    string   `yaml:"broker"`
	Creds     string   `yaml:"credentials"`
	CA        string   `yaml:"ca"`
	Operators []string `yaml:"operators"`
	Fleet     string   `yaml:"fleet"`
	StateDir  string   `yaml:"state_dir"`
	LogLevel  string   `yaml:"log_level"`
}

// flags lets the command line replace what the file says.
func (s *settings) flags(f *pflag.FlagSet) *string {
	f.StringVar(&s.Name, "name", "", "the host's name in inventories (default: the host name)")
	f.StringVar(&s.Broker, "broker", "", "URL of the broker; several are parted by commas")
	f.StringVar(&s.Creds, "credentials", "", "file with the token for a broker that asks for one")
	f.StringVar(&s.CA, "ca", "", "file with the authority of the broker's certificate (default: the system's)")
	f.StringArrayVar(&s.Operators, "operator", nil, "public key whose plans are obeyed; may be given several times")
	f.StringVar(&s.Fleet, "fleet", "", "name of the fleet; messages of others are refused")
	f.StringVar(&s.StateDir, "state-dir", "", "directory of the agent's state (default /var/lib/hark)")
	f.StringVar(&s.LogLevel, "log-level", "", "trace, debug, info, warn or error (default info)")
	return f.String("config", "", "configuration file (default "+defaultConfig+", if it is there)")
}

// complete fills what no flag gave from the file and the defaults, and checks it.
func (s *settings) complete(path string) error {
	file, err := readSettings(path)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	for _, set := range []struct {
		to       *string
		from, or string
	}{
		{&s.Name, file.Name, host}, {&s.Broker, file.Broker, ""}, {&s.Fleet, file.Fleet, ""},
		{&s.Creds, file.Creds, ""}, {&s.CA, file.CA, ""},
		{&s.StateDir, file.StateDir, "/var/lib/hark"}, {&s.LogLevel, file.LogLevel, "info"},
	} {
		if *set.to == "" {
			*set.to = set.from
		}
		if *set.to == "" {
			*set.to = set.or
		}
	}
	if len(s.Operators) == 0 {
		s.Operators = file.Operators
	}
	return s.check()
}

func readSettings(path string) (settings, error) {
	var s settings
	text, err := os.ReadFile(path)
	if path == "" {
		path = defaultConfig
		if text, err = os.ReadFile(path); errors.Is(err, fs.ErrNotExist) {
			return s, nil
		}
	}
	if err != nil {
		return s, fmt.Errorf("cannot read the configuration: %w", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("cannot read the configuration %s: %w", path, err)
	}
	return s, nil
}

func (s *settings) check() error {
	if s.Broker == "" {
		return errors.New("no broker is configured: give --broker URL or set broker in " + defaultConfig)
	}
	if len(s.Operators) == 0 {
		return errors.New("no operator is trusted: give --operator KEY (see `hark key show --public`) or set operators in " + defaultConfig)
	}
	for i, key := range s.Operators {
		s.Operators[i] = strings.TrimSpace(key)
		if !wire.ValidKey(s.Operators[i]) {
			return fmt.Errorf("%q is not an operator's public key", key)
		}
	}
	if _, err := zerolog.ParseLevel(s.LogLevel); err != nil {
		return fmt.Errorf("%q is not a log level", s.LogLevel)
	}
	return nil
}

// tls trusts the authority of the settings, nil is the system's.
func (s *settings) tls() (*tls.Config, error) {
	if s.CA == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the broker's certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("cannot use %s as certificate authority: there is no certificate in it", s.CA)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func (s *settings) trusted(key string) bool { return slices.Contains(s.Operators, key) }
