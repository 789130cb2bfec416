package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/duties/checkout"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/duties/keeper"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/health"
	"hark/controller/internal/play/link"
)

// newKeeperCommand is hark keeper.
func newKeeperCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "keeper", Short: "Hold hosts to their playbooks while you are away",
		RunE: argparse.NeedCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(newKeeperRunCommand(a), newKeeperStatusCommand(a), newKeeperInstallCommand(a),
		newKeeperUninstallCommand(a))
	return cmd
}

// keeping is one call of hark keeper run.
type keeping struct {
	*app
	b       *fleet.Connection
	source  *checkout.Project
	given   project.Options // what its runs are given
	flags   []string        // the same as words
	keyring string
	tags    string
	poll    time.Duration
	// unsigned: what the project requires is fetched although only signed tags are played.
	unsigned bool
	health   string // HOST:PORT that serves GET /healthz, "" to serve none

	log zerolog.Logger

	mu    sync.Mutex
	read  time.Time   // of the plan; guarded by mu
	plan  keeper.Plan // guarded by mu
	known string      // agents then, as agentNames has them; guarded by mu
	// fetching is the copy for which requirements were fetched last; guarded by mu.
	fetching string
	// offered are the commits from which somebody was told that he can put plays off; guarded by mu.
	offered map[string]bool

	store    *dutystate.Store
	unshared bool // some named readers could not be given the keys yet

	beat    atomic.Int64     // when it last looked at its duties, nanoseconds of Unix time
	looked  time.Time        // for affairs
	matters []keeper.Problem // that were found then
}

func newKeeperRunCommand(a *app) *cobra.Command {
	k := &keeping{app: a, offered: map[string]bool{}}
	var where string
	cmd := &cobra.Command{
		Use: "run", Short: "Run the duties of a project until told to stop", Args: argparse.NoArgs,
		Long: "Reads duties.yml of a project, a directory or a branch of a git repository, and plays each duty on each of its hosts when its turn comes: " +
			"exactly `hark play --limit HOST`. Of several keepers with one key one works, and the others wait.",
		Example: "  hark keeper run --project .\n  hark keeper run --project https://example.org/site.git#main --verify-tags release-keys.gpg",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		k.b = b
		return k.run(ctx, where)
	})
	fs.Text(&where, "project", "", ".", "DIR|URL#BRANCH", "the project")
	fs.Text(&k.keyring, "verify-tags", "", "", "KEYRING",
		"only what somebody has tagged whose public key is in this file (gpg --export)")
	fs.Text(&k.tags, "tag-names", "", "", "PATTERN",
		"only signed tags with such names, as prod-*: the same key may sign tags of other projects (default: all)")
	fs.Toggle(&k.unsigned, "unsigned-requirements", "", false,
		"with --verify-tags: fetch what requirements.yml names, although no tag signs it")
	fs.Span(&k.poll, "poll", time.Minute, "TIME", "how often to look whether the project has changed")
	fs.Text(&k.chosen, "level", "", "", "LEVEL",
		"language of the project: 2.14, 2.19, 2.20, 2.21 or 2.22 (default: what its ansible.cfg says, or that of the ansible-core on this machine)")
	fs.List(&k.given.Inventory.Sources, "inventory", "i", "INVENTORY",
		"the inventory, in place of that of the project's settings")
	fs.List(&k.given.Vault.Files, "vault-password-file", "", "FILE", "file with the password of vaults")
	fs.List(&k.given.Extra, "extra-vars", "e", "EXTRA_VARS",
		"additional variables as key=value or YAML/JSON, with @ from a file")
	fs.Text(&k.health, "health", "", "", "HOST:PORT",
		"where to answer GET /healthz: 200 if it works, 503 if not (default: nowhere)")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		health.Ready(zerolog.Nop()) // before it has access it is started again and again, which is no failure to install it
		return run(cmd, args)
	}
	return cmd
}

