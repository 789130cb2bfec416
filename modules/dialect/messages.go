package dialect

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// Message is a text that Ansible prints, with %s where its arguments stand, and %v where one is several words: it goes
// on to what follows it, or to the end of the line. The code that meets the error writes it with
// Text, and code that explains it (hints, causes from level 2.19 on) recognizes it with Find. Both read the same row,
// so a change of the wording cannot leave an explanation without its message. Errors cross the wire, records and
// plug-ins in Python as text, which is why they are recognized and not compared by identity.
type Message struct {
	// Format is the text, with a verb for each argument.
	Format string
	find   func() *regexp.Regexp
}

// message makes a row.
func message(format string) Message {
	return Message{Format: format,
		find: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern(format)) })}
}

// Text returns the message with its arguments.
func (m Message) Text(args ...any) string { return fmt.Sprintf(m.Format, args...) }

// Find returns the arguments of the first occurrence of the message in text, and whether there is one. An argument that
// stands in quotes, in parentheses or before a comma ends there, another one at the first blank.
func (m Message) Find(text string) (args []string, found bool) {
	at := m.find().FindStringSubmatch(text)
	if at == nil {
		return nil, false
	}
	return at[1:], true
}

// In reports whether text contains the message.
func (m Message) In(text string) bool { return m.find().MatchString(text) }

// Begins reports whether text begins with the message.
func (m Message) Begins(text string) bool {
	at := m.find().FindStringIndex(text)
	return at != nil && at[0] == 0
}

// pattern returns a regular expression for the texts that a format makes.
func pattern(format string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.WriteString(regexp.QuoteMeta(format))
			return b.String()
		}
		b.WriteString(regexp.QuoteMeta(format[:i]))
		verb, after := format[i+1], format[i+2:]
		switch {
		case verb == 'v' && after != "":
			b.WriteString(`((?s:.+?))`)
		case verb == 'v':
			b.WriteString(`([^\n]+)`)
		case after == "":
			b.WriteString(`(\S+)`)
		case strings.ContainsRune(`'")],:.`, rune(after[0])):
			b.WriteString(`([^\n` + regexp.QuoteMeta(after[:1]) + `]+)`)
		default:
			b.WriteString(`(.+?)`)
		}
		format = after
	}
}

// Messages about names that nothing answers to. The cases that showed each text, with the release of ansible-core that
// printed it, are in controller/cli/testdata (refused/cases.txt for 2.14, level219_*.txtar for 2.19 and later).
var (
	ActionNotFound     = message("couldn't resolve module/action '%s'")
	ModuleNotFound     = message("The module %s was not found in configured module paths")
	RoleNotFound       = message("the role '%s' was not found")
	InvalidAttribute   = message("'%s' is not a valid attribute for a %s")
	ConflictingActions = message("conflicting action statements: %s, %s")
	UnsupportedOptions = message("Unsupported parameters for (%s) module: %s" + SupportedOptions.Format)
	SupportedOptions   = message(". Supported parameters include: %v")
	InvalidOptions     = message("Invalid options for %s: %s")
	PluginNotFound     = message(`Could not load "%s": %s`)
	NoSuchPlugin       = message("No %s named '%s'")
	LookupNotFound     = message("lookup plugin (%s) not found")
	NoHostMatches      = message("Could not match supplied host pattern, ignoring: %s")
	HandlerNotFound    = message(
		"The requested handler '%s' was not found in either the main handlers list nor in the listening handlers list")
	BecomeNotFound      = message("Invalid become method specified, could not find matching plugin: '%s'")
	CallbackNotFound    = message("Invalid callback for stdout specified: %s")
	InvalidChoice       = message("argument %s: invalid choice: '%s' (choose from %s)")
	NoSuchChoice        = message("value of %s must be one of: %v, got: %s")
	InvalidVariableName = message("The variable name '%v' is not valid")
)

// Messages about files.
var (
	FileNotFound       = message("Could not find or access '%s'")
	FileSearched       = message("Searched in:%v on the Ansible Controller")
	PlaybookNotFound   = message("the playbook: %s could not be found")
	LookupFileNotFound = message("could not locate file in lookup: %s")
	InventoryNotParsed = message("Unable to parse %s as an inventory source")
	SectionUnknown     = message("Section [%s:%s] has unknown type: %s")
	PlaybookNotAList   = message("A playbook must be a list of plays, got a %s instead: %s")
)

// Messages about values.
var (
	LoopNeedsAList    = message("Invalid data passed to 'loop', it requires a list, got this instead: %s")
	ActionNeedsText   = message("unexpected parameter type in action: %v")
	InterpreterNeeded = message("The module failed to execute correctly, you probably need to set the interpreter.")
)

// Messages about vaults.
var (
	VaultNoneGiven        = message("A vault password or secret must be specified to decrypt %s")
	VaultNoPassword       = message(value.ErrNoSecret.Error())
	VaultPasswordNotTyped = message("EOFError (ctrl-d) on prompt for (%s)")
	VaultNotOpened        = message("Decryption failed (no vault secrets were found that could decrypt)")
	VaultNotEncrypted     = message("input is not vault encrypted data. ")
)
