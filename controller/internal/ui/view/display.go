package view

import (
	"cmp"
	"crypto/sha256"
	"io"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/width"

	"hark/modules/mask"
	"hark/modules/py/value"
)

// Display is the screen that the views of a run share: where text goes, how wide it is and how it is coloured.
// It also prints the messages that are not part of a view (see Messages). Its methods are safe for
// concurrent use.
type Display struct {
	*screen
	audience *audience // nil for the views of the run, which record what they print themselves
}

// screen is what all displays of a run write on.
type screen struct {
	o     DisplayOptions
	codes map[Color]string // nil without colours

	mu sync.Mutex
	// guarded by mu
	seen   map[[sha256.Size]byte]bool
	status string // the status line that stands on the screen
	lent   bool   // somebody else prints: the status line stays away
}

// DisplayOptions say what the screen is like.
type DisplayOptions struct {
	Out, Err io.Writer
	// Columns is the width that banners and warnings fill: the terminal's less one, never below 79; 0 is 79.
	Columns   int
	Verbosity int
	// Colored prints colours, from Palette (nil is the default one).
	Colored bool
	Palette Palette
	// NoDeprecations and NoSystemWarnings are deprecation_warnings=no and system_warnings=no.
	NoDeprecations, NoSystemWarnings bool
	// Tagged prints warnings and errors as ansible-core 2.19 does: they are not wrapped, and errors begin with
	// "[ERROR]: ".
	Tagged bool
	// VerboseToStderr sends the lines of -v there.
	VerboseToStderr bool
	// Log, if set, gets every message without colours (log_path), with its rank in a log: INFO, WARNING or ERROR.
	Log func(rank, text string)
	// Hidden are texts that nobody may see, in anything that is printed; nil: there are none (before ansible-core
	// 2.22).
	Hidden *mask.Masker
	// StatusLine allows a line on Err that is overwritten as the run goes on; only for terminals.
	StatusLine bool
}

// NewDisplay makes a display. The error is a colour of the palette that does not exist.
func NewDisplay(o DisplayOptions) (*Display, error) {
	if o.Columns < 79 {
		o.Columns = 79
	}
	d := &Display{screen: &screen{o: o, seen: map[[sha256.Size]byte]bool{}}, audience: &audience{}}
	if o.Palette == nil {
		o.Palette = DefaultPalette()
	}
	codes, err := o.Palette.codes()
	if err != nil {
		return nil, err
	}
	if o.Colored {
		d.codes = codes
	}
	return d, nil
}

// ForViews returns the same screen for the views of a run, whom nobody listens to.
func (d *Display) ForViews() *Display { return &Display{screen: d.screen} }

// Verbosity returns the number of -v.
func (d *Display) Verbosity() int { return d.o.Verbosity }

// Hidden returns the texts that nobody may see, see DisplayOptions.
func (d *Display) Hidden() *mask.Masker { return d.o.Hidden }

// Columns returns the width of the screen.
func (d *Display) Columns() int { return d.o.Columns }

// Print prints a message and a line end on stdout.
func (d *Display) Print(c Color, text string) {
	d.tell(func(l Listener) { l.Print(c, text) })
	d.show(message{text: text, color: c})
}

// PrintErr prints a message and a line end on stderr.
func (d *Display) PrintErr(c Color, text string) {
	d.tell(func(l Listener) { l.PrintErr(c, text) })
	d.show(message{text: text, color: c, stderr: true})
}

// Raw prints text on stdout as it is: questions, and what answers them.
func (d *Display) Raw(text string) {
	d.tell(func(l Listener) { l.Raw(text) })
	d.mu.Lock()
	defer d.mu.Unlock()
	_, _ = io.WriteString(d.o.Out, d.o.Hidden.Text(text))
}

// Banner prints an empty line and the text with stars up to the width of the screen.
func (d *Display) Banner(text string) {
	d.tell(func(l Listener) { l.Banner(text) })
	text = strings.TrimSpace(text)
	stars := max(3, d.o.Columns-textWidth(text))
	d.show(message{text: "\n" + text + " " + strings.Repeat("*", stars)})
}

// Paint colours text, if there are colours.
func (d *Display) Paint(c Color, text string) string {
	if code, ok := d.codes[c]; ok {
		return paint(text, code)
	}
	return text
}

// message is one text with where it goes.
type message struct {
	text   string
	color  Color
	stderr bool
	// rank is that of the message in a log, "" for INFO.
	rank string
	// screenOnly and logOnly leave the log or the screen out.
	screenOnly, logOnly bool
}

func (d *Display) show(m message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.showLocked(m)
}

// showLocked needs mu.
func (d *Display) showLocked(m message) {
	if d.o.Tagged {
		m.text = strings.ReplaceAll(m.text, "\r\n", "\n")
	}
	m.text = value.Readable(d.o.Hidden.Text(m.text))
	if !m.logOnly {
		out := d.o.Out
		if m.stderr {
			out = d.o.Err
		}
		// A line end that the text brings stays outside the colours.
		text := d.Paint(m.color, strings.TrimSuffix(m.text, "\n")) + "\n"
		d.eraseStatus()
		_, _ = io.WriteString(out, text)
		d.drawStatus()
	}
	if d.o.Log != nil && !m.screenOnly {
		d.o.Log(cmp.Or(m.rank, "INFO"), strings.TrimLeft(m.text, "\n"))
	}
}

// once prints a message unless its like was printed before.
func (d *Display) once(key string, m message) {
	sum := sha256.Sum256([]byte(key)) // hosts may warn at any length
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[sum] {
		return
	}
	d.seen[sum] = true
	d.showLocked(m)
}

// Status shows a line under everything else until it is replaced; "" takes it away. Without a
// terminal it does nothing.
func (d *Display) Status(text string) {
	if !d.o.StatusLine {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eraseStatus()
	d.status = cut(d.o.Hidden.Text(text), d.o.Columns)
	d.drawStatus()
}

// Lend leaves the screen to somebody else while f runs. Messages are printed all the same.
func (d *Display) Lend(f func()) {
	lend := func(lent bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.eraseStatus()
		d.lent = lent
		d.drawStatus()
	}
	lend(true)
	f()
	lend(false)
}

// eraseStatus needs mu.
func (d *Display) eraseStatus() {
	if d.status != "" && !d.lent {
		_, _ = io.WriteString(d.o.Err, "\r\x1b[K")
	}
}

// drawStatus needs mu.
func (d *Display) drawStatus() {
	if d.status != "" && !d.lent {
		_, _ = io.WriteString(d.o.Err, d.status)
	}
}

// OneLine is text without line ends and other control characters: what hosts and agents say must not become lines of
// its own.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
}

// cut is as much of text as fits into a line of the terminal. Names of tasks may hold line ends and worse.
func cut(text string, columns int) string {
	const widest = 8 // bytes for a column, marks and all
	if most := widest * columns; len(text) > most {
		text = text[:most]
	}
	text = OneLine(text)
	n := 0
	for i, r := range text {
		if n += textWidth(string(r)); n > columns {
			return text[:i]
		}
	}
	return text
}

// textWidth returns the number of columns that text takes on a terminal.
func textWidth(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}
