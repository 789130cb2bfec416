package modules

import (
	"context"
	"io"
	"time"

	"hark/modules/py/value"
	"hark/modules/treesync"
)

// Env is everything a module may reach besides its arguments and the host. Funcs that a stage does not
// offer are nil: Render, Var and Ask exist only inside the session (session modules and Resolve).
// All funcs are safe for concurrent use.
type Env struct {
	Check, Diff bool
	Verbosity   int
	// Invocation wants the arguments as the module understood them in its result; from Verbosity 3 on they are there
	// anyway.
	Invocation bool
	// Release is the one of the language of the play that the call is of: modules do and say some things as they do there.
	Release Release
	// Native is jinja2_native: templates keep the types of Python.
	Native bool
	// NamesVariable reports whether a variable may have a name.
	NamesVariable func(name string) bool
	// User is the login name of the user that the module runs as.
	User string
	// Environ is the environment for child processes: the user's, with the task's environment on top, as KEY=value.
	Environ []string
	// Name is the module as the playbook names it; Host the inventory name of the host whose task it is.
	Name, Host string
	// Local reports whether the host is the controller's own (connection: local); Delegate is the host that the task
	// is delegated to, "" if it is not.
	Local    bool
	Delegate string
	// NoLog reports whether nothing of the call may be noted anywhere (no_log). Results are hidden by the session.
	NoLog bool
	// Background reports whether the module is to run as a job (async).
	Background bool
	// Interpreter is ansible_python_interpreter if it was set, else "".
	Interpreter string
	// ForModules is what the settings tell modules in Python beside their arguments, by Ansible's names for it; nil
	// for the defaults. It is there in the Resolve stage alone.
	ForModules *value.Dict

	// Task is the name of the task as shown: its role's before it, its action's if it has none.
	Task string

	// Errors of the five that follow tell their ErrorKind.

	// Render evaluates a text of the task's as a template, if it may be one: what was a result or a fact never is.
	// What it gives keeps its kinds.
	Render func(ctx context.Context, text value.Value) (value.Value, error)
	// Evaluate evaluates a text of the task's as an expression, as {{ and }} around it would, if it may be one. The
	// result has unsafe text.
	Evaluate func(ctx context.Context, expr value.Value) (value.Value, error)
	// RenderFile renders a template file's text as the template module does, with its options.
	RenderFile func(ctx context.Context, text string, o TemplateOptions) (string, error)
	// Condition evaluates a text of the task's as a conditional. One that may be none is an error.
	Condition func(ctx context.Context, text value.Value) (bool, error)
	// Var gives a variable rendered, with unsafe text; false if it is not defined.
	Var func(ctx context.Context, name string) (value.Value, bool, error)
	// Option is Var for a variable that says how the task is done, such as by which interpreter: that of the host
	// which does it, and not of the one for which it is done, where these are two.
	Option func(ctx context.Context, name string) (value.Value, bool, error)
	// Asks are questions to the session, the controller and the user.
	Asks Asks

	// Source finds a controller-side file or directory by Ansible's search path; dir is files, templates, vars
	// or tasks. The error reads as Ansible's when nothing is found.
	Source func(ctx context.Context, dir, name string, decrypt bool) (*Source, error)
	// Tree lists a controller-side file or directory as it is, links unfollowed; its path is found as that of a
	// source, or is the one beside the playbook if there is nothing. Open reads files by their digests.
	Tree func(ctx context.Context, name string, q treesync.Query) (*treesync.Tree, error)
	// Open reads a blob that Source or Tree named.
	Open func(ctx context.Context, digest string) (io.ReadCloser, error)
	// Expect, if set, says which of these Open will be called for, in this order, so that they may come together.
	// Those are to be small: several are held in memory.
	Expect func(ctx context.Context, digests []string)
	// Place says where on the controller uploads of the call may go, and gives the name by which the host knows the
	// place. It is there in the Resolve stage alone: a host says nothing of the controller's paths.
	Place func(ctx context.Context, p Place) (string, error)
	// Upload writes a file on the controller (fetch): dest is what Place gave and, unless the place is one file, a
	// slash and the path below it. A mode with the bits of a directory, or of a regular file, means that r is an
	// archive of package treesync, of the changes in that directory or to that file.
	Upload func(ctx context.Context, dest string, mode uint32, r io.Reader) error
	// RemoteSum is the sha1 of a file in such a place, "" if there is none, "dir" for a directory.
	RemoteSum func(ctx context.Context, dest string) (string, error)

	// Exec runs a child process: every one goes through here.
	Exec func(ctx context.Context, c Command) (Output, error)
	// Bounds are what the host's policy keeps the module from.
	Bounds Bounds
	// Warn adds a warning to the result.
	Warn func(format string, args ...any)
	// Live, if set, takes the output of child processes as it comes. It must not block for long.
	Live func(stderr bool, chunk []byte)
}

