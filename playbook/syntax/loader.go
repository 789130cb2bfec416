package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/plan"
	"hark/playbook/vault"
)

// Loader reads files of YAML or JSON, plain or as vaults. The zero Loader works. Its fields are set before its first
// use; then it may be used concurrently. Places name files as they were asked for.
type Loader struct {
	// Secrets open vaults and vault strings; nil has none.
	Secrets *vault.Secrets
	// Warn receives warnings, without "[WARNING]: "; nil drops them.
	Warn func(text string)
	// Deprecate receives deprecations of level 2.19 and later; nil drops them.
	Deprecate func(deprecation.Notice)
	// Duplicates says what a key that is twice in a mapping causes: "warn" (or ""), "error", "ignore".
	Duplicates string
	// Level is the language level, which decides about keywords and the forms of register.
	Level plan.Level
	// ReadFile reads files; nil is os.ReadFile.
	ReadFile func(name string) ([]byte, error)

	mu sync.Mutex

	// guarded by mu: the texts of files without vault, for excerpts in errors. Nil marks one that was a vault.
	texts map[string][]byte
	// nodes are the files that Once has read; guarded by mu.
	nodes map[string]*Node
}

// Read returns the content of a file, decrypted if it is a vault. It returns an error of the vault unchanged.
func (l *Loader) Read(file string) ([]byte, error) {
	data, _, err := l.read(file)
	return data, err
}

func (l *Loader) read(file string) (data []byte, vaulted bool, err error) {
	read := l.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	data, err = read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, &NotFoundError{File: file, tagged: l.Level.Has(dialect.PlaybookWords),
			brief: l.Level.Has(dialect.BriefFiles)}
	case err != nil:
		return nil, false,
			&Error{Msg: fmt.Sprintf("an error occurred while trying to read the file '%s': %s", file, reason(err))}
	case !vault.IsEncrypted(data):
		l.keep(file, data)
		return data, false, nil
	}
	l.keep(file, nil)
	data, err = l.Secrets.Decrypt(data, file)
	return data, true, vault.Worded(err, l.Level.Has(dialect.PlaybookWords))
}

// reason words an error of the system as Python does.
func reason(err error) string {
	var pe *fs.PathError
	var errno syscall.Errno
	if !errors.As(err, &pe) || !errors.As(err, &errno) {
		return err.Error()
	}
	text := errno.Error()
	return fmt.Sprintf("[Errno %d] %s: b'%s'", int(errno), strings.ToUpper(text[:1])+text[1:], pe.Path)
}

// NotFoundError says that a file does not exist.
type NotFoundError struct {
	File          string
	tagged, brief bool
}

