package galaxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"

	"hark/modules/py/value"
)

// ServerOptions say what a server is and how it is spoken to.
type ServerOptions struct {
	Name, URL string
	Auth      Auth // nil for none
	Insecure  bool
	Timeout   time.Duration
	// V3 spares the question for the versions of the API: it is v3, under /v3.
	V3 bool
	// CacheDir keeps answers for a day, "" keeps none; ClearCache forgets what is kept there.
	CacheDir   string
	ClearCache bool
	// Pause waits between tries; nil waits for real.
	Pause func(context.Context, time.Duration) error
}

// Server is a Galaxy server.
type Server struct {
	o      ServerOptions
	screen Screen
	cache  *cache
	// url is where the API begins, known when versions (name to path) are.
	url      string
	versions map[string]string
	names    []string // of the versions, in the server's order
	known    map[string][]string
}

// NewServer makes a server, which is not spoken to before something is wanted of it.
func NewServer(o ServerOptions, s Screen) (*Server, error) {
	srv := &Server{o: o, screen: s, url: o.URL, known: map[string][]string{}}
	if o.Pause == nil {
		srv.o.Pause = wait
	}
	if o.V3 {
		srv.versions, srv.names = map[string]string{"v3": "/v3"}, []string{"v3"}
	}
	if o.ClearCache && o.CacheDir != "" {
		if err := clearCache(o.CacheDir); err != nil {
			return nil, err
		}
	}
	if o.CacheDir != "" {
		var err error
		if srv.cache, err = openCache(o.CacheDir, s); err != nil {
			return nil, err
		}
	}
	return srv, nil
}

// Name returns what the configuration calls the server.
func (s *Server) Name() string { return s.o.Name }

// URL returns where the API begins.
func (s *Server) URL() string { return s.url }

// APIError is an answer of a server that is no success.
type APIError struct {
	Code int
	text string
}

func (e *APIError) Error() string { return e.text }

// urlJoin puts the parts of a URL together with one slash between any two; a part that is / ends it with one.
func urlJoin(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, strings.Trim(p, "/"))
		}
	}
	return strings.Join(out, "/")
}

// api finds out, once, which versions of the API the server has, and gives the path of the first of those asked for.
func (s *Server) api(ctx context.Context, action string, wanted ...string) (version, path string, err error) {
	if s.versions == nil {
		if err := s.connect(ctx); err != nil {
			return "", "", err
		}
	}
	for _, v := range wanted {
		if path, ok := s.versions[v]; ok {
			return v, path, nil
		}
	}
	sort.Strings(wanted)
	return "", "", failf("Galaxy action %s requires API versions '%s' but only '%s' are available on %s %s",
		action, strings.Join(wanted, ", "), strings.Join(s.names, ", "), s.o.Name, s.url)
}

func (s *Server) connect(ctx context.Context) error {
	s.screen.Verbose(4, "Initial connection to galaxy_server: "+s.url)
	at := s.url
	what := fmt.Sprintf("Error when finding available api versions from %s (%s)", s.o.Name, at)
	if strings.TrimSuffix(at, "/") == "https://galaxy.ansible.com" {
		at = "https://galaxy.ansible.com/api/"
	}
	v, err := s.get(ctx, at, what, "", true)
	if err != nil {
		if strings.HasSuffix(strings.TrimSuffix(at, "/"), "/api") || ctx.Err() != nil {
			return err
		}
		at = urlJoin(at, "/api/")
		var api *APIError
		v2, err2 := s.get(ctx, at, what, "", true)
		if errors.As(err2, &api) && api.Code == http.StatusNotFound {
			return err
		}
		if v, err = v2, err2; err != nil {
			return err
		}
	}
	list, _ := value.Under(v, "available_versions").(*value.Dict)
	if list == nil {
		return failf("Tried to find galaxy API root at %s but no 'available_versions' are available on %s", at, s.url)
	}
	s.url, s.versions = at, map[string]string{}
	list.Each(func(k, v value.Value) bool {
		s.versions[text(k)] = text(v)
		s.names = append(s.names, text(k))
		return true
	})
	if len(s.names) == 1 && s.names[0] == "v1" {
		s.versions["v2"], s.names = "v2/", append(s.names, "v2")
	}
	s.screen.Verbose(4, fmt.Sprintf("Found API version '%s' with Galaxy server %s (%s)", strings.Join(s.names, ", "),
		s.o.Name, s.url))
	return nil
}