// run sees to the duties as long as it has the lock.
func (k *keeping) run(ctx context.Context, where string) error {
	err := checkLevel(k.app)
	if err != nil {
		return err
	}
	if k.chosen != "" {
		k.flags = append(k.flags, "--level", k.chosen)
	}
	if k.source, err = checkout.Open(k.placed(where), checkout.State(k.fleet.Home), k.abs(k.keyring)); err != nil {
		return err
	}
	if err := k.source.Only(k.tags); err != nil {
		return err
	}
	for _, i := range k.given.Inventory.Sources {
		k.flags = append(k.flags, "-i", i)
	}
	for i, file := range k.given.Vault.Files {
		k.given.Vault.Files[i] = k.abs(file)
		k.flags = append(k.flags, "--vault-password-file", k.given.Vault.Files[i])
	}
	for _, e := range k.given.Extra {
		k.flags = append(k.flags, "-e", e)
	}
	command, err := workerCommand(k.b.URL, k.flags)
	if err != nil {
		return err
	}
	k.log = zerolog.New(zerolog.ConsoleWriter{Out: k.term.Err, NoColor: true,
		TimeFormat: time.DateTime}).With().Timestamp().Logger()
	lock, err := dutystate.NewLock(ctx, k.b.Conn(), k.b.Operator.ID(), from())
	if err != nil {
		return err
	}
	readers, err := k.b.Readers(k.fleet.Home)
	if err != nil {
		return err
	}
	store, err := dutystate.Open(k.b.Conn(), k.b.Operator, readers, k.b.Believes)
	if err != nil {
		return err
	}
	k.store = store
	stop, err := k.watch(ctx, lock)
	if err != nil {
		return err
	}
	defer stop()
	waits := func(h dutystate.Holder) {
		k.log.Info().Str("holder", h.From).Msg("another keeper with this key is at work: waiting")
	}
	return lock.With(ctx, waits, func(ctx context.Context) error {
		k.unshared = true // readers may have been named while nobody was at work
		workers := &keeper.Workers{Command: command, Dir: k.source.Dir, NewRun: link.NewID,
			Environ: func(dir string) []string { return requiredEnviron(k.world, dir) }, Errors: k.term.Err}
		defer workers.Close()
		door, err := keeper.ServeRequests(ctx, k.b, k.b.Operator, k.b.Believes)
		if err != nil {
			return err
		}
		hellos, err := k.hellos(ctx)
		if err != nil {
			return err
		}
		k.log.Info().Str("project", where).Str("key", k.b.Operator.Key).Msg("keeper at work")
		return keeper.New(keeper.Config{
			Store: store, Driver: workers, Plan: k.current, Before: k.before, Later: k.later, Affairs: k.affairs, Tell: k.tell, Keep: k.keep, Project: where, Poll: k.poll, Hellos: hellos, Present: k.present, Asks: door.Asks(),
			Reached: func() bool {
				k.beat.Store(time.Now().UnixNano())
				return lock.Held() &&
					!k.b.Since().IsZero()
			}, Now: time.Now, Logger: k.log,
		}).Run(ctx)
	})
}

// stuckAfter is after how long without a look at its duties a keeper that has the lock does not work.
const stuckAfter = 10 * time.Minute

// watch answers whether the keeper works, to systemd and at its address, until the returned function is called.
func (k *keeping) watch(ctx context.Context, lock *dutystate.Lock) (stop func(), err error) {
	k.beat.Store(time.Now().UnixNano())
	moves := func(context.Context) error {
		if since := time.Since(time.Unix(0, k.beat.Load())); lock.Held() && !k.b.Since().IsZero() &&
			since > max(stuckAfter, 3*k.poll) {
			return fmt.Errorf("it has not looked at its duties for %s", since.Round(time.Second))
		}
		return nil
	}
	answer, err := health.Serve(k.health, func(ctx context.Context) error {
		if k.b.Since().IsZero() {
			return fmt.Errorf("the broker at %s is away", k.b.URL)
		}
		return moves(ctx)
	})
	if err != nil {
		return nil, err
	}
	watching, end := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { health.Watch(watching, k.log, moves) })
	return func() {
		end()
		work.Wait()
		answer()
	}, nil
}

// placed returns the project as Open wants it: a directory from where the command was called.
func (k *keeping) placed(where string) string {
	if where == "" || strings.Contains(where, ":") {
		return where
	}
	return absolute(k.app, where)
}

