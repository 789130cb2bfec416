package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"hark/agent"
	"hark/agent/internal/strictyaml"
	"hark/agent/securefile"
	"hark/agent/wire"
	"hark/agent/wire/nats"
)

// defaultConfig is read when it is there and no other file is named.
const defaultConfig = "/etc/hark/agent.yml"

// defaultState is the state directory when no other is named.
const defaultState = "/var/lib/hark"

// settings are the agent's configuration: the file, which agent.yml documents, and the flags of `run` over it.
type settings struct {
	Name      string   `yaml:"name"`
	Broker    string   `yaml:"broker"`
	Creds     string   `yaml:"credentials"`
	CA        string   `yaml:"ca"`
	Operators []string `yaml:"operators"`
	Fleet     string   `yaml:"fleet"`
	Policy    string   `yaml:"policy"`
	StateDir  string   `yaml:"state_dir"`
	LogLevel  string   `yaml:"log_level"`

	file     string           // that was read, "" for the default
	enrolled *agent.Enrolment // nil if it was not

	supervisor *supervisor // nil if there is none
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
	for _, dir := range []string{file.StateDir, defaultState} {
		if s.StateDir == "" {
			s.StateDir = dir
		}
	}
	if s.enrolled, err = agent.ReadEnrolment(s.StateDir); err != nil {
		return err
	}
	e := s.enrolled
	if e == nil {
		e = &agent.Enrolment{}
	}
	host, _ := os.Hostname()
	for _, set := range []struct {
		to   *string
		from []string
	}{
		{&s.Name, []string{file.Name, e.Name, host}}, {&s.Broker, []string{file.Broker, e.Broker}}, {&s.Fleet,
			[]string{file.Fleet, e.Fleet}},
		{&s.Creds, []string{file.Creds}}, {&s.Policy, []string{file.Policy}}, {&s.CA, []string{file.CA}}, {&s.LogLevel,
			[]string{file.LogLevel, "info"}},
	} {
		for _, from := range set.from {
			if *set.to == "" {
				*set.to = from
			}
		}
	}
	if len(s.Operators) == 0 {
		s.Operators = file.Operators
	}
	return s.check()
}

// foreign reports whether a configuration is none for this agent: there is none at the usual place, or it is that of
// root's agent, beside which an ordinary user runs one. What binds both is the policy.
func foreign(path string, err error) bool {
	return path == defaultConfig && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission))
}

func readSettings(path string) (settings, error) {
	var s settings
	if path == "" {
		path = defaultConfig
	}
	text, err := securefile.Read(path, securefile.Ours)
	if foreign(path, err) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("cannot read the configuration: %w", err)
	}
	if err := strictyaml.YAML(text, &s); err != nil {
		return s, fmt.Errorf("cannot read the configuration %s: %w", path, err)
	}
	return s, nil
}

func (s *settings) check() error {
	if s.Broker == "" {
		return errors.New("no broker is configured: give --broker URL, set broker in " + defaultConfig +
			", or enrol this host with `hark-agent join`")
	}
	if len(s.Operators) == 0 && s.enrolled == nil {
		return errors.New("no operator is trusted: give --operator KEY (see `hark key show --public`) or set operators in " +
			defaultConfig)
	}
	for i, key := range s.Operators {
		s.Operators[i] = strings.TrimSpace(key)
		if !wire.ValidKey(s.Operators[i]) {
			return fmt.Errorf("%q is not an operator's public key", key)
		}
	}
	if err := nats.CheckURL(s.Broker); err != nil {
		return err
	}
	if err := wire.CheckName(s.Name); err != nil {
		return err
	}
	if _, err := zerolog.ParseLevel(s.LogLevel); err != nil {
		return fmt.Errorf("%q is not a log level", s.LogLevel)
	}
	return nil
}

// checkFiles returns what is wrong with the files that the settings name.
func (s *settings) checkFiles() error {
	if _, err := s.policy(); err != nil {
		return err
	}
	if s.Creds != "" {
		if _, err := nats.ReadToken(s.Creds); err != nil {
			return err
		}
	}
	_, err := s.tls()
	return err
}

// tls trusts the authority of the settings, or that of the enrolment; nil is the system's.
func (s *settings) tls() (*tls.Config, error) {
	if s.CA == "" && s.enrolled != nil {
		return nats.TLS(s.enrolled.CA)
	}
	if s.CA == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the broker's certificate authority: %w", err)
	}
	c, err := nats.TLS(string(pem))
	if err != nil {
		return nil, fmt.Errorf("cannot use %s as certificate authority: %w", s.CA, err)
	}
	return c, nil
}

// defaultPolicy is read when it is there and no other file is named.
const defaultPolicy = "/etc/hark/policy.yml"

// policy returns what operators may do, nil for everything. A file that is named must be there.
func (s *settings) policy() (*agent.Policy, error) {
	if s.Policy != "" {
		return agent.ReadPolicy(s.Policy)
	}
	return agent.ReadPolicyIfThere(defaultPolicy)
}

// jwt returns the credentials of the enrolment, "" if there are none.
func (s *settings) jwt() string {
	if s.enrolled == nil {
		return ""
	}
	return s.enrolled.JWT
}

// renewed returns the credentials that the agent renews: those of its enrolment, unless a file that others renew is
// in their place.
func (s *settings) renewed(o *agent.Operators, bus *nats.Transport) agent.Credentials {
	if s.Creds != "" {
		return nil
	}
	return struct {
		*agent.Operators
		*nats.Transport
	}{o, bus}
}

// operators returns those who are obeyed.
func (s *settings) operators() *agent.Operators {
	return agent.NewOperators(s.Operators, s.enrolled, s.StateDir)
}
