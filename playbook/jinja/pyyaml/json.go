package pyyaml

import (
	"strings"

	"hark/modules/py/value"
)

// JSON reads a text as Python's json.loads does, and refuses what its file reader refuses, a byte order mark.
func JSON(text string, kind value.Kind) (value.Value, error) {
	if strings.HasPrefix(text, "\ufeff") {
		return nil, &Error{Problem: "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"}
	}
	return value.ParseJSON(text, kind)
}
