package runner

import (
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// unread reports whether a message is about a file that the controller does not have or cannot read.
func unread(msg string) bool {
	return dialect.FileNotFound.Begins(msg) && strings.Contains(msg, " on the Ansible Controller") ||
		dialect.VaultNoneGiven.Begins(msg)
}

// remoteSrc says what can be done about a file that is missing.
const remoteSrc = "If you are using a module and expect the file to exist on the remote, see the remote_src option"

// unread reports such a file. Some actions of Ansible raise an error of their own then, copy in its own way, and others
// know nothing of it. Since ansible-core 2.21 the message does not say what can be done.
func (b *failureReport) unread(res *result.Result, msg string, does func(modules.Trait) bool) {
	res.Delete(value.Str("exception"))
	res.Parsed = false
	newer := b.e.has(dialect.RemoteSrcHint)
	help := ""
	if told, unfound := strings.CutSuffix(msg, "\n"+remoteSrc); unfound && newer {
		msg, help = told, remoteSrc+"."
	}
	said, links := msg, []link{{msg: "Task failed."}}
	why := link{msg: msg, apart: true, spot: spot{nowhere: true}}
	switch {
	case b.e.s.Action == modules.Copy && dialect.FileNotFound.In(msg):
		said = "Unexpected AnsibleActionFail error: " + msg
		if !newer {
			links = append(links, link{msg: said})
			break
		}
		why.help = help
		links = append(links, link{msg: "Unexpected AnsibleActionFail error."}, why)
	case does(modules.ReadsTemplates) && newer:
		links = append(links, link{msg: "Action failed."}, link{msg: msg})
	case does(modules.ReadsTemplates | modules.IsAction):
		links = append(links, why)
	default:
		said = "Task failed: " + msg
		if help == "" {
			why = link{msg: msg}
		}
		why.help = help
		links = append(links, why)
	}
	res.Set("msg", value.UnsafeStr(said))
	say(res, links...)
}
