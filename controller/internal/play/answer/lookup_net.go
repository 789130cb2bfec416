package answer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"hark/modules/nss"
	"hark/modules/py/value"
)

// maxURL is the most that the lookup url reads, in bytes.
const maxURL = 256 << 20

func lookupURL(_ *Answerer, c *lookupCall) ([]value.Value, error) {
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for _, url := range c.texts() {
		body, err := c.get(client, url)
		if err != nil {
			return nil, err
		}
		if c.bool("split_lines", true) {
			out = append(out, strs(splitLines(body)...)...)
		} else {
			out = append(out, value.Str(body))
		}
	}
	return out, nil
}

// client returns an HTTP client with the lookup's options.
func (c *lookupCall) client() (*http.Client, error) {
	var d nss.Dialer
	tr := &http.Transport{DialContext: d.DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: !c.bool("validate_certs", true)}}
	if c.bool("use_proxy", true) {
		tr.Proxy = http.ProxyFromEnvironment
	}
	if path := c.text("ca_path", ""); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, failLookup("AnsibleError", "cannot read ca_path: %v", err)
		}
		tr.TLSClientConfig.RootCAs = x509.NewCertPool()
		tr.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem)
	}
	if path := c.text("unix_socket", ""); path != "" {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", path) }
	}
	seconds := 10.0
	if v, ok := c.kw.Get("timeout"); ok {
		if f, ok := value.AsFloat(v); ok {
			seconds = f
		}
	}
	client := &http.Client{Transport: tr, Timeout: time.Duration(seconds * float64(time.Second))}
	switch c.text("follow_redirects", "urllib2") {
	case "no", "none", "False":
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return client, nil
}

func (c *lookupCall) get(client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", failLookup("AnsibleError", "Failed lookup url for %s : %v", url, err)
	}
	req.Header.Set("User-Agent", c.text("http_agent", "ansible-httpget"))
	if c.bool("force", false) {
		req.Header.Set("Cache-Control", "no-cache")
	}
	if h, ok := c.kw.Get("headers"); ok {
		if d, ok := h.(*value.Dict); ok {
			d.Each(func(k, v value.Value) bool { req.Header.Set(textOf(k), textOf(v)); return true })
		}
	}
	if user := c.text("username", ""); user != "" {
		req.SetBasicAuth(user, c.text("password", ""))
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", failLookup("AnsibleError", "%s", urlError(url, err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxURL+1))
	if err == nil && len(body) > maxURL {
		err = fmt.Errorf("it has more than %d bytes", maxURL)
	}
	if err != nil {
		return "", failLookup("AnsibleError", "Failed lookup url for %s : %v", url, err)
	}
	if resp.StatusCode >= 300 {
		return "", failLookup("AnsibleError", "Received HTTP error for %s : HTTP Error %d: %s", url,
			resp.StatusCode, strings.TrimPrefix(resp.Status, fmt.Sprintf("%d ", resp.StatusCode)))
	}
	return string(body), nil
}

func urlError(url string, err error) string {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return fmt.Sprintf("Error validating the server's certificate for %s: %v", url, cert)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Sprintf("Failed lookup url for %s : <urlopen error %s>", url, dialError(op))
	}
	return fmt.Sprintf("Failed lookup url for %s : %v", url, err)
}

// dialError returns why a server cannot be reached, in Python's words.
func dialError(err *net.OpError) string {
	var unknown *net.DNSError
	var number syscall.Errno
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return "[Errno -2] Name or service not known"
	case errors.As(err, &unknown):
		return "[Errno -3] Temporary failure in name resolution"
	case err.Timeout():
		return "timed out"
	case errors.As(err, &number):
		text := number.Error()
		return fmt.Sprintf("[Errno %d] %s", int(number), strings.ToUpper(text[:1])+text[1:])
	}
	return err.Err.Error()
}
