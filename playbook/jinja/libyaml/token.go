package libyaml

type tokenKind int

const (
	streamStart tokenKind = iota
	streamEnd
	versionDirective
	tagDirective
	documentStart
	documentEnd
	blockSequenceStart
	blockMappingStart
	blockEnd
	flowSequenceStart
	flowSequenceEnd
	flowMappingStart
	flowMappingEnd
	blockEntry
	flowEntry
	keyToken
	valueToken
	aliasToken
	anchorToken
	tagToken
	scalarToken
)

// token is a piece of the grammar.
type token struct {
	kind       tokenKind
	start, end Mark
	// text is the text of a scalar, the name of an anchor or alias, or the handle of a tag.
	text string
	// suffix is the rest of a tag, or the prefix that a directive gives to a handle.
	suffix string
	// plain is a scalar without quotes.
	plain bool
	// major and minor are a version.
	major, minor int
}

// simpleKey is a place where a key without a question mark may have begun: a colon behind it makes it one.
type simpleKey struct {
	possible bool
	// required is one that can be nothing else, as it stands at the indentation of a block.
	required bool
	number   int // of its token
	at       int // in the text
	mark     Mark
}
