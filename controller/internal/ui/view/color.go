package view

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Color is the role that a colour plays; the palette says which colour it is.
type Color string

// The roles, named as in the [colors] section of ansible.cfg.
const (
	NoColor          Color = ""
	ColorHighlight   Color = "highlight"
	ColorVerbose     Color = "verbose"
	ColorWarn        Color = "warn"
	ColorError       Color = "error"
	ColorDebug       Color = "debug"
	ColorDeprecate   Color = "deprecate"
	ColorSkip        Color = "skip"
	ColorUnreachable Color = "unreachable"
	ColorOK          Color = "ok"
	ColorChanged     Color = "changed"
	ColorDiffAdd     Color = "diff_add"
	ColorDiffRemove  Color = "diff_remove"
	ColorDiffLines   Color = "diff_lines"
)

// Palette gives each role the name of a colour: "bright red", color123, rgb123, gray7.
type Palette map[Color]string

// DefaultPalette is Ansible's.
func DefaultPalette() Palette {
	return Palette{
		ColorHighlight: "white", ColorVerbose: "blue", ColorWarn: "bright purple", ColorError: "red",
		ColorDebug: "dark gray", ColorDeprecate: "purple", ColorSkip: "cyan", ColorUnreachable: "bright red",
		ColorOK: "green", ColorChanged: "yellow", ColorDiffAdd: "green", ColorDiffRemove: "red", ColorDiffLines: "cyan",
	}
}

// ColorNames returns the names of the plain colours with their codes.
func ColorNames() map[string]string {
	return map[string]string{
		"black": "0;30", "bright gray": "0;37", "blue": "0;34", "white": "1;37", "green": "0;32",
		"bright blue": "1;34", "cyan": "0;36", "bright green": "1;32", "red": "0;31", "bright cyan": "1;36",
		"purple": "0;35", "bright red": "1;31", "yellow": "0;33", "bright purple": "1;35", "dark gray": "1;30",
		"bright yellow": "1;33", "magenta": "0;35", "bright magenta": "1;35", "normal": "0",
	}
}

// codes turns the palette into parameters of the SGR escape sequence. A colour that does not exist is an error.
func (p Palette) codes() (map[Color]string, error) {
	numbered := regexp.MustCompile(`^(?:color(\d+)|rgb([0-5])([0-5])([0-5])|gray(\d+))`)
	plain := ColorNames()
	codes := map[Color]string{}
	for role, name := range p {
		m := numbered.FindStringSubmatch(name)
		switch {
		case m == nil:
			code, ok := plain[name]
			if !ok {
				return nil, fmt.Errorf("cannot use %q as the colour of %s: no such colour", name, role)
			}
			codes[role] = code
		case m[1] != "":
			codes[role] = "38;5;" + m[1]
		case m[2] != "":
			codes[role] = "38;5;" + strconv.Itoa(16+36*colorCode(m[2])+6*colorCode(m[3])+colorCode(m[4]))
		default:
			codes[role] = "38;5;" + strconv.Itoa(232+colorCode(m[5]))
		}
	}
	return codes, nil
}

func colorCode(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// paint colours every line of text by itself, so that a pager or a cut keeps the colours.
func paint(text, code string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = "\x1b[" + code + "m" + line + "\x1b[0m"
	}
	return strings.Join(lines, "\n")
}