// Place is where uploads go on the controller.
type Place struct {
	// Root is a directory there, made when it is first needed, or with File the file itself. A path that is not
	// absolute is the playbook's.
	Root string
	File bool
	// Only is the one file of a directory that is brought, "" if only its host knows that: then Tail is how its path ends.
	Only, Tail string
	// Archive: Root is brought into a state, as synchronize does, by what Options let change there.
	Archive bool
	Options treesync.Options
}

// TemplateOptions are the options of the template module.
type TemplateOptions struct {
	Name string // the file's path, for messages and template_fullpath
	// Written is how the file was named: template_path.
	Written string
	// Dest is template_destpath.
	Dest                       string
	BlockStart, BlockEnd       string
	VariableStart, VariableEnd string
	CommentStart, CommentEnd   string
	NewlineSequence            string
	TrimBlocks, LstripBlocks   bool
	Encoding                   string
}

// Source is a controller-side file or directory.
type Source struct {
	Path   string
	Digest string // of a file: sha256, for Open
	Sha1   string // of a file, "" if it was not computed
	Size   int64
	Mode   uint32
	Dir    bool
	// Entries are all that lies under a directory, sorted by Rel.
	Entries []SourceEntry
}

// SourceEntry is one entry under a directory.
type SourceEntry struct {
	Rel    string
	Mode   uint32
	Size   int64
	Digest string // of a file: sha256, for Open
	Sha1   string // of a file
	Dir    bool
	// Link is where a symbolic link points, "" for what is none. The other fields then tell of what it leads to: a
	// file's mode, size and sums; Dir if it is a directory, whose entries are listed under Rel. Nothing of these is
	// set if it leads nowhere.
	Link string
	// Circle: the link leads back to a directory above it, nothing is listed under it.
	Circle bool
}

// Command is a child process.
type Command struct {
	Argv []string
	// Shell, if set, is run with Executable (default /bin/sh) -c instead of Argv.
	Shell, Executable string
	Dir               string
	// Env is added to the task's environment, as KEY=value; later entries win. "KEY=" is empty, not unset.
	Env   []string
	Stdin []byte
	// Umask, if not nil, is set in the child alone.
	Umask *uint32
	// MaxOutput caps stdout and stderr each, in bytes; 0 is 64 MiB. What goes into a result has KeptOutput.
	MaxOutput int64
	// ToEnd waits until nobody has the child's streams any more, and not only until they are silent for a second.
	ToEnd bool
	// Timeout ends the process group; 0 is none.
	Timeout time.Duration
	// Dialogue, if set, gives the process a terminal and speaks with it; Stdin and Timeout do not count then.
	Dialogue *Dialogue
	// Bare leaves out the task's environment: Env is all that the child has.
	Bare bool
	// Fork, if set, makes the process in place of Argv, which then only names it; its environment is for Fork to know.
	Fork Fork
}

// KeptOutput is how many bytes of each stream of a command go into a result. A task does not fail for what is beyond:
// it says so.
const KeptOutput = 20 << 20

// WarnOfDropped says what is missing in a result.
func (e *Env) WarnOfDropped(out Output) {
	if out.Dropped > 0 {
		e.Warn("the command printed more than is kept (%d MB of each stream): %d bytes at the end were left out", KeptOutput>>20, out.Dropped)
	}
}

// Output is what a child process left. A process that could not be started is a *StartError; one that
// exits with a code other than 0 is no error. Rc is -N when signal N ended it.
type Output struct {
	Rc             int
	Stdout, Stderr []byte
	Start, End     time.Time
	TimedOut       bool
	Dropped        int64 // bytes beyond MaxOutput, of both streams
}
