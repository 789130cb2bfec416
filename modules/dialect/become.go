package dialect

import (
	"slices"
	"strings"
	"sync"
)

// Method is a way to become another user: a row of the one table of become plug-ins. Everything that knows become
// methods goes over the rows: the variables and settings that count for them, the commands that are run for them, and
// the documentation. A new method is a row.
type Method struct {
	// Name is the name of the plug-in in its Collection; "" is ansible-core's own.
	Name, Collection string
	// Prefix begins the names of its variables and settings, "" is Name.
	Prefix string
	// User, Exe and Flags hold where nobody gives others. A method without an Exe starts no program.
	User, Exe, Flags string
	// Lacks are the options that other methods have: BecomeUser, BecomeExe, BecomeFlags, BecomePass.
	Lacks []BecomeOption
	// Others are options that only this method has.
	Others []OtherOption
	// GeneralPass says that the variables for all methods win over the method's own variable of the password.
	GeneralPass bool
	// Refused and Missing are what the program says of a wrong password, and where it wants one and gets none.
	Refused, Missing []string
	// Terminal says that the program reads a password from a terminal only, Always that it does not work without a
	// terminal at all.
	Terminal, Always bool
	// Doc is a line for people.
	Doc string

	build func(c becomeCommand) []string
}

// BecomeOption is an option that become plug-ins have in common, by its name in Ansible.
type BecomeOption string

// The options that become plug-ins have in common.
const (
	BecomeUser  BecomeOption = "become_user"
	BecomeExe   BecomeOption = "become_exe"
	BecomeFlags BecomeOption = "become_flags"
	BecomePass  BecomeOption = "become_pass"
)

// OtherOption is an option that one become method has and others lack.
type OtherOption struct{ Name, Variable, Env, Key, Doc string }

// DefaultMethod is the method where nobody names one.
const DefaultMethod = "sudo"

