// Package modules is the contract of modules: what a module is, what it may touch and what it returns. The modules
// themselves are in the sub-packages, a file each; package all lists them.
package modules

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"

	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Module is one module: a declaration, its parameters and its function.
type Module struct {
	Name string // full name: ansible.builtin.copy
	Doc  string // one line
	// OtherNames are full names that Ansible redirects here, beside ansible.legacy and the short name.
	OtherNames []string
	Rules      Rules
	// Session modules run inside the session, never as another user and never delegated: they see templates and variables,
	// and touch no host (debug, set_fact, assert).
	Session bool
	// UsesHost marks session modules that use the host of their task nevertheless.
	UsesHost bool
	// Pure session modules neither change nor observe anything outside the session.
	Pure bool
	// FreeForm modules take text that is not key=value ("_raw_params").
	FreeForm bool
	// Foreign modules are for what is not native: plays cannot name them, and no list or documentation shows them.
	Foreign bool
	// Close, if set, ends what the module keeps running for its next call, and waits for its end.
	Close func()
	// NoCheck modules do not support check mode: they are skipped in it.
	NoCheck bool
	// StartsInCheck are the programs that the module may start in check mode, by patterns of their names. Modules that
	// start none, or can do without, have the trait ReadsInCheck.
	StartsInCheck []string
	// Runs says that whoever may call the module can run any program, or leave one behind for others to run: the module is
	// for that, or its arguments amount to it. A host's policy allows it only by name.
	Runs bool
	// Programs are arguments that name programs or make one run what they say, ProgramsByPath those that do so when they
	// hold a slash. A host's policy allows them only by name.
	Programs, ProgramsByPath []string
	// Operands are arguments whose values may not begin with a dash, see the option of that name.
	Operands []string
	// AnyArgs modules accept names that are not in Params (set_fact, add_host).
	AnyArgs bool
	// Unrendered are arguments that the module receives as in the playbook, if they are in the task's own mapping: the
	// module renders them itself (what assert asserts).
	Unrendered []string
	// Kept are arguments that keep their kinds of text: the module has them evaluated, and what a host has said must stay
	// data then. All other arguments of a module have unsafe text.
	Kept []string
	// KeepsAll says that all arguments do: they become variables.
	KeepsAll bool
	// Bare are arguments whose texts are expressions without braces.
	Bare []string
	// ReportsAs replaces the name in messages about arguments: modules that Ansible runs through an action of its own are
	// ansible.legacy.NAME there.
	ReportsAs string
	// Edited and Edits name what the module changes based on its previous content: the file in the first of these
	// parameters that was given, else Edited, a file or a word. Calls that edit the same thing take turns on a host, or
	// one would lose the other's change.
	Edited string
	Edits  []string
	// Traits are what other code needs to know.
	Traits Trait
	// Facts modules return ansible_facts that replace the host's own (setup, gather_facts).
	Facts bool
	// Examples is YAML, Returns are the keys of the result, both for the documentation.
	Examples string
	Returns  []Return

	// Settle, if set, changes checked arguments before the module gets them and the result shows them.
	Settle func(params *value.Dict)

	resolve func(ctx context.Context, env *Env, args *value.Dict) error
	run     func(ctx context.Context, env *Env, args *value.Dict) (Result, error) // args are Parsed.Params
	params  func() []Param                                                        // see Params
	changes []change                                                              // in the order of releases
}

// Return documents one key of a module's result.
type Return struct{ Name, Type, When, Doc string }

// Option completes a declaration.
type Option func(*Module)

// Define declares a module. A is a struct whose tagged fields are the parameters (see Param). A declaration that
// contradicts itself panics, at start.
func Define[A any](name, doc string, run func(context.Context, *Env, A) (Result, error), opts ...Option) *Module {
	m := &Module{Name: name, Doc: doc, params: sync.OnceValue(paramsOf[A])}
	m.run = func(ctx context.Context, env *Env, args *value.Dict) (Result, error) {
		var a A
		if err := fill(m.Params(), args, reflect.ValueOf(&a).Elem()); err != nil {
			return Result{}, err
		}
		return run(ctx, env, a)
	}
	for _, o := range opts {
		o(m)
	}
	return m
}

// WithResolve adds a stage that runs inside the session before the call is sent to where the module runs: it may use
// Env.Render and Env.Source, and rewrites args in place (template renders its source there).
func WithResolve(f func(ctx context.Context, env *Env, args *value.Dict) error) Option {
	return func(m *Module) { m.resolve = f }
}

// Edits names the parameters with the file that the module edits.
func Edits(params ...string) Option { return func(m *Module) { m.Edits = params } }

// EditsOr is Edits for a module that edits something else if none of them is given.
func EditsOr(edited string, params ...string) Option {
	return func(m *Module) { m.Edited, m.Edits = edited, params }
}

