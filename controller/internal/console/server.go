// Package console shows runs and the fleet in a browser. It only shows: every page is made of records and of what
// agents say of themselves, and no request changes anything. Pages are complete without JavaScript, and live with it.
// The process that serves them holds no key that agents obey.
package console

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"hark/controller/internal/console/auth"
	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
	"hark/modules/py/value"
)

//go:embed pages static
var files embed.FS

// Config is a console's environment.
type Config struct {
	Store record.Store
	// Fleet returns the agents as the broker knows them; nil without a broker. It is called at most every few seconds.
	Fleet func(ctx context.Context) ([]roster.Agent, error)
	// Duties returns what keepers published, under the same conditions.
	Duties func(ctx context.Context) (Words, error)
	// Streams returns how much the broker stores, under the same conditions.
	Streams func(ctx context.Context) ([]streams.Size, error)
	// Facts returns the facts of a host that are on record, and when they were gathered; nil without any record. It is
	// called for each host that a page shows.
	Facts func(ctx context.Context, host string) (facts *value.Dict, at time.Time, ok bool)
	// Play receives the lines of a record, see runcache.Cache.
	Play func(h record.Head, screen io.Writer, f *runmodel.Run) (tell func(record.Line) error, err error)
	// Endings are what ends and has to be renewed, as far as it is known; nil for nothing.
	Endings func() []Ending
	Gate    auth.Config
	// Dir is where outputs are kept while they are read; "" is the system's directory for such.
	Dir     string
	Version string
	Now     func() time.Time
	Log     zerolog.Logger
}

// Server serves the pages. It is safe for concurrent use.
type Server struct {
	Config
	cache   *runcache.Cache
	pages   map[string]*template.Template
	stamp   string // of the static files, so that browsers load new ones
	lists   listings
	fleet   cached[[]roster.Agent]
	duties  cached[Words]
	streams cached[[]streams.Size]
	ended   endedRuns
	// done ends the live connections.
	done context.Context
	stop context.CancelFunc
}

// runPages are the pages of one run, fleetPages those of hosts, duties and jobs.
type (
	runPages   struct{ *Server }
	fleetPages struct{ *Server }
)

// New returns a server. Close ends what it started.
func New(c Config) (*Server, error) {
	s := &Server{Config: c, cache: &runcache.Cache{Store: c.Store, Dir: c.Dir, Play: c.Play}}
	s.done, s.stop = context.WithCancel(context.Background())
	var err error
	if s.pages, err = parse(); err != nil {
		return nil, err
	}
	if s.stamp, err = stamp(); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends live connections and readers. There must be no more requests.
func (s *Server) Close() {
	s.stop()
	s.cache.Close()
}

// Handler returns all pages behind the Authenticator.
func (s *Server) Handler() http.Handler {
	of, fleet := runPages{s}, fleetPages{s}
	mux := http.NewServeMux()
	mux.Handle("GET /static/", s.static())
	for pattern, page := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"GET /{$}":                               fleet.first,
		"GET /live":                              fleet.firstLive,
		"GET /hosts/{host}/changes":              fleet.hostChanges,
		"GET /timeline":                          fleet.timeline,
		"GET /changes":                           fleet.fleetChanges,
		"GET /runs":                              s.runs,
		"GET /runs/live":                         s.runsLive,
		"GET /runs/{run}":                        of.run,
		"GET /runs/{run}/live":                   of.runLive,
		"GET /runs/{run}/tasks/{task}":           of.withRun(of.task),
		"GET /runs/{run}/tasks/{task}/g/{group}": of.withRun(of.group),
		"GET /runs/{run}/hosts":                  of.withRun(of.runHosts),
		"GET /runs/{run}/hosts/{host}":           of.withRun(of.runHost),
		"GET /runs/{run}/output":                 of.output,
		"GET /runs/{run}/output/live":            of.outputLive,
		"GET /runs/{run}/output.txt":             of.withRun(of.download),
		"GET /runs/{run}/search":                 of.search,
		"GET /runs/{run}/compare":                of.withRun(of.compare),
		"GET /runs/{run}/notices":                of.withRun(of.notices),
		"GET /runs/{run}/jobs":                   of.withRun(of.runJobs),
		"GET /hosts":                             fleet.hosts,
		"GET /hosts/{host}":                      fleet.host,
		"GET /duties":                            fleet.dutyList,
		"GET /duties/{duty}":                     fleet.dutyPage,
		"GET /duties/{duty}/hosts/{host}":        fleet.dutyHost,
		"GET /jobs":                              fleet.jobs,
		"GET /warnings":                          fleet.warnings,
		"GET /find":                              fleet.find,
		"GET /metrics":                           fleet.metrics,
		"GET /": func(http.ResponseWriter, *http.Request) error {
			return &noPageError{"There is no page at this address."}
		},
	} {
		mux.Handle(pattern, s.page(page))
	}
	gate := auth.New(s.Gate, s.refuse).Wrap(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == healthPath {
			s.health(w, r)
			return
		}
		gate.ServeHTTP(w, r)
	})
}