// Become methods of ansible-core and of its collections.
var methods = []Method{
	{Name: "sudo", User: "root", Exe: "sudo", Flags: "-H -S -n", build: sudo,
		Refused: []string{"Sorry, try again.", "incorrect password"},
		Missing: []string{"Sorry, a password is required to run sudo", "sudo: a password is required"},
		Doc:     "Run as another user through sudo, where the agent itself may not change users."},
	{Name: "su", User: "root", Exe: "su", build: su, Refused: []string{"Authentication failure"},
		Others: []OtherOption{{"prompt_l10n", "ansible_su_prompt_l10n", "ANSIBLE_SU_PROMPT_L10N",
			"su_become_plugin.localized_prompts",
			"How su asks, in other languages."}},
		Doc: "Run as another user through su, where the agent itself may not change users."},
	{Name: "runas", Lacks: []BecomeOption{BecomeExe},
		Doc: "Run as another user of Windows, over a connection plug-in of ansible-core."},

	{Name: "doas", Collection: general, Exe: "doas", build: doas, Terminal: true,
		Refused: []string{"Permission denied", "Authentication failed"},
		Missing: []string{"Authorization required", "Authentication required"}, Others: []OtherOption{
			{"prompt_l10n", "ansible_doas_prompt_l10n", "ANSIBLE_DOAS_PROMPT_L10N", "doas_become_plugin.localized_prompts",
				"How doas asks, in other languages."},
			{"allow_pipelining", "ansible_doas_allow_pipelining", "ANSIBLE_DOAS_ALLOW_PIPELINING",
				"doas_become_plugin.allow_pipelining",
				"Pipeline although doas may ask."}},
		Doc: "Run as another user through doas of OpenBSD, where the agent itself may not change users."},
	{Name: "dzdo", Collection: general, Exe: "dzdo", Flags: "-H -S -n", build: sudo,
		Refused: []string{"Sorry, try again."},
		Doc:     "Run as another user through dzdo of Centrify, where the agent itself may not change users."},
	{Name: "ksu", Collection: general, Exe: "ksu", build: ksu, GeneralPass: true, Refused: []string{"Password incorrect"},
		Missing: []string{"No password given"},
		Others: []OtherOption{{"prompt_l10n", "ansible_ksu_prompt_l10n", "ANSIBLE_KSU_PROMPT_L10N",
			"ksu_become_plugin.localized_prompts", "How ksu asks, in other languages."}},
		Doc: "Run as another user through ksu of Kerberos, where the agent itself may not change users."},
	{Name: "machinectl", Collection: general, Exe: "machinectl", build: machinectl, Always: true,
		Refused: []string{"==== AUTHENTICATION FAILED ===="},
		Doc:     "Run as another user where the agent itself may change users; machinectl itself wants a terminal."},
	{Name: "pbrun", Collection: general, Exe: "pbrun", build: pbrun,
		Others: []OtherOption{{"wrap_exe", "ansible_pbrun_wrap_execution",
			"ANSIBLE_PBRUN_WRAP_EXECUTION", "pbrun_become_plugin.wrap_execution", "Put the command into a shell."}},
		Doc: "Run as another user through pbrun of PowerBroker, where the agent itself may not change users."},
	{Name: "pfexec", Collection: general, User: "root", Exe: "pfexec", build: pfexec, Others: []OtherOption{{"wrap_exe",
		"ansible_pfexec_wrap_execution", "ANSIBLE_PFEXEC_WRAP_EXECUTION", "pfexec_become_plugin.wrap_execution",
		"Put the command into a shell."}},
		Doc: "Run by a profile of Solaris through pfexec, where the agent itself may not change users."},
	{Name: "pmrun", Collection: general, Exe: "pmrun", build: pmrun, Lacks: []BecomeOption{BecomeUser},
		Doc: "Run as another user through pmrun of Privilege Manager, where the agent itself may not change users."},
	{Name: "run0", Collection: general, User: "root", Exe: "run0", build: run0, Always: true,
		Lacks:   []BecomeOption{BecomePass},
		Refused: []string{"==== AUTHENTICATION FAILED ===="},
		Doc:     "Run as another user where the agent itself may change users; run0 itself wants a terminal."},
	{Name: "sesu", Collection: general, Exe: "sesu", Flags: "-H -S -n", build: sesu,
		Refused: []string{"Sorry, try again with sesu."},
		Doc: "Run as another user through sesu of CA Privileged Access Manager, where the agent itself may not change " +
			"users."},
	{Name: "sudosu", Collection: general, Prefix: "sudo", User: "root", Exe: "sudo", Flags: "-H -S -n", build: sudosu,
		Lacks: []BecomeOption{BecomeExe}, Refused: []string{"Sorry, try again.", "incorrect password"},
		Missing: []string{"Sorry, a password is required to run sudo", "sudo: a password is required"},
		Others: []OtherOption{{"alt_method", "ansible_sudosu_alt_method", "ANSIBLE_SUDOSU_ALT_METHOD",
			"community.general.sudosu.alternative_method", "Call su without a shell."}},
		Doc: "Run as another user through sudo su -, where the agent itself may not change users."},

	{Name: "enable", Collection: "ansible.netcommon", Lacks: []BecomeOption{BecomeUser, BecomeExe, BecomeFlags},
		Doc: "Enter the privileged mode of a network device, over a connection plug-in of ansible-core."},
}

const general = "community.general"

// Methods returns the table. Nobody may change it.
func Methods() []Method { return methods }

// MethodNamed returns the row of a become method, which may be named with its collection, as ansible-core finds it;
// "" is DefaultMethod.
func MethodNamed(name string) (*Method, bool) {
	if name == "" {
		name = DefaultMethod
	}
	m := methodsByName()[name]
	return m, m != nil
}

var methodsByName = sync.OnceValue(func() map[string]*Method {
	out := map[string]*Method{}
	for i := range methods {
		m := &methods[i]
		out[m.Name] = m
		out[m.FullName()] = m
		if m.Collection == "" {
			out["ansible.legacy."+m.Name] = m
		}
	}
	return out
})

// FullName returns the name with the collection.
func (m *Method) FullName() string {
	if m.Collection == "" {
		return "ansible.builtin." + m.Name
	}
	return m.Collection + "." + m.Name
}

