// Package health says whether a program of hark's works: to systemd, which starts it again if it does not, and to
// whoever asks at /healthz. It tells nothing else.
package health

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"
)

// Path is where a program answers.
const Path = "/healthz"

// Check is nil while a program can do what it is for. It is called from any goroutine.
type Check func(ctx context.Context) error

// askLimit is how long a check may take.
const askLimit = 10 * time.Second

// Handler answers with 200 and ok, or with 503 and why not.
func Handler(check Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		ctx, cancel := context.WithTimeout(r.Context(), askLimit)
		defer cancel()
		switch {
		case r.URL.Path != Path:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			if err := check(ctx); err != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintf(w, "not ok: %v\n", err)
				return
			}
			_, _ = io.WriteString(w, "ok\n") // who went away misses nothing
		}
	})
}

// Serve answers at an address until the returned function is called, which waits for the end. "" serves nothing.
func Serve(listen string, check Check) (stop func(), err error) {
	if listen == "" {
		return func() {}, nil
	}
	on, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("cannot answer at %s whether it works: %w", listen, err)
	}
	server := &http.Server{Handler: Handler(check), ReadHeaderTimeout: askLimit, MaxHeaderBytes: 8 << 10}
	var work sync.WaitGroup
	work.Go(func() { _ = server.Serve(on) }) // it ends by Close
	return func() {
		_ = server.Close()
		work.Wait()
	}, nil
}

// Ready tells systemd that the program is at work.
func Ready(log zerolog.Logger) { tell(log, daemon.SdNotifyReady) }

// Watch tells systemd that the program lives, as often as its unit wants to hear it, until ctx is over. While the check
// fails nothing is told, and systemd starts the program again.
func Watch(ctx context.Context, log zerolog.Logger, check Check) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil || every <= 0 {
		return
	}
	for {
		asked, cancel := context.WithTimeout(ctx, every/2)
		err := check(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			tell(log, daemon.SdNotifyWatchdog)
		default:
			log.Error().AnErr("cause", err).Msg("this program does not work: systemd will start it again")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every / 3):
		}
	}
}

func tell(log zerolog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn().AnErr("cause", err).Msg("cannot tell systemd of the state")
	}
}