// WithParam changes one parameter of the argument struct.
func WithParam(name string, change func(*Param)) Option {
	return func(m *Module) {
		declared := m.params
		m.params = sync.OnceValue(func() []Param {
			params := declared()
			at := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
			if at < 0 {
				panic("module " + m.Name + " has no parameter " + name)
			}
			change(&params[at])
			return params
		})
	}
}

// Params returns the parameters. It reads them from the argument struct on first use: a program has all modules and
// uses few. They must not be changed.
func (m *Module) Params() []Param {
	if m.params == nil {
		return nil
	}
	return m.params()
}

// Takes declares the parameters of something that is no module with an argument struct: an action of the language, as
// its page shows it. It returns m.
func (m *Module) Takes(params ...Param) *Module {
	m.params = func() []Param { return params }
	return m
}

// With applies any other change to the declaration.
func With(f func(*Module)) Option { return f }

// InSession marks a session module.
func InSession(m *Module) { m.Session = true }

// RunsPrograms marks a module that can run any program.
func RunsPrograms(m *Module) { m.Runs = true }

// StartsInCheck names the programs that a module may start in check mode, by patterns of path.Match.
func StartsInCheck(programs ...string) Option {
	return func(m *Module) { m.StartsInCheck = programs }
}

// NamedIn reports whether a list of full names has the module, by its own name or by another one that leads to it.
func (m *Module) NamedIn(names []string) bool {
	return slices.Contains(names, m.Name) ||
		slices.ContainsFunc(m.OtherNames, func(name string) bool { return slices.Contains(names, name) })
}

// StartsWhenChecked reports whether the module declares that it may start a program in check mode.
func (m *Module) StartsWhenChecked(program string) bool {
	return slices.ContainsFunc(m.StartsInCheck, func(pattern string) bool {
		ok, _ := path.Match(pattern, program) // the patterns of declarations are valid
		return ok
	})
}

// Programs marks arguments that name programs or make one run what they say.
func Programs(names ...string) Option { return func(m *Module) { m.Programs = names } }

// ProgramsByPath marks arguments that do so when they hold a slash: the names of systemd's units.
func ProgramsByPath(names ...string) Option { return func(m *Module) { m.ProgramsByPath = names } }

// UsesItsHost marks a session module that uses the host of its task.
func UsesItsHost(m *Module) { m.Session, m.UsesHost = true, true }

// IsPure marks a pure session module.
func IsPure(m *Module) { m.Session, m.Pure = true, true }

// Resolves reports whether the module has a stage inside the session.
func (m *Module) Resolves() bool { return m.resolve != nil }

// Resolve runs the stage inside the session, which changes args in place. An error ends the task: Failure makes its
// result.
func (m *Module) Resolve(ctx context.Context, env *Env, args *value.Dict) error {
	if m.resolve == nil {
		return nil
	}
	return m.resolve(ctx, env, args)
}

// Run checks the arguments and runs the module. It always returns a Result: an error becomes a failure with its text as
// msg, in place of the Result beside it, and so does a panic. The values of nolog parameters do not appear in it.
func (m *Module) Run(ctx context.Context, env *Env, args *value.Dict) (res Result) {
	parsed := &Parsed{}
	defer func() {
		if p := recover(); p != nil {
			msg := fmt.Sprintf("internal error: module %s broke: %v", m.Name, p)
			// Views show the last line of an exception, and the rest only with -vvv.
			res = Result{Failed: true, Msg: msg, Data: value.DictOf("exception", fmt.Sprintf("%s\n%s", debug.Stack(), msg))}
		}
		if env.Redacts() {
			res.Marks.Secrets = append(res.Marks.Secrets, parsed.Secrets...)
		} else {
			res.censor(parsed.Secrets)
		}
	}()
	name := env.Name
	if m.ReportsAs != "" {
		name = m.ReportsAs
	} else if name == "" {
		name = m.Name
	}
	var err error
	if parsed, err = m.Parse(name, args, env.Reading()); err == nil {
		if m.Settle != nil {
			m.Settle(parsed.Params)
		}
		err = errors.Join(m.checkOperands(parsed.Params), env.Bounds.kept(m))
	}
	if err == nil {
		res, err = m.run(ctx, env.bounded().discreet(parsed.Secrets), parsed.Params)
	}
	if err != nil {
		res = resultOf(err)
	}
	if crash := (*Crash)(nil); errors.As(err, &crash) && env.Has(dialect.ModuleMessages) {
		res.Msg = Uncaught + crash.Raised
	}
	if !m.Session {
		res.complete()
	}
	res.Warnings = append(parsed.Warnings, res.Warnings...)
	res.Deprecations = append(parsed.Deprecations, res.Deprecations...)
	if !m.Session && !m.Foreign && (env.Invocation || env.Verbosity >= 3) {
		res.Invocation = parsed.invocation(m.spec(env.Release).Params, args)
	}
	return res
}