// Shown returns how Ansible's messages name the method.
func (m *Method) Shown() string {
	if m.Collection == "" {
		return m.Name
	}
	return m.FullName()
}

// Has reports whether the method has an option.
func (m *Method) Has(o BecomeOption) bool { return !slices.Contains(m.Lacks, o) }

// Runs reports whether the method starts a program on a host.
func (m *Method) Runs() bool { return m.build != nil }

// prefix begins the names of the method's variables and settings.
func (m *Method) prefix() string {
	if m.Prefix != "" {
		return m.Prefix
	}
	return m.Name
}

// Section returns the section of ansible.cfg that has the method's own settings.
func (m *Method) Section() string { return m.prefix() + "_become_plugin" }

// Env returns the environment variable of an option that counts for the method only.
func (m *Method) Env(o BecomeOption) string {
	return "ANSIBLE_" + strings.ToUpper(m.prefix()+strings.TrimPrefix(string(o), "become"))
}

// Variable returns the variable of hosts that gives an option for the method only.
func (m *Method) Variable(o BecomeOption) string {
	return "ansible_" + m.prefix() + strings.TrimPrefix(string(o), "become")
}

// Variables returns the variables of hosts that give an option, the strongest first. Where the method lacks the
// option, they are those for all methods: Ansible reads these for tasks, whatever the method is.
func (m *Method) Variables(o BecomeOption) []string {
	all := generalVariables(o)
	if !m.Has(o) {
		return all
	}
	if m.GeneralPass && o == BecomePass {
		return []string{"ansible_become_password", "ansible_become_pass", m.Variable(o)}
	}
	return append([]string{m.Variable(o)}, all...)
}

// generalVariables returns the variables that give an option for all methods, the strongest first.
func generalVariables(o BecomeOption) []string {
	if o == BecomePass {
		return []string{"ansible_become_pass", "ansible_become_password"}
	}
	return []string{"ansible_" + string(o)}
}

// BecomeVariables returns the variables of hosts that give an option for a method, which may be one that has no row:
// then by the last part of its name. The strongest is the first.
func BecomeVariables(method string, o BecomeOption) []string {
	if method == "" {
		method = DefaultMethod
	}
	return variablesOf().of(method, o)
}

// known are the variables of all options by method, so that no task makes them again.
type known map[string]map[BecomeOption][]string

func (k known) of(method string, o BecomeOption) []string {
	if m, ok := MethodNamed(method); ok {
		return k[m.Name][o]
	}
	m := Method{Name: method[strings.LastIndexByte(method, '.')+1:]}
	return m.Variables(o)
}

var variablesOf = sync.OnceValue(func() known {
	out := known{}
	for i := range methods {
		m := &methods[i]
		out[m.Name] = map[BecomeOption][]string{}
		for _, o := range BecomeOptions() {
			out[m.Name][o] = m.Variables(o)
		}
	}
	return out
})

// BecomeOptions returns the options that become plug-ins have in common.
func BecomeOptions() []BecomeOption {
	return []BecomeOption{BecomeUser, BecomeExe, BecomeFlags, BecomePass}
}

// AllBecomeVariables returns the variables of hosts that say whether, how and which other user tasks become, by
// whatever method, sorted. Nobody may change them.
func AllBecomeVariables() []string { return allBecomeVariables() }

var allBecomeVariables = sync.OnceValue(func() []string {
	names := []string{"ansible_become", "ansible_become_method"}
	for _, m := range methods {
		for _, o := range BecomeOptions() {
			names = append(append(names, generalVariables(o)...), m.Variables(o)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// IsBecomeVariable reports whether a variable of hosts is about becoming another user: one of AllBecomeVariables, or
// one whose name begins as theirs do.
func IsBecomeVariable(name string) bool {
	rest, ok := strings.CutPrefix(name, "ansible_")
	if !ok {
		return false
	}
	prefix, _, more := strings.Cut(rest, "_")
	if prefix == "become" {
		return true
	}
	return more && becomePrefixes()[prefix]
}

var becomePrefixes = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, m := range methods {
		out[m.Name], out[m.prefix()] = true, true
	}
	return out
})