// get returns one answer. With keep it may be one of today that was kept under key (the path, if that is "").
func (s *Server) get(ctx context.Context, at, what, key string, keep bool) (value.Value, error) {
	if key == "" {
		key = pathOf(at)
	}
	if keep {
		if v, ok := s.cache.get(at, key); ok {
			return v, nil
		}
	}
	v, err := s.call(ctx, request{method: http.MethodGet, url: at}, what)
	if err == nil && keep {
		s.cache.put(at, key, v, false)
	}
	return v, err
}

func pathOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	return u.Path
}

// call sends a request, with credentials, and reads its answer.
func (s *Server) call(ctx context.Context, r request, what string) (value.Value, error) {
	r.insecure, r.timeout = s.o.Insecure, s.o.Timeout
	if s.o.Auth != nil {
		header, err := s.o.Auth.Header(ctx)
		if err != nil {
			return nil, failf("Unknown error when attempting to call Galaxy at '%s': %v", r.url, err)
		}
		if header != "" {
			if r.header == nil {
				r.header = http.Header{}
			}
			r.header.Set("Authorization", header)
		}
	}
	s.screen.Verbose(4, "Calling Galaxy at "+r.url)
	type answer struct {
		data []byte
		from string
	}
	a, err := patiently(ctx, s.o.Pause, func() (answer, error) {
		data, from, err := r.read(ctx)
		return answer{data, from}, err
	})
	var status *statusError
	switch {
	case errors.As(err, &status):
		return nil, apiError(status, what)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, failf("Unknown error when attempting to call Galaxy at '%s': %v", r.url, twice(err))
	}
	v, err := parseJSON(a.data)
	if err != nil {
		return nil, failf("Failed to parse Galaxy response from '%s' as JSON:\n%s", a.from, a.data)
	}
	return v, nil
}

// apiError words what a server refuses, as its version of the API words it.
func apiError(e *statusError, what string) error {
	if what == "" {
		what = "None"
	}
	info, _ := parseJSON(e.body)
	or := func(v value.Value, def string) string {
		if value.IsTrue(v) {
			return text(v)
		}
		return def
	}
	has := map[string]bool{}
	for _, part := range strings.Split(e.url, "/") {
		has[part] = true
	}
	if has["v2"] {
		return &APIError{e.code, fmt.Sprintf("%s (HTTP Code: %d, Message: %s Code: %s)", what, e.code,
			or(value.Under(info, "message"), e.reason), or(value.Under(info, "code"), "Unknown"))}
	}
	if !has["v3"] {
		return &APIError{e.code, fmt.Sprintf("%s (HTTP Code: %d, Message: %s)", what, e.code,
			or(value.Under(info, "default"), e.reason))}
	}
	list := items(value.Under(info, "errors"))
	if len(list) == 0 {
		list = []value.Value{nil}
	}
	var lines []string
	for _, one := range list {
		message := or(value.Under(one, "detail"), or(value.Under(one, "title"), e.reason))
		lines = append(lines, fmt.Sprintf("(HTTP Code: %d, Message: %s Code: %s)", e.code, message,
			or(value.Under(one, "code"), "Unknown")))
	}
	return &APIError{e.code, what + " " + strings.Join(lines, ", ")}
}

func notFound(err error) bool {
	var api *APIError
	return errors.As(err, &api) && api.Code == http.StatusNotFound
}
