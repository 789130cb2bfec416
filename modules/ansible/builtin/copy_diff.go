package builtin

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/py/value"
)

// maxDiff is Ansible's max_diff_size: content of larger files is not shown.
const maxDiff = 104448

// diff returns the diff of a file that is to be replaced, as Ansible's actions make it.
func (it *copyItem) diff(ctx context.Context, dest string) (*value.Dict, error) {
	d := value.NewDict()
	st, err := fsx.Stat(dest, true)
	switch {
	case err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG: // to open a pipe is to wait for somebody
		d.Put("before", "")
	case looksBinary(dest):
		d.Put("dst_binary", int64(1))
	case st.Size > maxDiff:
		d.Put("dst_larger", int64(maxDiff))
	default:
		raw, err := hostfs.ReadFile(dest)
		if err == nil {
			d.Put("before_header", dest)
			d.Put("before", modules.Printed(raw))
		}
	}
	if it.size > maxDiff {
		d.Put("src_larger", int64(maxDiff))
		return d, nil
	}
	r, err := it.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if strings.IndexByte(string(raw), 0) >= 0 {
		d.Put("src_binary", int64(1))
	} else {
		d.Put("after_header", it.label)
		d.Put("after", modules.Printed(raw))
	}
	return d, nil
}

// localTemp returns the name that Ansible's diff would show for a text: it writes it to a temporary file first.
func localTemp(env *modules.Env, base string) string {
	name := fmt.Sprintf("%s/.ansible/tmp/ansible-local-%d%s/tmp%s", env.Getenv("HOME"), os.Getpid(), randomWord(),
		randomWord())
	if base != "" {
		name += "/" + base
	}
	return name
}
