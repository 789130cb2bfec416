package result

import (
	"fmt"
	"strings"

	"hark/modules/py/value"
)

// Shorten is a result of which no output, that of a loop's items included, has more than keep bytes. It says what was left out; a result that
// loses nothing comes back as it is.
func Shorten(res *value.Dict, keep int) *value.Dict {
	out, left := shorten(res, keep)
	if left == 0 {
		return res
	}
	warnings := value.NewList()
	if v, ok := res.Get("warnings"); ok {
		if l, ok := v.(*value.List); ok {
			warnings.Items = append(warnings.Items, l.Items...)
		}
	}
	text := fmt.Sprintf("the output was too large to be sent to the controller: %d bytes at the end were left out", left)
	warnings.Items = append(warnings.Items, value.UnsafeStr(text))
	out.Set("warnings", warnings)
	return out
}

func shorten(res *value.Dict, keep int) (out *value.Dict, left int) {
	out = res.Copy()
	for _, stream := range []string{"stdout", "stderr"} {
		v, _ := res.Get(stream)
		text, ok := value.Text(v)
		if !ok || len(text) <= keep {
			continue
		}
		left += len(text) - keep
		short := value.UnsafeStr(strings.Clone(strings.ToValidUTF8(text[:keep], "")))
		out.Set(stream, short)
		if _, ok := res.Get(stream + "_lines"); ok {
			out.Set(stream+"_lines", value.NewLines(short))
		}
	}
	items := itemsOf(res)
	if items == nil {
		return out, left
	}
	l := value.NewList()
	for _, item := range items {
		if d, ok := item.(*value.Dict); ok {
			short, n := shorten(d, keep)
			item, left = short, left+n
		}
		l.Items = append(l.Items, item)
	}
	out.Set("results", l)
	return out, left
}
