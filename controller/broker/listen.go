package broker

import (
	"fmt"
	"net"
	"strconv"
)

// CheckListen returns what is wrong with an address to listen on.
func CheckListen(listen string) error {
	_, _, err := splitListen(listen)
	return err
}

// splitListen takes an address to listen on apart.
func splitListen(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("cannot listen on %q: it must be HOST:PORT", listen)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("cannot listen on %q: the port must be a number from 0 to 65535", listen)
	}
	return host, port, nil
}
