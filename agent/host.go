package agent

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"hark/agent/internal/jobs"
	"hark/agent/internal/worker"
	"hark/modules"
)

// workerIdle is how long a worker may have nothing to do before it ends.
const workerIdle = 5 * time.Minute

// Processes are the processes that an agent has beside its own: workers for other users and background jobs. They are
// this binary, started with words of its own.
type Processes struct {
	pool *worker.Pool
	jobs *jobs.Supervisor
}

// Commands are the words that start this binary as a worker and as a job; a job gets its directory as its last word.
type Commands struct{ Worker, Job []string }

// OpenProcesses takes up the jobs that an earlier agent left below dir. Workers start when they are first needed.
func OpenProcesses(dir string, c Commands) (*Processes, error) {
	supervisor, err := jobs.New(filepath.Join(dir, "jobs"), c.Job)
	if err != nil {
		return nil, err
	}
	return &Processes{pool: &worker.Pool{Argv: c.Worker, Idle: workerIdle}, jobs: supervisor}, nil
}

// Host returns how an agent uses the processes.
func (p *Processes) Host() Host { return Host{Call: p.pool.Call, Jobs: p.jobs.Session()} }

// Close ends the workers. Jobs go on.
func (p *Processes) Close() { p.pool.Close() }

// JobMain is what a job's process does: it runs the job in dir to its end. c starts workers for it.
func JobMain(dir string, m *modules.Registry, c Commands) error {
	pool := &worker.Pool{Argv: c.Worker}
	defer pool.Close()
	return jobs.Main(dir, m, pool.Call)
}

// WorkerMain is what a worker's process does: it runs modules as the user that it was started as, until in ends.
// words are those after its name.
func WorkerMain(m *modules.Registry, words []string, in io.Reader, out io.Writer) error {
	if err := worker.Settle(words); err != nil {
		return fmt.Errorf("cannot remove what this program was copied to: %w", err)
	}
	// Other processes of the user shall not look into it, nor speak in its place: it holds what the tasks of several
	// plays bring.
	if err := keepOthersOut(); err != nil {
		return fmt.Errorf("cannot keep others out of this process: %w", err)
	}
	server, err := worker.NewServer(m)
	if err != nil {
		return err
	}
	defer m.Close() // the end of this process says that nothing of its user runs here any more
	return server.Serve(context.Background(), in, out)
}
