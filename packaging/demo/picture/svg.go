package main

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"time"
)

// The measures of the picture in pixels.
const (
	letterWidth = 8
	lineHeight  = 18
	border      = 16
)

// colors are those of Ansible's screens, by the numbers of SGR.
func colors() map[string]string {
	return map[string]string{
		"0;31": "#f47067", "0;32": "#6bc46d", "0;33": "#daaa3f", "0;34": "#6cb6ff", "0;35": "#dcbdfb", "0;36": "#39c5cf",
		"1;30": "#768390", "1;31": "#ff938a", "1;35": "#dcbdfb", "1": "#ffffff",
	}
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// write makes the picture. Lines appear when they came, and the screen moves up when it is full. Where somebody wants
// no motion, the last screen is shown.
func (s *screen) write(w io.Writer) error {
	end := s.now + 4*time.Second
	width, height := s.columns*letterWidth+2*border, s.rows*lineHeight+2*border
	var b strings.Builder
	fmt.Fprintf(&b,
		"<!-- Made by: make picture -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "+
			"aria-label=\"hark plays a playbook on three hosts\">\n", width, height)
	b.WriteString("<style>\ntext{font:13.3px ui-monospace,Menlo,Consolas,monospace;fill:#adbac7;white-space:pre}\n")
	fmt.Fprintf(&b,
		".l{opacity:0;animation:show 1ms forwards}\n@keyframes show{to{opacity:1}}\n"+
			".s{animation:up %.2fs step-end forwards}\n@keyframes up{%s}\n", end.Seconds(), s.moves(end))
	b.WriteString(
		"@media (prefers-reduced-motion:reduce){.l{opacity:1;animation:none}.s{animation-duration:1ms}}\n</style>\n")
	fmt.Fprintf(&b,
		"<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#1c2128\"/>\n"+
			"<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><g class=\"s\">\n",
		width, height, border, border, s.columns*letterWidth, s.rows*lineHeight)
	for i, l := range s.lines {
		if text := s.spans(l.text); text != "" {
			fmt.Fprintf(&b, "<text class=\"l\" y=\"%d\" style=\"animation-delay:%.2fs\">%s</text>\n", (i+1)*lineHeight-5,
				l.at.Seconds(), text)
		}
	}
	b.WriteString("</g></svg>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// moves are the steps by which the screen goes up.
func (s *screen) moves(end time.Duration) string {
	var b strings.Builder
	for i, l := range s.lines {
		if over := i + 1 - s.rows; over > 0 {
			fmt.Fprintf(&b, "%.2f%%{transform:translateY(%dpx)}", 100*float64(l.at)/float64(end), -over*lineHeight)
		}
	}
	if over := len(s.lines) - s.rows; over > 0 {
		fmt.Fprintf(&b, "to{transform:translateY(%dpx)}", -over*lineHeight)
	}
	return b.String()
}

// spans are a line with its colours, cut to the width of the screen.
func (s *screen) spans(text string) string {
	text = strings.TrimRight(text, "\r\n ")
	var b strings.Builder
	color, left := "", s.columns
	put := func(part string) {
		letters := []rune(strings.ReplaceAll(part, "\t", "        "))
		if len(letters) > left {
			letters = letters[:left]
		}
		left -= len(letters)
		if len(letters) == 0 {
			return
		}
		if color == "" {
			b.WriteString("<tspan>" + html.EscapeString(string(letters)) + "</tspan>")
			return
		}
		fmt.Fprintf(&b, "<tspan fill=%q>%s</tspan>", color, html.EscapeString(string(letters)))
	}
	for {
		at := sgr.FindStringSubmatchIndex(text)
		if at == nil {
			put(text)
			return b.String()
		}
		put(text[:at[0]])
		color = colors()[text[at[2]:at[3]]]
		text = text[at[1]:]
	}
}