func (e *NotFoundError) Error() string {
	const remote = "If you are using a module and expect the file to exist on the remote, see the remote_src option"
	unfound := dialect.FileNotFound.Text(e.File) + " on the Ansible Controller"
	reason := ": [Errno 2] No such file or directory: '" + e.File + "'"
	switch {
	case e.brief:
		return "Unable to retrieve file contents. " + unfound + reason + " " + remote + "."
	case e.tagged:
		return "Unable to retrieve file contents.\n" + unfound + ".\n" + remote + reason
	}
	return "Unable to retrieve file contents\n" + unfound + ".\n" + remote
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

func (l *Loader) keep(file string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.texts == nil {
		l.texts = map[string][]byte{}
	}
	l.texts[file] = text
}

// Node reads a file of one document in its present state.
func (l *Loader) Node(file string) (*Node, error) {
	data, vaulted, err := l.read(file)
	if err != nil {
		return nil, err
	}
	n, err := l.parse(file, data, vaulted)
	if err == nil && vaulted {
		l.hide(n.Value)
	}
	return n, err
}

// hide makes the texts and numbers of a vault secrets.
func (l *Loader) hide(v value.Value) {
	switch v := v.(type) {
	case *value.Dict:
		v.Each(func(_, item value.Value) bool { l.hideItem(item); return true })
	case *value.List:
		for _, item := range v.Items {
			l.hideItem(item)
		}
	}
}

func (l *Loader) hideItem(v value.Value) {
	l.hide(v)
	if _, isBool := v.(value.Bool); !isBool && (value.IsText(v) || value.IsNumber(v)) {
		l.Secrets.Hide(value.Printed(v))
	}
}

// Once reads a file as Node does, the first time. Later it returns the same, even if the file has changed. Ansible does
// so with files of tasks and of roles, while it reads vars files again.
func (l *Loader) Once(file string) (*Node, error) {
	l.mu.Lock()
	n := l.nodes[file]
	l.mu.Unlock()
	if n != nil {
		return n, nil
	}
	n, err := l.Node(file)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nodes == nil {
		l.nodes = map[string]*Node{}
	}
	l.nodes[file] = n
	return n, nil
}

// Value reads a file of one document, such as a vars file; None if it is empty.
func (l *Loader) Value(file string) (value.Value, error) {
	n, err := l.Node(file)
	if err != nil {
		return nil, err
	}
	return n.Value, nil
}

// Parse reads the text of one document; name is its name in errors.
func (l *Loader) Parse(name string, data []byte) (*Node, error) {
	l.keep(name, data)
	return l.parse(name, data, false)
}

// ParseValue returns the value of Parse.
func (l *Loader) ParseValue(name string, data []byte) (value.Value, error) {
	n, err := l.Parse(name, data)
	if err != nil {
		return nil, err
	}
	return n.Value, nil
}

// parse tries JSON first, as Ansible does: values of JSON have no places.
func (l *Loader) parse(name string, data []byte, vaulted bool) (*Node, error) {
	v, jsonErr := pyyaml.JSON(string(bytes.TrimPrefix(data, []byte("\ufeff"))), value.KindSource)
	if jsonErr == nil {
		return nodeOf(l.jsonTags(v)), nil
	}
	n, err := pyyaml.Load(data, l.options(name))
	if err == nil {
		return n, nil
	}
	return nil, l.syntaxError(name, jsonErr, err, vaulted)
}

func (l *Loader) syntaxError(name string, jsonErr, yamlErr error, vaulted bool) error {
	var pe *pyyaml.Error
	if !errors.As(yamlErr, &pe) {
		return yamlErr
	}
	e := &Error{Place: Place{name, pe.Mark.Line, pe.Mark.Column}}
	if l.Level.Has(dialect.PlaybookWords) {
		e.Msg, e.Place = taggedSyntax(pe, e.Place, l.text(name, vaulted))
		return e
	}
	e.Msg = "We were unable to read either as JSON nor YAML, these are the errors we got from each:\n" +
		"JSON: " + jsonErr.Error() + "\n\nSyntax Error while loading YAML.\n  " + pe.Problem
	if pe.Mark.Line == 0 {
		e.Msg += ". " + pe.Tail
		return e
	}
	e.Detail = Explain(e.Place, l.text(name, vaulted))
	return e
}

func (l *Loader) text(name string, vaulted bool) []byte {
	if vaulted || name == "<string>" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.texts[name]
}

// Errorf returns an error at a place of a file that was read, with the excerpt that Ansible shows.
func (l *Loader) Errorf(p Place, format string, a ...any) *Error {
	if l.Level.Has(dialect.PlaybookWords) && p.Line > 0 {
		return &Error{Msg: fmt.Sprintf(format, a...) + "\n" + Origin(p, l.text(p.File, false)), Place: p}
	}
	return &Error{Msg: fmt.Sprintf(format, a...), Place: p, Detail: Explain(p, l.text(p.File, false))}
}

// deprecated reports something that ansible-core 2.23 will remove.
func (l *Loader) deprecated(at Place, msg, help string) {
	if l.Level.Has(dialect.ArgsMapping) && l.Deprecate != nil {
		l.Deprecate(deprecation.Notice{Text: msg, Version: "2.23", Collection: "ansible.builtin", Help: help,
			Origin: Origin(at, l.text(at.File, false))})
	}
}

func (l *Loader) warn(format string, a ...any) {
	if l.Warn != nil {
		l.Warn(fmt.Sprintf(format, a...))
	}
}
