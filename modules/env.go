package modules

import (
	"context"
	"io"
	"time"

	"hark/modules/py/value"
	"hark/modules/treesync"
)

// Env is everything that a module may reach besides its arguments and the host. Funcs that a stage does not offer are
// nil: Render, Var and Ask exist only inside the session (session modules and Resolve). All funcs are safe for
// concurrent use.
type Env struct {
	Check, Diff bool
	Verbosity   int
	// Invocation asks for the arguments, as the module understood them, in its result. From Verbosity 3 on they are there
	// anyway.
	Invocation bool
	// Release is the language level of the play: modules behave as at that release.
	Release Release
	// Native is jinja2_native: templates keep the types of Python.
	Native bool
	// NamesVariable reports whether a variable may have a name.
	NamesVariable func(name string) bool
	// User is the login name of the user that the module runs as.
	User string
	// Environ is the environment for child processes: the user's, with the task's environment on top, as KEY=value.
	Environ []string
	// Name is the module as named in the playbook; Host the inventory name of the host whose task it is.
	Name, Host string
	// Local says that the host is the controller's own (connection: local). Delegate is the host that the task is
	// delegated to, "" if it is not.
	Local    bool
	Delegate string
	// NoLog says that nothing of the call may be logged anywhere (no_log). The session hides results.
	NoLog bool
	// Background says that the module runs as a job (async).
	Background bool
	// Interpreter is ansible_python_interpreter if it was set, else "".
	Interpreter string
	// ForModules are the settings for modules in Python beside their arguments, by Ansible's names; nil for the defaults.
	// It is set only in the Resolve stage.
	ForModules *value.Dict

	// Task is the name of the task as shown: with its role before it, its action's if it has none.
	Task string

	// ErrorKind returns the class of the errors of the five funcs below.

	// Render evaluates a text of the task as a template, if it may be one: text of a result or a fact never is. The value
	// keeps its kinds of text.
	Render func(ctx context.Context, text value.Value) (value.Value, error)
	// Evaluate evaluates a text of the task as an expression, as if within {{ and }}, if it may be one. Text in the value
	// is unsafe.
	Evaluate func(ctx context.Context, expr value.Value) (value.Value, error)
	// RenderFile renders a template file that Source has found, as the template module does, with its options.
	RenderFile func(ctx context.Context, src *Source, o TemplateOptions) (string, error)
	// Condition evaluates a text of the task as a conditional. A text that may not be one is an error.
	Condition func(ctx context.Context, text value.Value) (bool, error)
	// Var returns a rendered variable, with unsafe text; false if it is not defined.
	Var func(ctx context.Context, name string) (value.Value, bool, error)
	// Option is Var for a variable that says how the task is done, such as the interpreter: of the host that does the
	// task, and not of the host for which it is done, if these are two.
	Option func(ctx context.Context, name string) (value.Value, bool, error)
	// Asks are questions to the session, the controller and the user.
	Asks Asks

	// Source finds a file or directory of the controller by Ansible's search path; dir is files, templates, vars or tasks.
	// If nothing is found, the error has Ansible's text.
	Source func(ctx context.Context, dir, name string, decrypt bool) (*Source, error)
	// Tree lists a file or directory of the controller, links not followed. Its path is found as that of a source, or is
	// the one beside the playbook if there is nothing. Open reads files by their digests.
	Tree func(ctx context.Context, name string, q treesync.Query) (*treesync.Tree, error)
	// Open reads a blob that Source or Tree named.
	Open func(ctx context.Context, digest string) (io.ReadCloser, error)
	// Expect, if set, announces the digests for which Open will be called, in this order, so that they may arrive
	// together. The files must be small, since several are held in memory.
	Expect func(ctx context.Context, digests []string)
	// Place says where on the controller the call may upload to, and returns the host's name for the place.
	// It exists only in the Resolve stage: a host does not choose paths of the controller.
	Place func(ctx context.Context, p Place) (string, error)
	// Upload writes a file on the controller (fetch): dest is the name from Place and, unless the place is one file, a
	// slash and the path below it. A mode with the bits of a directory, or of a regular file, means that r is an archive
	// of package treesync with the changes in that directory or to that file.
	Upload func(ctx context.Context, dest string, mode uint32, r io.Reader) error
	// RemoteSum returns the sha1 of a file in such a place, "" if there is none, "dir" for a directory.
	RemoteSum func(ctx context.Context, dest string) (string, error)

	// Exec runs a child process. Every child process starts here.
	Exec func(ctx context.Context, c Command) (Output, error)
	// Bounds are what the host's policy forbids the module.
	Bounds Bounds
	// Warn adds a warning to the result.
	Warn func(format string, args ...any)
	// Live, if set, receives the output of child processes as it comes. It must not block for long.
	Live func(stderr bool, chunk []byte)
}

