package answer

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"hark/agent/wire"
	"hark/modules/nss"
	"hark/modules/py/datetime"
	"hark/modules/py/localtime"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/plan"
)

// templateVars returns the variables of a template that describe its file on the controller.
func (a *Answerer) templateVars(path, written string) (wire.Answer, error) {
	return a.describe(path, written)
}

// describe returns what a template may ask of its file.
func (a *Answerer) describe(path, written string) (wire.Answer, error) {
	st, err := os.Stat(path)
	if err != nil {
		return wire.Answer{}, nil
	}
	host, _ := os.Hostname()
	d := value.NewDict()
	d.Set("template_host", value.Str(host))
	d.Set("template_uid", value.Str(owner(st)))
	d.Set("template_mtime", value.Str(localtime.In(st.ModTime()).Format("2006-01-02 15:04:05.000000")))
	managed, err := a.managed(st, written, host)
	if err != nil {
		return wire.Answer{}, err
	}
	d.Set("ansible_managed", value.Str(managed))
	return wire.Answer{Value: plan.Lit(d)}, nil
}

// managed returns the text of ansible_managed: the setting with the file, host and owner in braces, then as strftime.
func (a *Answerer) managed(st fs.FileInfo, written, host string) (string, error) {
	format := "Ansible managed"
	if v, _, ok := a.setting("DEFAULT_MANAGED_STR"); ok {
		format, _ = value.Text(v)
	}
	kw := []value.Kwarg{
		{Name: "host", V: value.Str(host)}, {Name: "uid", V: value.Str(owner(st))}, {Name: "file", V: value.Str(written)},
	}
	s, err := value.FormatText(format, &value.Args{Kw: kw}, jinja.GetAttr)
	if err != nil {
		return "", err
	}
	return datetime.Strftime(localtime.In(st.ModTime()), true, s), nil
}

// owner returns the login name of a file's owner, or the number if it has none.
func owner(st fs.FileInfo) string {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if u, err := nss.UserOf(int(sys.Uid)); err == nil {
		return u.Name
	}
	return strconv.FormatUint(uint64(sys.Uid), 10)
}