// healthPath tells programs whether the console works. It is open to everybody, and tells nothing else.
const healthPath = "/healthz"

// health answers 200 if runs can be listed, else 503.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err := s.Healthy(r.Context()); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "not ok\n") // who went away misses nothing
		return
	}
	_, _ = io.WriteString(w, "ok\n") // as above
}

// Healthy is nil if runs can be listed.
func (s *Server) Healthy(ctx context.Context) error {
	_, err := s.list(ctx, "", "", "", s.Now().Truncate(time.Hour))
	return err
}

// noPageError says that an address shows nothing.
type noPageError struct{ text string }

func (e *noPageError) Error() string { return e.text }

// page shows the errors of a page as a page.
func (s *Server) page(f func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := f(w, r)
		if err == nil || r.Context().Err() != nil {
			return
		}
		var (
			none    *noPageError
			missing *record.MissingError
			several *record.AmbiguousError
			newer   *record.NewerError
		)
		switch {
		case errors.As(err, &none):
			s.refuse(w, r, http.StatusNotFound, none.text)
		case errors.As(err, &missing):
			text := fmt.Sprintf("There is no run %q: it may be too old, or its record is not for this reader.", missing.Run)
			if err.Error() != missing.Error() {
				text = fmt.Sprintf("%s.", err)
			}
			s.refuse(w, r, http.StatusNotFound, text)
		case errors.As(err, &several):
			s.refuse(w, r, http.StatusNotFound, "Several runs begin so: "+several.Error()+".")
		case errors.As(err, &newer):
			s.refuse(w, r, http.StatusNotImplemented, newer.Error()+": upgrade this console.")
		default:
			s.Log.Error().Str("path", r.URL.Path).AnErr("cause", err).Msg("a page could not be made")
			s.refuse(w, r, http.StatusBadGateway, err.Error())
		}
	})
}

// Serve serves on a listener until ctx is done. certificate is nil without TLS.
func (s *Server) Serve(ctx context.Context, on net.Listener, certificate *tls.Certificate) error {
	h := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return s.done },
	}
	if certificate != nil {
		on = tls.NewListener(on, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"http/1.1"}})
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(on) }()
	tidy := time.NewTicker(time.Minute)
	defer tidy.Stop()
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("cannot serve: %w", err)
		case <-tidy.C:
			s.cache.Tidy()
		case <-ctx.Done():
			s.stop()
			const patience = 3 * time.Second
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			if h.Shutdown(last) != nil {
				h.Close()
			}
			<-failed
			return nil
		}
	}
}

// Beyond reports whether other machines can reach an address to listen on.
func Beyond(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || !ip.IsLoopback())
}

// Certificate reads a certificate with its key, and returns its names and its digest.
func Certificate(certFile, keyFile string) (c tls.Certificate, names []string, digest [sha256.Size]byte, err error) {
	if c, err = tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		return c, nil, digest, fmt.Errorf("cannot use the certificate %s with the key %s: %w", certFile, keyFile, err)
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		return c, nil, digest, fmt.Errorf("cannot use the certificate %s: %w", certFile, err)
	}
	names = append(names, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return c, names, sha256.Sum256(c.Certificate[0]), nil
}
