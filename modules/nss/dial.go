package nss

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Dialer connects to hosts by their names. The zero value has no limits of its own.
type Dialer struct {
	// Timeout is for the whole of it: finding the addresses and trying them.
	Timeout time.Duration
	// KeepAlive and Control are those of net.Dialer.
	KeepAlive time.Duration
	Control   func(network, address string, c syscall.RawConn) error
}

func (d *Dialer) plain() *net.Dialer {
	return &net.Dialer{Timeout: d.Timeout, KeepAlive: d.KeepAlive, Control: d.Control}
}

// Dial is DialContext without a context.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext connects to the first address of the host that takes the connection, one after the other as libc's
// programs do.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.HasPrefix(network, "unix") || host == "" {
		return d.plain().DialContext(ctx, network, address)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return d.plain().DialContext(ctx, network, address)
	}
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.Timeout)
		defer cancel()
	}
	addresses, err := HostAddresses(ctx, host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return d.dialFirst(ctx, network, port, fitting(network, addresses))
}

// dialFirst tries one address after the other. Each has its share of what is left of the time.
func (d *Dialer) dialFirst(ctx context.Context, network, port string, addresses []string) (net.Conn, error) {
	var first error
	for i, a := range addresses {
		one, cancel := ctx, context.CancelFunc(func() {})
		if until, ok := ctx.Deadline(); ok && i < len(addresses)-1 {
			one, cancel = context.WithTimeout(ctx, max(time.Until(until)/time.Duration(len(addresses)-i), 2*time.Second))
		}
		conn, err := d.plain().DialContext(one, network, net.JoinHostPort(a, port))
		cancel()
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = &net.OpError{Op: "dial", Net: network, Err: errors.New("no suitable address found")}
	}
	return nil, first
}

// fitting returns the addresses of a network: those of version 4 or 6 alone where it says so.
func fitting(network string, addresses []string) []string {
	if !strings.HasSuffix(network, "4") && !strings.HasSuffix(network, "6") {
		return addresses
	}
	var out []string
	for _, text := range addresses {
		if a, err := netip.ParseAddr(text); err == nil && a.Unmap().Is4() == strings.HasSuffix(network, "4") {
			out = append(out, text)
		}
	}
	return out
}
