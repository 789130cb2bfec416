package galaxy

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"strings"

	"hark/modules/py/value"
)

// Auth proves to a server who asks. It returns the value of the header Authorization, "" for none.
type Auth interface {
	Header(ctx context.Context) (string, error)
}

// Basic is a name with a password.
type Basic struct{ User, Password string }

// Header implements Auth.
func (b Basic) Header(context.Context) (string, error) {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(b.User+":"+b.Password)), nil
}

// Token is one that the server gave out. Without a text it is the one in the file, if that has one.
type Token struct {
	Text, File string
	// None leaves the file out.
	None bool
}

// Header implements Auth.
func (t Token) Header(context.Context) (string, error) {
	token := t.Text
	if token == "" && !t.None {
		token = tokenIn(t.File)
	}
	if token == "" {
		return "", nil
	}
	return "Token " + token, nil
}

// tokenIn makes the file if it is not there, for its owner only, since people put secrets into it.
func tokenIn(path string) string {
	if !exists(path) {
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_ = f.Close() // it is empty
		}
		return ""
	}
	v, err := readYAML(path)
	if err != nil {
		return ""
	}
	d, _ := v.(*value.Dict)
	if d == nil {
		return ""
	}
	return text(value.Under(d, "token"))
}

// Keycloak exchanges an offline token for one that the server takes, once.
type Keycloak struct {
	Offline, URL, ClientID string
	Insecure               bool

	token string
}

// Header implements Auth.
func (k *Keycloak) Header(ctx context.Context) (string, error) {
	if k.token == "" {
		id := k.ClientID
		if id == "" {
			id = "cloud-services"
		}
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {k.Offline}}
		r := request{method: http.MethodPost, url: k.URL, body: strings.NewReader(form.Encode()), insecure: k.Insecure,
			timeout: patience,
			header:  http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
		data, _, err := r.read(ctx)
		if err != nil {
			return "", err
		}
		v, err := parseJSON(data)
		if err != nil {
			return "", failf("Failed to parse the answer of '%s' as JSON: %v", k.URL, err)
		}
		k.token = text(value.Under(v, "access_token"))
	}
	return "Bearer " + k.token, nil
}
