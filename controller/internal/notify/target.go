package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"hark/modules/py/shlex"
)

// Target is where events go.
type Target struct {
	text string // as it was written, for messages, without what may be secret
	send func(ctx context.Context, s *Sender, e *Event) error
}

// String returns the target without its path, which is the secret of many services.
func (t Target) String() string { return t.text }

// Sender sends events.
type Sender struct {
	// Sign signs with the operator's key, and Key is its public half; nil signs nothing.
	Sign func(data []byte) ([]byte, error)
	Key  string
	// Secret, if there is one, is for a signature by HMAC-SHA256 beside that.
	Secret []byte
	// Publish puts an event to the broker. It is nil where there is none.
	Publish func(e *Event) error
	// Dir is where commands are run.
	Dir string
	// Pauses are the times between tries, one try more than there are pauses.
	Pauses []time.Duration
	Client *http.Client
	Now    func() time.Time
}

// patient returns the pauses of a process that stays.
func patient() []time.Duration {
	return []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}
}

// Brief returns the pauses of a process that is waited for.
func Brief() []time.Duration { return []time.Duration{500 * time.Millisecond, 2 * time.Second} }

// once is how long a try may take.
const once = 15 * time.Second

// finalError is one that another try does not help against.
type finalError struct{ error }

// Send sends an event to a target, and tries again some times.
func (s *Sender) Send(ctx context.Context, t Target, e Event) error {
	pauses := s.Pauses
	if pauses == nil {
		pauses = patient()
	}
	for try := 0; ; try++ {
		one, cancel := context.WithTimeout(ctx, once)
		err := t.send(one, s, &e)
		cancel()
		var final *finalError
		if err == nil || errors.As(err, &final) || try >= len(pauses) {
			if err != nil {
				err = fmt.Errorf("cannot tell %s: %w", t, err)
			}
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot tell %s: %w", t, err)
		case <-time.After(pauses[try]):
		}
	}
}

func (s *Sender) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Parse reads a target:
//
//	https://example.org/hook               a POST of the event's document
//	slack+https://hooks.slack.com/...      a POST as Slack, Mattermost, Rocket.Chat and others take it
//	alertmanager+http://am.example.org:9093   an alert, which ends when it is over
//	smtp://relay.example.org/ops@example.org?from=hark@example.org   a mail
//	nats:                                  a message at the broker
//	@FILE                                  what stands in a file: for addresses that are secret
//	anything else                          a command, which has the document on its standard input
func Parse(text string) (Target, error) { return parse(strings.TrimSpace(text), true) }

func parse(text string, files bool) (Target, error) {
	switch {
	case text == "":
		return Target{}, errors.New("there is no target: a URL, a command, nats: or @FILE")
	case text == "nats:":
		return Target{text: text, send: toBroker}, nil
	case strings.HasPrefix(text, "@") && files:
		return fileTarget(text[1:])
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || strings.ContainsAny(scheme, " \t/'\"") {
		return commandTarget(text)
	}
	form, plain, both := strings.Cut(scheme, "+")
	if !both {
		form, plain = "", scheme
	}
	u, err := url.Parse(plain + "://" + rest)
	if err != nil || u.Host == "" {
		return Target{}, fmt.Errorf("%q is no URL", hide(text))
	}
	shown := scheme + "://" + u.Host
	switch {
	case scheme == "smtp":
		return mailTarget(u, shown)
	case plain != "http" && plain != "https":
	case form == "":
		return Target{shown, poster(u.String(), document)}, nil
	case form == "slack":
		return Target{shown, poster(u.String(), slack)}, nil
	case form == "alertmanager":
		if u.Path == "" || u.Path == "/" {
			u.Path = "/api/v2/alerts"
		}
		return Target{shown, poster(u.String(), alerts)}, nil
	}
	return Target{}, fmt.Errorf("%q is no target: http, https, slack+https, alertmanager+http, smtp and nats are known",
		scheme)
}

// hide returns a URL as far as it may be shown.
func hide(text string) string {
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return scheme + "://" + host
	}
	return text
}

// fileTarget reads the file each time that something is sent, so that an address can be changed.
func fileTarget(path string) (Target, error) {
	if path == "" {
		return Target{}, errors.New("@ needs the name of a file")
	}
	read := func() (Target, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return Target{}, fmt.Errorf("cannot read the target: %w", err)
		}
		return parse(strings.TrimSpace(string(text)), false)
	}
	return Target{text: "@" + path, send: func(ctx context.Context, s *Sender, e *Event) error {
		t, err := read()
		if err != nil {
			return err
		}
		return t.send(ctx, s, e)
	}}, nil
}

func commandTarget(text string) (Target, error) {
	words, err := shlex.Split(text)
	if err != nil || len(words) == 0 {
		return Target{}, fmt.Errorf("%q is no command: %v", text, err)
	}
	return Target{text: words[0],
		send: func(ctx context.Context, s *Sender, e *Event) error { return runCommand(ctx, s, words, e) }}, nil
}

func toBroker(_ context.Context, s *Sender, e *Event) error {
	if s.Publish == nil {
		return &finalError{errors.New("there is no broker here")}
	}
	return s.Publish(e)
}
