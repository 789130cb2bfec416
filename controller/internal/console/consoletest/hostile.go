package consoletest

import "strings"

// LongLine is how many bytes the longest of the hostile outputs has.
const LongLine = 10 << 20

// Hostile returns outputs with which a host might try to make a page run or hide something, or break its layout. The
// last one is LongLine bytes long.
func Hostile() []string {
	const run = "window.hacked=1"
	return []string{
		// markup
		"<script>" + run + "</script>", "</code></pre></div><img src=x onerror=" + run + ">", "<svg onload=" + run + ">",
		"<iframe srcdoc='<script>parent." + run + "</script>'></iframe>",
		"\"' onclick=" + run + " x='", "<a href=\"javascript:" + run + "\">click</a>", "javascript:" + run,
		"<style>*{display:none}</style>", "<link rel=stylesheet href=//evil.example/x.css>",
		"<base href=//evil.example/>", "<meta http-equiv=refresh content='0;url=//evil.example'>",
		"<form action=//evil.example><button>ok</button></form>", "</title><script>" + run + "</script>",
		"</template><script>" + run + "</script>", "<!--", "--><script>" + run + "</script>", "<![CDATA[<script>" + run +
			"</script>]]>", "&lt;script&gt;" + run + "&lt;/script&gt;",
		"<scr\x00ipt>" + run + "</scr\x00ipt>", "<details open ontoggle=" + run + ">", "{{.Body}}{{template \"layout\"}}",
		"${" + run + "}`", "<plaintext>", "<textarea>", "<math><mtext><table><mglyph><style><img src=x onerror=" + run + ">",
		// events of a live connection
		"\n\nevent: over\ndata: {}\n\n", "data: [{\"id\":\"summary\",\"html\":\"<b>\"}]\r\n\r\n",
		// terminals
		"\x1b]0;title\x07\x1b[2J\x1b[8mhidden", "\x1b[31mred\x1b[0m \x1b[1;42mgreen", "\x1b[38;2;255;0;0m" +
			strings.Repeat("\x1b[1m", 500) + "bold", "\x1b]8;;javascript:" + run + "\x07link\x1b]8;;\x07",
		"\x9b31mC1", "back\b\b\b\bspace\rover", "\x1b[", "bell\a nul\x00 del\x7f",
		// the order and the width of writing
		"\u202eevil\u2066", "\u2067\u061c\u200f right to left", strings.Repeat("e\u0301\u0323", 2000),
		"zero\u200bwidth\ufeff\u2028line\u2029paragraph", "broken \xff\xfe\xc0\xaf utf-8 \xed\xa0\x80",
		strings.Repeat("W", 5000), strings.Repeat("long ", LongLine/5),
	}
}
