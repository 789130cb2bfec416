package posix

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// keyLine is a line of an authorized_keys file. One that holds no key has no kind, and key is the line itself.
type keyLine struct {
	key, kind string
	options   []keyOption
	comment   string
	rank      int
}

type keyOption struct {
	name  string
	value *string
}

// same reports whether two lines say the same; the order of options does not matter.
func (k keyLine) same(other keyLine) bool {
	return k.kind == other.kind && k.comment == other.comment && maps.EqualFunc(optionValues(k.options),
		optionValues(other.options), slices.Equal)
}

func optionValues(options []keyOption) map[string][]string {
	out := map[string][]string{}
	for _, o := range options {
		value := "\x00"
		if o.value != nil {
			value = *o.value
		}
		out[o.name] = append(out[o.name], value)
	}
	return out
}

func (k keyLine) String() string {
	if k.kind == "" {
		return k.key
	}
	var options []string
	for _, o := range k.options {
		if o.value != nil {
			options = append(options, o.name+"="+*o.value)
		} else {
			options = append(options, o.name)
		}
	}
	before := strings.Join(options, ",")
	if before != "" {
		before += " "
	}
	return before + k.kind + " " + k.key + " " + k.comment + "\n"
}

// keyLines are the lines of a file by their key; of several with one key the last counts.
type keyLines struct {
	byKey map[string]keyLine
	order []string // of first appearance
}

func (l *keyLines) add(k keyLine) {
	if _, there := l.byKey[k.key]; !there {
		l.order = append(l.order, k.key)
	}
	l.byKey[k.key] = k
}

func (l *keyLines) remove(key string) {
	if _, there := l.byKey[key]; there {
		delete(l.byKey, key)
		l.order = slices.DeleteFunc(l.order, func(s string) bool { return s == key })
	}
}

func (l *keyLines) names() []string { return slices.Clone(l.order) }

func (l *keyLines) String() string {
	lines := make([]keyLine, 0, len(l.order))
	for _, key := range l.order {
		lines = append(lines, l.byKey[key])
	}
	slices.SortStableFunc(lines, func(a, b keyLine) int { return cmp.Compare(a.rank, b.rank) })
	out := ""
	for _, line := range lines {
		out += line.String()
	}
	return out
}

func parseKeyLines(content string) *keyLines {
	l := &keyLines{byKey: map[string]keyLine{}}
	for rank, line := range strings.SplitAfter(content, "\n") {
		if line == "" {
			continue
		}
		k, ok := parseKeyLine(line)
		if !ok {
			k = keyLine{key: line}
		}
		k.rank = rank
		l.add(k)
	}
	return l
}

// keyKinds returns the kinds of keys that sshd(8) knows.
func keyKinds() []string {
	return []string{
		"sk-ecdsa-sha2-nistp256@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
		"webauthn-sk-ecdsa-sha2-nistp256@openssh.com",
		"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256-cert-v01@openssh.com", "ecdsa-sha2-nistp384",
		"ecdsa-sha2-nistp384-cert-v01@openssh.com",
		"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521-cert-v01@openssh.com", "sk-ssh-ed25519@openssh.com",
		"sk-ssh-ed25519-cert-v01@openssh.com",
		"ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com", "ssh-dss", "ssh-rsa", "ssh-xmss@openssh.com",
		"ssh-xmss-cert-v01@openssh.com",
		"rsa-sha2-256", "rsa-sha2-512", "ssh-rsa-cert-v01@openssh.com", "rsa-sha2-256-cert-v01@openssh.com",
		"rsa-sha2-512-cert-v01@openssh.com",
		"ssh-dss-cert-v01@openssh.com",
	}
}

// parseKeyLine reads options, kind, key and comment; false if there is no key. A comment is a line of its own.
func parseKeyLine(line string) (keyLine, bool) {
	line = strings.ReplaceAll(line, `\#`, "#")
	words := strings.Fields(line)
	if len(words) > 0 && words[0] == "#" {
		return keyLine{key: line}, true
	}
	at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(keyKinds(), w) })
	if at < 0 || at+1 >= len(words) {
		return keyLine{}, false
	}
	return keyLine{
		key: words[at+1], kind: words[at], comment: strings.Join(words[at+2:], " "),
		options: parseKeyOptions(strings.Join(words[:at], " ")),
	}, true
}

// parseKeyOptions parts options at commas outside quotes.
func parseKeyOptions(given string) []keyOption {
	var list []keyOption
	add := func(part string) {
		if part == "" {
			return
		}
		name, value, ok := strings.Cut(part, "=")
		if ok {
			list = append(list, keyOption{name, &value})
		} else {
			list = append(list, keyOption{name, nil})
		}
	}
	from := 0
	var quote byte
	for i := 0; i < len(given); i++ {
		switch c := given[i]; {
		case quote == 0 && c == ',':
			add(given[from:i])
			from = i + 1
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	add(given[from:])
	return list
}
