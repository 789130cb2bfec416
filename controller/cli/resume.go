package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/compile"
)

const (
	// resumeFlag is the flag with which hark runs retry --resume has a run go on.
	resumeFlag = "resume"
	// pointPurpose names the key with which a resumePoint is sealed, pointVersion its form.
	pointPurpose = "resume"
	pointVersion = 1
	// mostPoint is how many bytes are kept of a run, mostFiles how many files of its project are compared.
	mostPoint = 64 << 20
	mostFiles = 50000
)

// resumePoint is where a run can go on, with the files that it was made of. It lies beside the run's record, sealed for
// its operator.
type resumePoint struct {
	Version int `json:"version"`
	// Files are the files below Dirs, with their sizes, times and modes.
	Dirs  []string          `json:"dirs,omitempty"`
	Files map[string]string `json:"files,omitempty"`
	Play  *play.Checkpoint  `json:"play"`
}

// cannotResume is the error for a run that cannot go on where it was.
func cannotResume(run, why string) error {
	return ansibleerror.Errorf("run %s cannot be resumed: %s. `hark runs retry %s` plays it from its first task", run, why,
		run)
}

// keepPoint keeps where the run can go on. What fails is why it cannot.
func keepPoint(p *run) {
	if p.point == nil {
		return
	}
	point := resumePoint{Version: pointVersion, Play: p.point}
	if point.Play.Why == "" {
		var err error
		point.Dirs = projectDirs(p)
		if point.Files, err = filesOf(point.Dirs, p.fleet.Home); err == nil {
			err = editedSince(point.Files, p.began)
		}
		if err != nil {
			point = resumePoint{Version: pointVersion, Play: &play.Checkpoint{Why: err.Error()}}
		}
	}
	text, err := json.Marshal(point)
	if err == nil && len(text) > mostPoint {
		text, err = json.Marshal(resumePoint{Version: pointVersion, Play: &play.Checkpoint{
			Why: fmt.Sprintf("what it needs takes more than %d MB", mostPoint>>20)}})
	}
	var operator *wire.Identity
	if err == nil {
		operator, _, err = trust.LoadOrCreate(p.cfg.Text("HARK_OPERATOR_KEY"), p.fleet.Home)
	}
	if err == nil {
		text, err = operator.Shut(pointPurpose, text)
	}
	if err == nil {
		err = runStore(p.app).KeepPoint(p.id, text)
	}
	if err != nil {
		p.display.Verbose(1, "", "cannot keep where the run can go on: "+err.Error())
	}
}

// readPoint returns where a run can go on. The error says why it cannot.
func readPoint(a *app, run string) (*resumePoint, error) {
	sealed, err := runStore(a).Point(run, time.Now())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cannotResume(run, "where its hosts stood is not on record (it is kept for 24 hours, on this machine, "+
			"of playbooks that came to their end, until they are resumed)")
	}
	if err != nil {
		return nil, err
	}
	operator, err := trust.Load(a.cfg.Text("HARK_OPERATOR_KEY"))
	if err != nil {
		return nil, err
	}
	text, err := operator.Reopen(pointPurpose, sealed)
	if err != nil {
		return nil, cannotResume(run, "another operator key has sealed where its hosts stood")
	}
	p := &resumePoint{}
	if err := json.Unmarshal(text, p); err != nil || p.Version != pointVersion || p.Play == nil {
		return nil, cannotResume(run, "another version of hark has written where its hosts stood")
	}
	if p.Play.Why != "" {
		return nil, cannotResume(run, p.Play.Why)
	}
	now, err := filesOf(p.Dirs, a.fleet.Home)
	if err != nil {
		return nil, cannotResume(run, err.Error())
	}
	if what := changedFile(p.Files, now); what != "" {
		return nil, cannotResume(run, what)
	}
	return p, nil
}

// projectDirs are the directories of the playbooks, with those of roles and collections elsewhere.
func projectDirs(p *run) []string {
	var dirs []string
	for _, dir := range slices.Concat(p.bookDirs, p.cfg.List("DEFAULT_ROLES_PATH"), p.cfg.List("COLLECTIONS_PATHS")) {
		inside := func(of string) bool { return dir == of || strings.HasPrefix(dir, of+"/") }
		if st, err := os.Stat(dir); err == nil && st.IsDir() && !slices.ContainsFunc(dirs, inside) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// booksDirs are the directories of playbooks.
func booksDirs(books []*compile.Playbook) []string {
	var dirs []string
	for _, b := range books {
		dirs = append(dirs, filepath.Dir(b.Path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// filesOf returns the files below directories with their sizes, times and modes: without hidden ones, logs, retry files
// and hark's own.
func filesOf(dirs []string, home string) (map[string]string, error) {
	found := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path == home, path != dir && d.IsDir() && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir(), strings.HasPrefix(d.Name(), "."), slices.Contains([]string{".retry", ".log"}, filepath.Ext(path)):
				return nil
			case len(found) >= mostFiles:
				return fmt.Errorf("there are more than %d files below %s", mostFiles, dir)
			}
			info, err := os.Stat(path)
			if err != nil {
				found[path] = "unread" // a link to nothing
				return nil
			}
			found[path] = fmt.Sprintf("%d %d %o", info.Size(), info.ModTime().UnixNano(), info.Mode())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// editedSince returns an error for a file of YAML that was written after a run began: the run may have read another.
func editedSince(found map[string]string, began time.Time) error {
	for _, path := range slices.Sorted(maps.Keys(found)) {
		var size, at int64
		if _, err := fmt.Sscanf(found[path], "%d %d", &size, &at); err == nil && at > began.UnixNano() &&
			slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(path)) {
			return fmt.Errorf("%s was written while it went on", path)
		}
	}
	return nil
}

// changedFile returns the first file that is not what it was, "" if all are.
func changedFile(was, now map[string]string) string {
	for _, path := range slices.Sorted(maps.Keys(was)) {
		switch text, is := now[path]; {
		case !is:
			return path + " is gone"
		case text != was[path]:
			return path + " was changed"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if _, had := was[path]; !had {
			return path + " is new"
		}
	}
	return ""
}

// resume lets a run go on: hark runs retry --resume. A try that was refused stands for the run that it tried.
func (j *runsRetry) resume(ctx context.Context, e *record.Entry) error {
	if e.Foot != nil && e.Foot.Status == record.Broken && e.Head.RetryOf != "" {
		if was, err := runStore(j.app).Find(ctx, e.Head.RetryOf); err == nil {
			return j.resume(ctx, &was)
		}
	}
	if e.Foot == nil {
		return cannotResume(e.Head.Run, "it was lost with its controller, and where its hosts stood is not on record")
	}
	point, err := readPoint(j.app, e.Head.Run)
	if err != nil {
		return err
	}
	args, err := j.again(e, nil)
	if err != nil {
		return err
	}
	if j.dry && j.asJSON {
		return j.term.PrintJSON(map[string]any{"dir": e.Head.Dir, "command": args, "hosts": standing(point.Play)})
	}
	for _, line := range standing(point.Play) {
		j.display.PrintErr(view.NoColor, line)
	}
	if j.dry {
		return nil
	}
	return j.become(e, args, "--"+resumeFlag)
}

// standing says where hosts go on.
func standing(c *play.Checkpoint) []string {
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(c.Batches)) {
		for _, host := range slices.Sorted(maps.Keys(c.Batches[id].Failed)) {
			lines = append(lines, fmt.Sprintf("%s goes on at task [%s]", host, c.Batches[id].Failed[host].Task))
		}
	}
	return lines
}
