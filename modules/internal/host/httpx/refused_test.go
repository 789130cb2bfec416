package httpx

import (
	"net"
	"net/url"
	"testing"
)

func TestNamesAreUnknownOrNotToBeHadNow(t *testing.T) {
	for _, c := range []struct {
		err  net.DNSError
		want string
	}{
		{net.DNSError{IsNotFound: true}, "Request failed: <urlopen error [Errno -2] Name or service not known>"},
		{net.DNSError{IsTimeout: true}, "Request failed: <urlopen error [Errno -3] Temporary failure in name resolution>"},
		{net.DNSError{IsTemporary: true}, "Request failed: <urlopen error [Errno -3] Temporary failure in name resolution>"},
	} {
		if got := refused(&url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "dial", Err: &c.err}}, "http"); got != c.want {
			t.Errorf("%+v is told as %q, want %q", c.err, got, c.want)
		}
	}
}