// Place is where uploads go on the controller.
type Place struct {
	// Root is a directory there, created on first use, or with File the file itself. A relative path starts at the
	// playbook's directory.
	Root string
	File bool
	// Only is the one file of a directory that is uploaded, "" if only its host knows that: then its path ends with Tail.
	Only, Tail string
	// Archive says that Root is brought into a state, as synchronize does; Options bound the changes there.
	Archive bool
	Options treesync.Options
}

// TemplateOptions are the options of the template module.
type TemplateOptions struct {
	Name string // the file's path, for messages and template_fullpath
	// Written is the file's name in the task: template_path.
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

// Source is a file or directory of the controller.
type Source struct {
	Path   string
	Digest string // of a file: sha256, for Open
	Sha1   string // of a file, "" if it was not computed
	Size   int64
	Mode   uint32
	Dir    bool
	// Entries are all entries below a directory, sorted by Rel.
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
	// Link is the target of a symbolic link, "" for any other entry. The other fields then describe what it leads to: a
	// file's mode, size and sums; Dir if it is a directory, whose entries are listed under Rel. None of these is set if it
	// leads nowhere.
	Link string
	// Circle says that the link leads back to a directory above it; nothing is listed under it.
	Circle bool
}

// Command is a child process.
type Command struct {
	Argv []string
	// Literal keeps ~ and variables in Argv as they are, which package tool expands as Ansible's run_command does.
	Literal bool
	// Shell, if set, runs with Executable (default /bin/sh) -c instead of Argv.
	Shell, Executable string
	Dir               string
	// Env is added to the task's environment, as KEY=value; later entries override earlier ones. "KEY=" is empty, not
	// unset.
	Env   []string
	Stdin []byte
	// Umask, if not nil, is set in the child only.
	Umask *uint32
	// Limits are those of the process, beside what it inherits.
	Limits []Limit
	// MaxOutput caps stdout and stderr each, in bytes; 0 is 64 MiB. Output for a result has KeptOutput.
	MaxOutput int64
	// ToEnd waits until no process has the child's streams any more, and not only until they are silent for a second.
	ToEnd bool
	// Timeout ends the process group; 0 is none.
	Timeout time.Duration
	// Dialogue, if set, gives the process a terminal and talks to it; Stdin and Timeout do not count then.
	Dialogue *Dialogue
	// Bare leaves out the task's environment: the child has only Env.
	Bare bool
	// Fork, if set, creates the process in place of Argv, which then only names it; Fork knows its environment.
	Fork Fork
}

// KeptOutput is how many bytes of each stream of a command go into a result. Longer output does not fail a task: it
// warns.
const KeptOutput = 20 << 20

// WarnOfDropped warns of what is missing in a result.
func (e *Env) WarnOfDropped(out Output) {
	if out.Dropped > 0 {
		e.Warn("the command printed more than is kept (%d MB of each stream): %d bytes at the end were left out",
			KeptOutput>>20, out.Dropped)
	}
}

// Output is the result of a child process. A process that could not be started is a *StartError; an exit code other
// than 0 is no error. Rc is -N when signal N ended it.
type Output struct {
	Rc             int
	Stdout, Stderr []byte
	Start, End     time.Time
	TimedOut       bool
	Dropped        int64 // bytes beyond MaxOutput, of both streams
}
