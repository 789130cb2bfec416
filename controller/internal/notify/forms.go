package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"net/smtp"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"hark/modules/nss"
)

// form makes the body of a POST and its type.
type form func(e *Event) (body []byte, kind string, err error)

// document returns the event itself.
func document(e *Event) ([]byte, string, error) {
	body, err := e.JSON()
	return body, "application/cloudevents+json", err
}

// slack returns a text, as Slack and those take it that do as Slack does.
func slack(e *Event) ([]byte, string, error) {
	lines := e.lines()
	for i, l := range lines {
		lines[i] = slackText().Replace(l)
	}
	lines[0] = mark(e.Data.What) + " *" + lines[0] + "*"
	body, err := json.Marshal(map[string]string{"text": strings.Join(lines, "\n")})
	return body, "application/json", err
}

// slackText escapes what Slack reads as its own.
func slackText() *strings.Replacer {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ")
}

func mark(w What) string {
	switch w {
	case Fixed, Resumed:
		return ":white_check_mark:"
	case Failed, Lost, Silent:
		return ":x:"
	}
	return ":warning:"
}

// alert is an alert of Alertmanager.
type alert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt,omitzero"`
	EndsAt       time.Time         `json:"endsAt,omitzero"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// alertTime is for how long an alert stands that nobody ends: hark tells changes, and no state again and again.
const alertTime = 7 * 24 * time.Hour

// alerts returns an alert. All that may stand between a beginning and its end is in its labels: those of both are the
// same.
func alerts(e *Event) ([]byte, string, error) {
	d := e.Data
	a := alert{Labels: map[string]string{"alertname": "hark", "source": e.Source, "key": d.Key},
		Annotations: map[string]string{"summary": d.Text}, GeneratorURL: d.Link}
	if d.Duty != "" {
		a.Labels["duty"] = d.Duty
	}
	if rest := e.lines()[1:]; len(rest) > 0 {
		a.Annotations["description"] = strings.Join(rest, "\n")
	}
	if e.Over() {
		a.EndsAt = e.Time
	} else {
		a.StartsAt, a.EndsAt = e.Time, e.Time.Add(alertTime)
	}
	body, err := json.Marshal([]alert{a})
	return body, "application/json", err
}

// mostAnswer is how much of a refusal is told.
const mostAnswer = 200

// poster POSTs a form of the event. What the other end refuses for good is not tried again.
func poster(address string, f form) func(context.Context, *Sender, *Event) error {
	return func(ctx context.Context, s *Sender, e *Event) error {
		body, kind, err := f(e)
		if err != nil {
			return &finalError{err}
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
		if err != nil {
			return &finalError{errors.New("the URL cannot be used")}
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("User-Agent", "hark")
		if err := s.sign(r.Header, e.ID, body); err != nil {
			return &finalError{err}
		}
		client := s.Client
		if client == nil {
			var names nss.Dialer // which knows what the machine's directories know
			client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: names.DialContext,
				DisableKeepAlives: true}}
		}
		answer, err := client.Do(r)
		if err != nil {
			var u *url.Error
			if errors.As(err, &u) { // which names the whole URL
				err = u.Err
			}
			return err
		}
		defer answer.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(answer.Body, mostAnswer)) // for the message only
		switch {
		case answer.StatusCode < 300:
			return nil
		case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout ||
			answer.StatusCode >= 500:
			return fmt.Errorf("it answers %s: %q", answer.Status, said)
		}
		return &finalError{fmt.Errorf("it answers %s: %q", answer.Status, said)}
	}
}

// sign signs a POST as Standard Webhooks has it: v1a is ed25519 by the operator's key, v1 is HMAC-SHA256 by a secret.
// Signed are the id, the time and the body.
func (s *Sender) sign(h http.Header, id string, body []byte) error {
	at := strconv.FormatInt(s.now().Unix(), 10)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	signed := append([]byte(id+"."+at+"."), body...)
	var all []string
	if s.Sign != nil {
		sum, err := s.Sign(signed)
		if err != nil {
			return err
		}
		h.Set("Hark-Key", s.Key)
		all = append(all, "v1a,"+base64.StdEncoding.EncodeToString(sum))
	}
	if len(s.Secret) > 0 {
		mac := hmac.New(sha256.New, s.Secret)
		mac.Write(signed)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(all) > 0 {
		h.Set("Webhook-Signature", strings.Join(all, " "))
	}
	return nil
}

// runCommand gives a command the document.
func runCommand(ctx context.Context, s *Sender, words []string, e *Event) error {
	body, err := e.JSON()
	if err != nil {
		return &finalError{err}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = s.Dir, bytes.NewReader(append(body, '\n')), time.Second
	cmd.Env = append(os.Environ(), "HARK_EVENT="+string(e.Data.What), "HARK_TEXT="+e.Data.Text)
	said, err := cmd.CombinedOutput()
	if err != nil && len(said) > 0 {
		err = fmt.Errorf("%w: %.*s", err, mostAnswer, strings.Join(strings.Fields(string(said)), " "))
	}
	return err
}

// mailTarget returns a relay of mail: smtp://HOST[:PORT]/TO?from=FROM. It speaks TLS where the relay offers it; name
// and password are not sent without.
func mailTarget(u *url.URL, shown string) (Target, error) {
	to, err := mail.ParseAddressList(strings.TrimPrefix(u.Path, "/"))
	if err != nil || len(to) == 0 {
		return Target{}, fmt.Errorf("%s needs an address: smtp://HOST/ops@example.org?from=hark@example.org", shown)
	}
	from, err := mail.ParseAddress(u.Query().Get("from"))
	if err != nil {
		return Target{}, fmt.Errorf("%s needs the sender's address: ?from=hark@example.org", shown)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "25")
	}
	var auth smtp.Auth
	if name := u.User.Username(); name != "" {
		password, _ := u.User.Password()
		auth = smtp.PlainAuth("", name, password, u.Hostname())
	}
	var addresses []string
	for _, a := range to {
		addresses = append(addresses, a.Address)
	}
	return Target{shown + "/" + strings.Join(addresses, ","), func(ctx context.Context, s *Sender, e *Event) error {
		text, err := letter(from, to, e)
		if err != nil {
			return &finalError{err}
		}
		done := make(chan error, 1)
		go func() { done <- smtp.SendMail(host, auth, from.Address, addresses, text) }()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, nil
}

// letter returns a mail.
func letter(from *mail.Address, to []*mail.Address, e *Event) ([]byte, error) {
	var names []string
	for _, a := range to {
		names = append(names, a.String())
	}
	var b bytes.Buffer
	subject := "hark: " + strings.Join(strings.Fields(e.Data.Text), " ")
	for _, h := range [][2]string{
		{"From", from.String()}, {"To", strings.Join(names, ", ")}, {"Subject", mime.QEncoding.Encode("utf-8", subject)},
		{"Date", e.Time.Format(time.RFC1123Z)},
		{"Message-Id", "<" + e.ID + "@hark>"}, {"Auto-Submitted", "auto-generated"}, {"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, err := w.Write([]byte(strings.Join(e.lines(), "\n\n") + "\n"))
	return b.Bytes(), errors.Join(err, w.Close())
}
