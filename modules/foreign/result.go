package foreign

import (
	"errors"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// result reads what a module has printed: one object, with whatever stood before and after it left out.
func (c *call) result(out modules.Output) modules.Result {
	text, junk, err := object(string(out.Stdout))
	if err != nil {
		return c.broken(out, err)
	}
	v, err := value.ParseJSON(strings.ToValidUTF8(text, "\ufffd"), value.KindUnsafe)
	data, isObject := v.(*value.Dict)
	if err != nil || !isObject {
		return c.broken(out, errors.New("it is no JSON"))
	}
	if junk != "" {
		c.env.Warn("Module invocation had junk after the JSON data: %s", junk)
	}
	data, secrets := takeSecrets(data)
	if !c.env.Redacts() {
		data, secrets = withoutSecrets(data, secrets), nil
	}
	data = plainResult(data)
	if len(out.Stderr) > 0 && c.env.Getenv("HARK_JOB") != "" {
		data.Put("stderr", string(out.Stderr)) // of a background job it is part of the result
	}
	res := c.of(data)
	res.Marks.Secrets = secrets
	return res
}

// of makes a result of what a module returned.
func (c *call) of(data *value.Dict) modules.Result {
	r := modules.Result{Plain: true, Data: data, Changed: says(data, "changed"), Failed: says(data, "failed"),
		Skipped: says(data, "skipped")}
	for name, holds := range map[string]bool{"failed": r.Failed, "skipped": r.Skipped} {
		if !holds {
			data.Delete(value.Str(name))
		}
	}
	if _, told := data.Get("changed"); told {
		data.Put("changed", modules.Here)
	} else {
		data.Put("changed", modules.AtEnd)
	}
	if !c.env.Invocation && c.env.Verbosity < 3 {
		data.Delete(value.Str("invocation"))
	}
	dropKeys(data, result.Internal)
	if v, _ := data.Get("ansible_facts"); value.IsMapping(v) {
		dropKeys(v.(*value.Dict), interpreterFound)
	}
	return r
}

func dropKeys(d *value.Dict, which func(name string) bool) {
	for _, k := range d.Keys() {
		if name, _ := value.Text(k); which(name) {
			d.Delete(k)
		}
	}
}

// interpreterFound reports whether a fact is one in which Ansible remembers an interpreter that it found: they are not
// for modules to set.
func interpreterFound(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "ansible_"), "discovered_interpreter_")
}

// says reads a flag of a result.
func says(data *value.Dict, key string) bool {
	v, _ := data.Get(key)
	return value.SaysYes(v)
}

// object finds the object in a module's output: it begins at the first line that begins with a brace.
func object(text string) (found, junk string, err error) {
	lines := strings.SplitAfter(text, "\n")
	first := -1
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "{") {
			first = i
			break
		}
	}
	if first < 0 {
		//lint:ignore ST1005 these are Ansible's words
		return "", "", errors.New("No start of json char found")
	}
	for last := len(lines) - 1; last >= first; last-- {
		if strings.HasSuffix(strings.TrimSpace(lines[last]), "}") {
			return strings.Join(lines[first:last+1], ""), strings.TrimSpace(strings.Join(lines[last+1:], "")), nil
		}
	}
	//lint:ignore ST1005 these are Ansible's words
	return "", "", errors.New("No end of json char found")
}

// What the message of a module that printed no result says since ansible-core 2.19.
const (
	noInterpreter = "The module interpreter "
	noResult      = "Module result deserialization failed: "
)

// Broken returns what Ansible has to say beside a message of since 2.19 that a module printed no result, "" of other
// messages.
func Broken(msg string) string {
	const see = "See stdout/stderr for the returned output."
	switch {
	case strings.HasPrefix(msg, noInterpreter):
		return "Consider overriding the configured interpreter path for this host. " + see
	case strings.HasPrefix(msg, noResult):
		return see
	}
	return ""
}

// broken returns the result of a module that printed none: why says what was not found.
func (c *call) broken(out modules.Output, why error) modules.Result {
	stdout, stderr := string(out.Stdout), string(out.Stderr)
	missing := slices.ContainsFunc([]string{stdout, stderr}, func(text string) bool {
		return strings.Contains(text, c.program+": not found") ||
			strings.Contains(text, c.program+": No such file or directory")
	})
	r := modules.Result{Failed: true, Plain: true}
	switch newer := slices.Contains(c.m.Internals, "tracebacks_for"); {
	case newer && missing:
		r.Msg = noInterpreter + value.ReprText(c.program) + " was not found."
	case newer:
		r.Msg = noResult + why.Error()
	case missing:
		r.Msg = dialect.InterpreterNeeded.Text() + "\nSee stdout/stderr for the exact error"
	default:
		r.Msg = "MODULE FAILURE\nSee stdout/stderr for the exact error"
	}
	r.Set("module_stdout", stdout)
	r.Set("module_stderr", stderr)
	rc := out.Rc
	if rc < 0 {
		rc = 128 - rc // a signal, as the shell tells it that runs modules for Ansible
	}
	r.Set("rc", int64(rc))
	for _, text := range []string{stderr, stdout} {
		if strings.HasPrefix(text, "Traceback") {
			r.Set("exception", text)
			break
		}
	}
	return r
}
