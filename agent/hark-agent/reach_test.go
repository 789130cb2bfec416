package main

import (
	"context"
	"net"
	"strings"
	"testing"
)

// TestAHostSaysWhyItDoesNotReachTheBroker, and is content with one address of several.
func TestAHostSaysWhyItDoesNotReachTheBroker(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := "tls://" + listener.Addr().String()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shut := "tls://" + other.Addr().String()
	other.Close()
	defer listener.Close()
	for urls, want := range map[string]string{
		open:                            "",
		shut + ", " + open:              "",
		shut:                            shut + ": connection refused",
		"tls://nowhere.invalid:4222":    "tls://nowhere.invalid:4222: the name cannot be resolved",
		shut + ",tls://nowhere.invalid": "connection refused; tls://nowhere.invalid: the name cannot be resolved",
		"broker":                        "this is no URL of a broker",
	} {
		err := reachBroker(context.Background(), urls)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", urls, err, want)
		}
	}
}
