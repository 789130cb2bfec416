package view

// DiffText returns the difference of a result, without colours and with three lines around each change; ""
// if it has none.
func DiffText(r Result) string {
	diff, ok := prepare(r).res.Get("diff")
	if !ok {
		return ""
	}
	const around = 3
	return differ{d: &Display{screen: &screen{}}, context: around,
		mapping: dumper{indent: usualIndent}.diffText}.text(diff)
}