// Uncaught is what ansible-core 2.19 puts before an exception that a module does not catch.
const Uncaught = "Task failed: Module failed: "

// Crash is an error where Ansible's module ends with an exception. Level 2.19 shows what was raised; older ones a
// traceback, which the error's text replaces.
type Crash struct {
	Raised string // the exception's text
	Err    error
}

func (e *Crash) Error() string { return e.Err.Error() }

// Unwrap returns the error in hark's own words.
func (e *Crash) Unwrap() error { return e.Err }

// resultOf returns the result of an error. An error with Details adds their keys.
func resultOf(err error) Result {
	var ended *Ended
	if errors.As(err, &ended) {
		return ended.Result
	}
	r := Result{Failed: true, Msg: err.Error()}
	var more interface{ Details() *value.Dict }
	if errors.As(err, &more) {
		r.Data = more.Details()
	}
	return r
}

// complete adds what Ansible adds to the result of every module: the state of the file that it names. The lines of
// output are added where the result is registered and shown.
func (r *Result) complete() {
	if r.Data == nil {
		return
	}
	if !r.Plain {
		fsx.AddInfo(r.Data)
	}
	// Only the results of a loop are a list with that name, except for package managers whose users know it.
	v, ok := r.Data.Get("results")
	if _, isList := v.(*value.List); ok && !isList {
		r.Data.Delete(value.Str("results"))
		r.Data.Put("ansible_module_results", v)
	}
}

// Ended is an error with the whole result of a task: a Resolve stage that knows the outcome returns it.
type Ended struct{ Result Result }

func (e *Ended) Error() string { return e.Result.Msg }

// Failure returns the result of an error of Resolve.
func Failure(err error) Result { return resultOf(err) }

// Raise returns the error of a task that could not even be tried: its result has nothing but a message.
func Raise(format string, a ...any) error {
	return &Ended{Result{Failed: true, Raised: true, Msg: fmt.Sprintf(format, a...)}}
}

// RaiseAs is Raise of an exception of another class than Ansible's.
func RaiseAs(class, format string, a ...any) error {
	return &Ended{Result{Failed: true, Raised: true, Class: class, Msg: fmt.Sprintf(format, a...)}}
}

// ByTask is the origin of a failure from ActionFail: neither a module nor an action, but the task itself. ByCaught is
// that of one from ActionCaught.
const (
	ByTask   = "Task"
	ByCaught = "Caught"
)

// ActionFail returns the error of a stage that is an action's in Ansible: the result says that an exception occurred,
// and cause is its last line, "" if there was none but the message itself.
func ActionFail(cause, format string, a ...any) error {
	if cause == "" {
		cause = "NoneType: None"
	}
	return &Ended{Result{
		Failed: true, Msg: fmt.Sprintf(format, a...), Data: value.DictOf("exception", cause+"\n"),
		Marks: result.Marks{FailedBy: ByTask},
	}}
}

// ActionCaught is ActionFail in an action that catches its own exceptions before level 2.19. The task judges what is
// left of them, by failed_when and changed_when, as a result.
func ActionCaught(cause, format string, a ...any) error {
	err := ActionFail(cause, format, a...)
	var end *Ended
	if errors.As(err, &end) {
		end.Result.Marks.FailedBy = ByCaught
	}
	return err
}

// NoAsync returns the error of an action, as written, that cannot run in the background.
func NoAsync(action string, tagged bool) error {
	if tagged {
		return ActionFail("", "This action (%s) does not support async.", action)
	}
	return ActionFail("", "async is not supported for this task.")
}

// Because returns a failure whose cause is separate from its message, as at level 2.19; data is what else the result
// has, or nil.
func Because(cause, msg string, data *value.Dict) Result {
	return Result{Failed: true, Msg: msg, Data: data, Marks: result.Marks{Cause: cause}}
}

// ErrorKind returns the class that Ansible uses for an error of a template.
func ErrorKind(err error) string {
	var kind interface{ Kind() string }
	if errors.As(err, &kind) && kind.Kind() != "" {
		return kind.Kind()
	}
	return "AnsibleError"
}

// ErrorClass is ErrorKind with the module of the class, as Python prints it in a traceback.
func ErrorClass(err error) string {
	var class interface{ Class() string }
	if errors.As(err, &class) && class.Class() != "" {
		return class.Class()
	}
	return "ansible.errors." + ErrorKind(err)
}

// IsUndefined reports whether an error of Env.Render and the like means a variable that is not defined.
func IsUndefined(err error) bool { return ErrorKind(err) == "AnsibleUndefinedVariable" }

// Fail returns a failed result with a message.
func Fail(format string, a ...any) (Result, error) {
	return Result{Failed: true, Msg: fmt.Sprintf(format, a...)}, nil
}

// Documented adds examples, as YAML, and the keys of the result to a declaration.
func Documented(examples string, returns ...Return) Option {
	return func(m *Module) { m.Examples, m.Returns = examples, returns }
}
