package modules

import (
	"fmt"
	"strings"

	"hark/modules/py/value"
)

// Operands names arguments whose values become words in the command lines of programs. None may begin with a dash: the
// program would take it for an option, and options of many programs run commands.
func Operands(names ...string) Option { return func(m *Module) { m.Operands = names } }

// checkOperands returns an error for an operand that would be an option.
func (m *Module) checkOperands(args *value.Dict) error {
	for _, name := range m.Operands {
		for _, text := range textsOf(Argument(args, name)) {
			if strings.HasPrefix(text, "-") {
				return fmt.Errorf("the value of %s begins with a dash, so that a program would take it for an option: %s", name,
					text)
			}
		}
	}
	return nil
}

// textsOf returns the texts of a value: of a text, a list or a mapping.
func textsOf(v value.Value) []string {
	var all []string
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			all = append(all, textsOf(item)...)
		}
	case *value.Dict:
		for i := range v.Len() {
			_, item := v.Kept(i)
			all = append(all, textsOf(item)...)
		}
	default:
		if text, ok := value.Text(v); ok {
			all = append(all, text)
		}
	}
	return all
}
