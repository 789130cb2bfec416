//go:build !darwin

package nss

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"strings"
)

// HostAddresses returns the addresses of a host, which may be one itself. The error is a *net.DNSError.
func HostAddresses(ctx context.Context, host string) ([]string, error) {
	return machine.addresses(ctx, host)
}

// AddressNames returns the names of an address, the first being its own. The error is a *net.DNSError.
func AddressNames(ctx context.Context, address string) ([]string, error) {
	return machine.names(ctx, address)
}

func (s *system) addresses(ctx context.Context, host string) ([]string, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}, nil
	}
	if !named(host) || strings.ContainsAny(host, " \t") {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if out := s.inHostsFile(host); len(out) > 0 {
		return out, nil
	}
	var refused varlinkError
	if s.asksResolved() {
		out, err := s.resolveHost(ctx, host)
		if err == nil && len(out) > 0 {
			return out, nil
		}
		errors.As(err, &refused)
	}
	out, err := s.askedHosts(ctx, "ahosts", host, func(f []string) []string { return f[:1] })
	if err == nil && len(out) == 0 {
		err = s.whyNot(ctx, host, refused)
	}
	if err != nil {
		var why *net.DNSError
		if errors.As(err, &why) {
			return nil, err
		}
		if errors.Is(err, exec.ErrNotFound) {
			return (&net.Resolver{PreferGo: true}).LookupHost(ctx, host)
		}
		return nil, &net.DNSError{Err: err.Error(), Name: host, IsTimeout: ctx.Err() != nil, IsTemporary: true}
	}
	return out, nil
}

func (s *system) names(ctx context.Context, address string) ([]string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return nil, &net.DNSError{Err: "unrecognized address", Name: address}
	}
	for _, line := range s.lines("/etc/hosts") {
		if f := hostsLine(line); len(f) > 1 && f[0] == ip.String() {
			return f[1:], nil
		}
	}
	if s.asksResolved() {
		if out, err := s.resolveAddress(ctx, net.IP(ip.AsSlice())); err == nil && len(out) > 0 {
			return out, nil
		}
	}
	out, err := s.askedHosts(ctx, "hosts", address, func(f []string) []string { return f[1:] })
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return (&net.Resolver{PreferGo: true}).LookupAddr(ctx, address)
	case err != nil:
		return nil, &net.DNSError{Err: err.Error(), Name: address, IsTimeout: ctx.Err() != nil, IsTemporary: true}
	case len(out) == 0:
		return nil, &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}
	}
	return out, nil
}

// whyNot finds out whether a host is not there or could not be asked for: getent does not say.
func (s *system) whyNot(ctx context.Context, host string, refused varlinkError) error {
	why := &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	if strings.HasSuffix(string(refused), "DNSError") || strings.HasSuffix(string(refused), "NoSuchResourceRecord") {
		return why
	}
	_, err := (&net.Resolver{PreferGo: true}).LookupHost(ctx, host)
	var asked *net.DNSError
	if errors.As(err, &asked) && !asked.IsNotFound {
		return asked
	}
	return why
}

// askedHosts returns the words that getent has for a host, without doubles.
func (s *system) askedHosts(ctx context.Context, database, key string,
	pick func(fields []string) []string) ([]string, error) {
	do := s.getent
	if do == nil {
		do = runGetent
	}
	text, _, err := do(ctx, database, key)
	if err != nil {
		return nil, err
	}
	var out []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		for _, word := range pick(f) {
			if !seen[word] {
				seen[word] = true
				out = append(out, word)
			}
		}
	}
	return out, nil
}

// inHostsFile returns the addresses that /etc/hosts has for a host.
func (s *system) inHostsFile(host string) []string {
	host = strings.TrimSuffix(host, ".")
	var out []string
	for _, line := range s.lines("/etc/hosts") {
		f := hostsLine(line)
		for i := 1; i < len(f); i++ {
			if strings.EqualFold(f[i], host) {
				out = append(out, f[0])
				break
			}
		}
	}
	return out
}

// hostsLine returns the words of a line of /etc/hosts that begins with an address, which is as all write it.
func hostsLine(line string) []string {
	line, _, _ = strings.Cut(line, "#")
	f := strings.Fields(line)
	if len(f) == 0 {
		return nil
	}
	ip, err := netip.ParseAddr(f[0])
	if err != nil {
		return nil
	}
	f[0] = ip.String()
	return f
}
