package httpx

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// oddAnswerError is an answer that is none of HTTP, in the words of Ansible's urls.py.
type oddAnswerError struct{ text string }

func (e *oddAnswerError) Error() string { return e.text }

// worded turns net/http's errors about an answer into Python's.
func (h *heard) worded(err error) error {
	var asked *url.Error
	if err == nil || !errors.As(err, &asked) {
		return err
	}
	text := asked.Err.Error()
	switch {
	case errors.Is(asked.Err, io.EOF) && h.text() == "":
		return &oddAnswerError{"Connection failure: Remote end closed connection without response"}
	case strings.Contains(text, "malformed HTTP") && h.text() != "":
		return &oddAnswerError{"Connection failure: connection was closed before a valid response was received: " +
			fromLatin1(h.text())}
	}
	return err
}

// ReadError words what ended the reading of an answer.
func ReadError(err error) string {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer ended before its end (" + err.Error() + ")"
	}
	return err.Error()
}

// distrusted says why a certificate is not trusted, in the words of OpenSSL; "" if err is another one.
func distrusted(err error) string {
	var bad *tls.CertificateVerificationError
	if !errors.As(err, &bad) {
		return ""
	}
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch leaf := bad.UnverifiedCertificates; {
	case errors.As(err, &host) && net.ParseIP(host.Host) != nil:
		return "IP address mismatch, certificate is not valid for '" + host.Host + "'."
	case errors.As(err, &host):
		return "Hostname mismatch, certificate is not valid for '" + host.Host + "'."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return "certificate is not yet valid"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "certificate has expired"
	case len(leaf) > 0 && bytes.Equal(leaf[0].RawIssuer, leaf[0].RawSubject):
		return "self-signed certificate"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "unable to get local issuer certificate"
	}
	return bad.Err.Error()
}
