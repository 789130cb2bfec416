package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/rs/zerolog"

	"hark/agent/wire"
)

// metricsSocket, in the state directory, is where a running agent prints its metrics for those who may open it. It
// listens on no port.
const metricsSocket = "metrics.sock"

// metricsLimit is how long whoever asks may take.
const metricsLimit = 5 * time.Second

// numbers are the figures that an agent reports about itself.
type numbers struct {
	version string
	since   time.Time // when it started
	playing func() bool
	// connected is since when it is connected to the broker, the zero time if it is not.
	connected func() time.Time
	refused   func() map[wire.Reason]uint64
}

// write writes them as Prometheus reads them.
func (n numbers) write(w io.Writer) {
	metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_agent_info{version=%q}", n.version), 1)
	metrics.WriteGaugeUint64(w, "hark_agent_start_timestamp_seconds", uint64(n.since.Unix()))
	up, playing := uint64(0), uint64(0)
	if !n.connected().IsZero() {
		up = 1
	}
	if n.playing() {
		playing = 1
	}
	metrics.WriteGaugeUint64(w, "hark_agent_connected", up)
	metrics.WriteGaugeUint64(w, "hark_agent_playing", playing)
	refused := n.refused()
	reasons := make([]string, 0, len(refused))
	for reason := range refused {
		reasons = append(reasons, string(reason))
	}
	sort.Strings(reasons)
	for _, reason := range reasons {
		metrics.WriteCounterUint64(w, fmt.Sprintf("hark_agent_refused_total{reason=%q}", reason),
			refused[wire.Reason(reason)])
	}
	metrics.WriteProcessMetrics(w)
}

// tellMetrics prints the metrics for whoever connects, until ctx is done. An agent that cannot does its work all the
// same.
func tellMetrics(ctx context.Context, dir string, n numbers, log zerolog.Logger) {
	path := filepath.Join(dir, metricsSocket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn().Err(err).Msg("no metrics are told")
		return
	}
	on, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		log.Warn().Err(err).Msg("no metrics are told")
		return
	}
	defer context.AfterFunc(ctx, func() { on.Close() })()
	defer on.Close()
	for {
		c, err := on.Accept()
		if err != nil {
			return
		}
		_ = c.SetDeadline(time.Now().Add(metricsLimit)) // of a socket
		n.write(c)
		c.Close()
	}
}

// askMetrics copies the metrics of the agent of a state directory.
func askMetrics(dir string, to io.Writer) error {
	c, err := net.DialTimeout("unix", filepath.Join(dir, metricsSocket), metricsLimit)
	if err != nil {
		return fmt.Errorf("no agent runs that would tell: %w", err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(metricsLimit)); err != nil {
		return err
	}
	_, err = io.Copy(to, c)
	return err
}
