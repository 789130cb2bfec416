package versions

import (
	"hark/modules/py/pep440"
	"hark/modules/py/value"
)

// PEP440 takes versions of Python packages.
func PEP440(text string) (value.Value, error) {
	v, ok := pep440.Parse(text)
	if !ok {
		return nil, value.Errorf("InvalidVersion", "Invalid version: '%s'", text)
	}
	return value.Str(v.Key()), nil
}
