package facts

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"hark/modules/internal/fsx"
)

// Memory keeps what slow tools answered, for as long as what the answer depends on stays as it is.
type Memory struct {
	mu      sync.Mutex
	answers map[string]answer // guarded by mu
}

type answer struct {
	stamp string
	value any
}

// NewMemory returns a memory that knows nothing yet.
func NewMemory() *Memory { return &Memory{answers: map[string]answer{}} }

// recall returns the value remembered under key with this stamp, or learns it. What is not certain is not kept.
func (m *Memory) recall(key, stamp string, learn func() (v any, certain bool)) any {
	m.mu.Lock()
	known, ok := m.answers[key]
	m.mu.Unlock()
	if ok && known.stamp == stamp {
		return known.value
	}
	v, certain := learn()
	if certain {
		m.mu.Lock()
		m.answers[key] = answer{stamp, v}
		m.mu.Unlock()
	}
	return v
}

// stampOf is another text when one of the files is.
func stampOf(files ...string) string {
	var stamp strings.Builder
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			stamp.WriteString(f + " " + info.ModTime().String() + "\n")
		}
	}
	return stamp.String()
}

// toolAnswer is what a tool printed; ok is false if there is no such tool or it failed.
type toolAnswer struct {
	text string
	ok   bool
}

// runKnown is run for a tool that has the same answer as long as stamp and the tool stay the same.
func (p *probe) runKnown(stamp, tool string, args ...string) (string, bool) {
	path := p.env.LookPath(tool)
	if path == "" {
		return "", false
	}
	key := strings.Join(append([]string{path}, args...), " ")
	found := p.known.recall(key, stampOf(path)+stamp, func() (any, bool) {
		return p.ask(path, args)
	}).(toolAnswer)
	return found.text, found.ok
}

// udevNotes is where udev writes down what it knows of each device, if it runs.
const udevNotes = "/run/udev/data"

// runBlock is runKnown for a tool that describes block devices. Whatever changes one makes udev write it down. Without
// udev, as in containers, a tool has nothing to look into where there is not even a device file; otherwise nothing is
// known for long.
func (p *probe) runBlock(tool string, args ...string) (string, bool) {
	stamp := content("/proc/partitions")
	switch {
	case fsx.Exists(udevNotes):
		stamp += stampOf(udevNotes, "/dev/mapper", "/etc/lvm/backup", "/etc/lvm/archive")
	case blockFiles():
		return p.run(tool, args...)
	}
	return p.runKnown(stamp, tool, args...)
}

// blockFiles reports whether there are device files of block devices.
func blockFiles() bool {
	list, err := os.ReadDir("/dev")
	if err != nil {
		return true
	}
	return slices.ContainsFunc(list,
		func(e fs.DirEntry) bool { return e.Type()&fs.ModeDevice != 0 && e.Type()&fs.ModeCharDevice == 0 })
}

// together runs functions at once and waits for them.
func together(fs ...func()) {
	var all sync.WaitGroup
	for _, f := range fs {
		all.Go(f)
	}
	all.Wait()
}

// capabilityLines returns the sets of capabilities that this process has, as the kernel writes them.
func capabilityLines() string {
	var sets strings.Builder
	for _, line := range lines("/proc/self/status") {
		if strings.HasPrefix(line, "Cap") {
			sets.WriteString(line + "\n")
		}
	}
	return sets.String()
}

// pciDevices is another text when the devices on the PCI bus are.
func pciDevices() string {
	const dir = "/sys/bus/pci/devices/"
	var list strings.Builder
	for _, name := range entries(dir) {
		list.WriteString(name + " " + content(dir+name+"/modalias") + "\n")
	}
	return list.String()
}