func (k *keeping) abs(path string) string {
	if path == "" {
		return ""
	}
	return absolute(k.app, path)
}

// from says who a keeper is among those with its key.
func from() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// hellos returns the ids of agents as they say that they are there. When too many come at once some are left out: who
// was away is found at the next look at the project too.
func (k *keeping) hellos(ctx context.Context) (<-chan string, error) {
	const room = 100_000
	out := make(chan string, room)
	sub, err := k.b.Subscribe(wire.PresenceOfAll(wire.KindHello), func(m wire.Msg) {
		f, err := wire.Parse(m.Data)
		id := wire.SubjectID(m.Subject)
		if err != nil || !f.Signed || wire.IDOf(f.Header.Issuer) != id || f.Header.Kind != wire.KindHello {
			return
		}
		select {
		case out <- id:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	return out, nil
}

// present returns the agents that are there.
func (k *keeping) present(ctx context.Context) ([]string, error) {
	all, err := k.b.Roster.All(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, x := range all {
		if x.Present {
			ids = append(ids, x.ID)
		}
	}
	return ids, nil
}

func newKeeperStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "List the keepers and what they last said", Args: argparse.NoArgs,
		Long: "Exit code: 3 if a keeper has said nothing of a duty for longer than its interval, a duty is paused, a project cannot be read or compiled as it is now, or a play " +
			"that was put off has expired for some host.",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		all, err := words(ctx, a, b)
		if err != nil {
			return err
		}
		if asJSON {
			if err := a.term.PrintJSON(keepers(ctx, b, all)); err != nil {
				return err
			}
		} else if err := keeperTable(a, keepers(ctx, b, all)); err != nil {
			return err
		}
		for _, w := range all {
			if w.Report != nil && w.Report.Stale != "" {
				return &quietError{exitDrift}
			}
		}
		for _, d := range definitions(all) {
			if d.Late(time.Now()) || d.Paused != nil || d.Stale != "" || d.Later != nil && len(d.Later.Expired) > 0 {
				return &quietError{exitDrift}
			}
		}
		return nil
	})
	fs.json(&asJSON)
	return cmd
}

// kept is a keeper as `hark keeper status` has it.
type kept struct {
	Keeper string `json:"keeper"` // its public key
	Duties int    `json:"duties"`
	// Later is how many plays that were put off have not ended.
	Later int               `json:"later"`
	Said  time.Time         `json:"said,omitzero"`
	Work  *dutystate.Holder `json:"work,omitempty"` // who is at work with the key, null for nobody
	// Report is what it says of its project, null for a keeper that never had one.
	Report *dutystate.Report `json:"report,omitempty"`
}

// keepers returns those whose words are there.
func keepers(ctx context.Context, b *fleet.Connection, all []dutystate.Words) []kept {
	out := []kept{}
	for _, x := range all {
		k := kept{Keeper: x.Keeper, Report: x.Report}
		if x.Report != nil {
			k.Said = x.Report.At
		}
		for _, d := range x.Definitions {
			switch {
			case d.Gone:
			case d.Later == nil:
				k.Duties++
			case d.Later.Ended.IsZero():
				k.Later++
			}
			if d.At.After(k.Said) {
				k.Said = d.At
			}
		}
		if lock, err := dutystate.NewLock(ctx, b.Conn(), wire.IDOf(x.Keeper), ""); err == nil {
			if h, is, err := lock.Holder(ctx); err == nil && is {
				k.Work = &h
			}
		}
		out = append(out, k)
	}
	return out
}

func keeperTable(a *app, all []kept) error {
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "KEEPER\tDUTIES\tLATER\tSAID\tAT WORK\tPROJECT")
	for _, k := range all {
		at, project := "nobody", ""
		if k.Work != nil {
			at = k.Work.From + ", since " + k.Work.At.Local().Format(time.DateTime)
		}
		if r := k.Report; r != nil {
			project = r.Project + " at " + cmp.Or(r.Commit, "no commit")
			if r.Stale != "" {
				project += "; stale: " + strings.Join(strings.Fields(r.Stale), " ")
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", k.Keeper, k.Duties, k.Later, fleet.Ago(k.Said), at, project)
	}
	return w.Flush()
}
