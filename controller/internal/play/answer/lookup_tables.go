package answer

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/codecs"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja/pycsv"
	"hark/playbook/jinja/pyini"
	"hark/playbook/jinja/templar"
	"hark/playbook/syntax"
)

// options are the keyword arguments of a lookup, over which a term may lay its own as key=value.
type options map[string]string

func (c *lookupCall) options(defaults options) options {
	for name := range defaults {
		defaults[name] = c.text(name, defaults[name])
	}
	return defaults
}

func lookupCSV(a *Answerer, c *lookupCall) ([]value.Value, error) {
	o := c.options(options{"file": "ansible.csv", "delimiter": "TAB", "col": "1", "default": "", "encoding": "utf-8",
		"keycol": "0"})
	var out []value.Value
	words := a.Templates.Has(dialect.LookupWords)
	if words && len(c.terms) == 0 {
		return nil, failLookup("AnsibleError", "Search key is required but was not found")
	}
	for _, term := range c.texts() {
		pairs, key, err := syntax.KV(term, false)
		if err != nil {
			return nil, failLookup("AnsibleError", "%v", err)
		}
		if key == "" {
			return nil, failLookup("AnsibleError", "Search key is required but was not found")
		}
		for _, p := range pairs {
			if _, known := o[p.Key]; !known && words {
				return nil, failLookup("ValueError", "%s is not a valid option", value.ReprText(p.Key))
			} else if !known {
				return nil, failLookup("AnsibleAssertionError", "%s is not a valid option", p.Key)
			}
			o[p.Key] = p.Value
		}
		row, err := csvRow(a.find(c, "files", o["file"]), key, o)
		switch {
		case err != nil && words:
			return nil, failLookup("AnsibleError", "%v", err)
		case err != nil:
			return nil, failLookup("AnsibleError", "csvfile: %v", err)
		}
		switch {
		case row != nil:
			out = append(out, value.Str(*row))
		case o["default"] != "":
			out = append(out, value.Str(o["default"]))
		}
	}
	return out, nil
}

// csvRow returns the column of the row that has key in its column of keys, the first by default; nil if there is
// none.
func csvRow(path, key string, o options) (*string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.New("[Errno 2] No such file or directory: b'None'")
	}
	table, err := codecs.Decode(data, o["encoding"])
	if err != nil {
		return nil, err
	}
	delimiter := '\t'
	if o["delimiter"] != "TAB" {
		if delimiter, err = pycsv.Delimiter(o["delimiter"]); err != nil {
			return nil, err
		}
	}
	rows, err := pycsv.Read(table, pycsv.Dialect{Delimiter: delimiter})
	for _, row := range rows {
		if len(row) == 0 {
			continue
		}
		found, err := cell(row, o["keycol"])
		if err != nil {
			return nil, err
		}
		if *found == key { // only a row that is found makes a wrong column an error
			return cell(row, o["col"])
		}
	}
	return nil, err
}

// cell returns a column of a row by its number, which counts from the end if it is negative.
func cell(row []string, column string) (*string, error) {
	i, err := strconv.Atoi(column)
	if err != nil {
		return nil, errors.New("invalid literal for int() with base 10: '" + column + "'")
	}
	if i < 0 {
		i += len(row)
	}
	if i < 0 || i >= len(row) {
		return nil, errors.New("list index out of range")
	}
	return &row[i], nil
}

func lookupINI(a *Answerer, c *lookupCall) ([]value.Value, error) {
	o := c.options(options{"file": "ansible.ini", "type": "ini", "section": "global", "re": "False", "default": "",
		"encoding": "utf-8", "case_sensitive": "False", "allow_no_value": "False", "allow_none": "False",
		"interpolation": "True"})
	var out []value.Value
	for _, term := range c.texts() {
		key, err := iniKey(term, o)
		if err != nil {
			return nil, err
		}
		got, err := iniValues(a, c, key, o)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// iniKey splits a term "key section=x file=y" into the key and options.
func iniKey(term string, o options) (string, error) {
	if !strings.Contains(term, "=") && !strings.Contains(strings.TrimSpace(term), " ") {
		return term, nil
	}
	var parts []string
	for i, word := range strings.Fields(term) {
		name, _, assigns := strings.Cut(word, "=")
		if _, known := o[name]; i == 0 || assigns && known {
			parts = append(parts, word)
		} else {
			parts[len(parts)-1] += " " + word
		}
	}
	key, found := "", false
	for _, part := range parts {
		name, v, assigns := strings.Cut(part, "=")
		switch _, known := o[name]; {
		case assigns && !known:
			return "", failLookup("AnsibleLookupError", "%s is not a valid option.", name)
		case assigns:
			o[name] = v
		case !found:
			key, found = part, true
		}
	}
	if !found {
		return "", failLookup("AnsibleOptionsError",
			"No key to lookup was provided as first term with in string inline options: %s", term)
	}
	return key, nil
}

func iniValues(a *Answerer, c *lookupCall, key string, o options) ([]value.Value, error) {
	path := a.find(c, "files", o["file"])
	if path == "" {
		return nil, failLookup("AnsibleParserError", "Invalid filename: 'None'")
	}
	data, err := a.read(path)
	if err != nil {
		return nil, failLookup("AnsibleParserError", "%v", err)
	}
	text, err := codecs.Decode(data, o["encoding"])
	if err != nil {
		return nil, failLookup(templar.ErrorClass(err), "%v", err)
	}
	isOn := func(name string) bool { return value.SaysYes(value.Str(o[name])) }
	section := o["section"]
	if o["type"] == "properties" {
		section, text = "java_properties", "[java_properties]\n"+text
	}
	f, err := pyini.Parse(text, pyini.Options{CaseSensitive: isOn("case_sensitive"),
		AllowNoValue: isOn("allow_no_value") || isOn("allow_none"),
		Raw:          !isOn("interpolation")})
	if err != nil {
		return nil, failLookup("AnsibleLookupError", "%s", strings.ReplaceAll(err.Error(), "{file}", o["file"]))
	}
	s := f.Section(section)
	switch {
	case s == nil && a.Templates.Has(dialect.LookupWords):
		return nil, failLookup("ValueError", "No section %s in %s.", value.ReprText(section), value.ReprText(o["file"]))
	case s == nil:
		return nil, failLookup("AnsibleLookupError", "No section '%s' in %s", section, o["file"])
	}
	if !isOn("re") {
		if !isOn("case_sensitive") {
			key = strings.ToLower(key)
		}
		if v, ok := s.Get(key); ok && value.IsNone(v) {
			return nil, nil // an option without a value is nothing to find
		} else if ok {
			return []value.Value{v}, nil
		}
		return strs(o["default"]), nil
	}
	re, err := pyre.Compile(key, pyre.Options{Anchor: pyre.AtStart})
	if err != nil {
		return nil, failLookup(templar.ErrorClass(err), "%v", err)
	}
	var out []value.Value
	for _, name := range s.Options() {
		found, err := re.Matches(name)
		if err != nil {
			return nil, failLookup(templar.ErrorClass(err), "%v", err)
		}
		if found {
			v, _ := s.Get(name)
			out = append(out, v)
		}
	}
	return out, nil
}
