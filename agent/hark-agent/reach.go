package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"hark/modules/nss"
)

// reachLimit is how long one address of the broker may take to answer.
const reachLimit = 5 * time.Second

// reachBroker tries whether this host gets a connection to the broker, by one of its URLs at least. Nothing is said on
// it: this is about names, routes and firewalls, which cannot be seen from anywhere else.
func reachBroker(ctx context.Context, urls string) error {
	var said []string
	for _, one := range strings.Split(urls, ",") {
		err := reachOne(ctx, strings.TrimSpace(one))
		if err == nil {
			return nil
		}
		said = append(said, fmt.Sprintf("%s: %v", strings.TrimSpace(one), err))
	}
	return fmt.Errorf(
		"this host does not reach the broker, so nothing was installed (%s): see that the address is right (--broker-url) "+
			"and that no firewall is between them",
		strings.Join(said, "; "))
}

func reachOne(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return errors.New("this is no URL of a broker")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"ws": "80", "wss": "443"}[u.Scheme]
	}
	if port == "" {
		port = "4222"
	}
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	conn, err := (&nss.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err == nil {
		return conn.Close()
	}
	var (
		dns  *net.DNSError
		call *os.SyscallError
	)
	switch {
	case errors.As(err, &dns):
		return errors.New("the name cannot be resolved")
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return fmt.Errorf("no answer within %s", reachLimit)
	case errors.As(err, &call):
		return call.Err
	}
	return err
}
