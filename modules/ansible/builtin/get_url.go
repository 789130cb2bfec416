package builtin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/py/value"
)

type getURLArgs struct {
	httpx.Args
	User     *string           `arg:"url_username,alias=username" doc:"For basic authentication."`
	Password *string           `arg:"url_password,alias=password,nolog" doc:"For basic authentication."`
	Dest     string            `arg:"dest,required,type=path" doc:"Where to put it; a directory keeps the name."`
	Backup   bool              `arg:"backup,default=no" doc:"Keep a copy of what is replaced."`
	Checksum string            `arg:"checksum,default=" doc:"algorithm:digest, or algorithm:URL of a list of digests."`
	Timeout  int               `arg:"timeout,default=10" doc:"Seconds to wait for an answer."`
	Headers  map[string]string `arg:"headers" doc:"Headers to send."`
	TmpDest  *string           `arg:"tmp_dest,type=path" doc:"Must be a directory; the download waits beside its destination."`
	fsx.FileArgs
}

// GetURL is ansible.builtin.get_url.
var GetURL = modules.Define("ansible.builtin.get_url", "Downloads files from HTTP and HTTPS", runGetURL,
	modules.Is(modules.ReadsInCheck),
	modules.Documented(`- ansible.builtin.get_url:
    url: https://example.org/app.tar.gz
    dest: /opt/app.tar.gz
    checksum: sha256:https://example.org/SHA256SUMS
`,
		modules.Return{Name: "dest", Type: "str", When: "always", Doc: "The file."},
		modules.Return{Name: "status_code", Type: "int", When: "it was asked for", Doc: "The answer of the server."},
		modules.Return{Name: "checksum_src", Type: "str", When: "success", Doc: "SHA-1 of what came."},
		modules.Return{Name: "checksum_dest", Type: "str", When: "success", Doc: "SHA-1 of the file before."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
		modules.Return{Name: "elapsed", Type: "int", When: "always", Doc: "Seconds."},
	))

// download is one call of get_url.
type download struct {
	getURLArgs
	ctx       context.Context
	env       *modules.Env
	algorithm string
	digest    string // wanted, "" for none
	data      *value.Dict
}

func runGetURL(ctx context.Context, env *modules.Env, a getURLArgs) (modules.Result, error) {
	d := &download{getURLArgs: a, ctx: ctx, env: env}
	d.data = value.DictOf("checksum_dest", nil, "checksum_src", nil, "dest", a.Dest, "elapsed", 0, "url", a.URL)
	if res, err := d.wantedDigest(); err != nil || res.Failed {
		return res, err
	}
	into := fsx.IsDir(a.Dest)
	var since time.Time
	if info, err := os.Stat(a.Dest); err == nil && !into {
		matches := false
		if d.digest != "" && !a.Force {
			have, err := d.sum(a.Dest, a.Dest)
			if err != nil {
				return modules.Result{}, err
			}
			matches = have == d.digest
			d.Force = !matches
		}
		if matches {
			return d.keep()
		}
		since = info.ModTime()
	}
	return d.fetch(since, into)
}

// sum returns the digest of a file that is or will be at dest.
func (d *download) sum(path, dest string) (string, error) {
	if _, err := fsx.Hash(d.algorithm); err != nil {
		return "", fsx.Failed(fmt.Sprintf("Could not hash file '%s' with algorithm '%s'. Available algorithms: "+
			"md5, sha1, sha224, sha256, sha384, sha512", dest, d.algorithm))
	}
	return fsx.Sum(path, d.algorithm)
}

// keep leaves a file that has the wanted digest and sets its attributes.
func (d *download) keep() (modules.Result, error) {
	changed, err := d.For(d.Dest, true).Apply(d.env.Check, nil)
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Changed: changed, Msg: "file already exists", Data: d.data}
	if changed {
		res.Msg = "file already exists but file attributes changed"
	}
	fsx.AddInfo(d.data)
	return res, nil
}

func (d *download) request(address string) httpx.Request {
	r := httpx.Request{Args: d.Args, Method: "GET", Headers: d.Headers, Timeout: time.Duration(d.Timeout) * time.Second,
		Follow: "safe"}
	r.URL = address
	if d.User != nil {
		r.User = *d.User
	}
	if d.Password != nil {
		r.Password, r.HasPassword = *d.Password, true
	}
	return r
}

func (d *download) fetch(since time.Time, into bool) (modules.Result, error) {
	r := d.request(d.URL)
	r.Since = since
	if d.env.Check {
		r.Method = "HEAD"
	}
	rsp, err := r.Send(d.ctx, d.env)
	if err != nil {
		return modules.Result{}, err
	}
	if rsp.Body != nil {
		defer rsp.Body.Close()
	}
	if res := d.refused(rsp, d.URL); res != nil {
		return *res, nil
	}
	d.data.Put("elapsed", rsp.Elapsed)
	dest := d.Dest
	if into {
		dest = filepath.Join(dest, fileName(rsp))
		d.data.Put("dest", dest)
	}
	return d.store(rsp, dest)
}

// refused returns the result of an answer that is no file, nil for one that is.
func (d *download) refused(rsp *httpx.Response, address string) *modules.Result {
	data := value.DictOf("url", address, "dest", d.Dest, "elapsed", rsp.Elapsed)
	res := &modules.Result{Failed: true, Msg: rsp.Msg, Data: data}
	switch {
	case rsp.Status == 200:
		return nil
	case rsp.Status == -1 && !d.env.Release.Has(dialect.UnmatchedResults):
	case rsp.Status == 304:
		res.Failed = false
		data.Put("status_code", 304)
	default:
		res.Msg = "Request failed"
		if d.env.Release.Has(dialect.UnmatchedResults) {
			res.Msg += " with msg " + rsp.Msg
		}
		data.Put("status_code", rsp.Status)
		data.Put("response", rsp.Msg)
	}
	fsx.AddInfo(data)
	return res
}

// store writes the body beside its place and moves it there when it is complete and right.
func (d *download) store(rsp *httpx.Response, dest string) (modules.Result, error) {
	if d.TmpDest != nil && !fsx.IsDir(*d.TmpDest) {
		why := " directory does not exist."
		if fsx.Exists(*d.TmpDest) {
			why = " is a file but should be a directory."
		}
		return modules.Result{Failed: true, Msg: *d.TmpDest + why, Data: value.DictOf("elapsed", rsp.Elapsed)}, nil
	}
	why := ""
	if dir := filepath.Dir(dest); !fsx.Exists(dir) {
		why = "Destination " + dir + " does not exist"
	} else if fsx.Exists(dest) && !fsx.Writable(dest) {
		why = "Destination " + dest + " is not writable"
	}
	if why != "" || d.env.Check {
		return d.compare(rsp, dest, why)
	}
	staged, err := fsx.Stage(dest, d.UnsafeWrites)
	if err != nil {
		return modules.Result{}, err
	}
	defer staged.Discard()
	sums, err := fsx.CopySums(staged, rsp.Body)
	if err != nil {
		return unfetched(rsp, err), nil
	}
	if err := staged.Close(); err != nil {
		return modules.Result{}, err
	}
	d.data.Put("src", staged.Path)
	d.data.Put("checksum_src", sums.SHA1)
	if fsx.Exists(dest) {
		sum, _ := fsx.Sum(dest, "sha1")
		d.data.Put("checksum_dest", sum)
	}
	if d.digest != "" {
		have, err := d.sum(staged.Path, dest)
		if err != nil {
			return modules.Result{}, err
		}
		if have != d.digest {
			return d.fail("The checksum for %s did not match %s; it was %s.", dest, d.digest, have)
		}
	}
	changed := d.data.Text("checksum_dest") != sums.SHA1
	if changed {
		if err := d.replace(staged, dest); err != nil {
			return modules.Result{}, err
		}
	}
	attrs, err := d.For(dest, true).Apply(false, nil)
	if err != nil {
		return modules.Result{}, err
	}
	d.data.Put("md5sum", sums.MD5)
	d.data.Put("status_code", rsp.Status)
	if strings.HasPrefix(d.URL, "file:") {
		d.data.Put("status_code", nil)
	}
	fsx.AddInfo(d.data)
	return modules.Result{Changed: changed || attrs, Msg: rsp.Msg, Data: d.data}, nil
}

// compare reads the body without keeping it: it has no place, for the reason why, or this is check mode. There it is
// empty, since a server is asked for the head alone, and mostly differs from what there is, as in Ansible.
func (d *download) compare(rsp *httpx.Response, dest, why string) (modules.Result, error) {
	sums, err := fsx.CopySums(io.Discard, rsp.Body)
	if err != nil {
		return unfetched(rsp, err), nil
	}
	d.data.Put("checksum_src", sums.SHA1)
	if why != "" {
		return d.fail("%s", why)
	}
	there := ""
	if fsx.Exists(dest) {
		there, _ = fsx.Sum(dest, "sha1")
		d.data.Put("checksum_dest", there)
	}
	return modules.Result{Changed: there != sums.SHA1, Msg: rsp.Msg, Data: d.data}, nil
}

// unfetched is the result of an answer that ends before its end.
func unfetched(rsp *httpx.Response, err error) modules.Result {
	return modules.Result{Failed: true, Data: value.DictOf("elapsed", rsp.Elapsed),
		Msg: "failed to create temporary content file: " + httpx.ReadError(err)}
}

func (d *download) replace(staged *fsx.Staged, dest string) error {
	if d.Backup && fsx.Exists(dest) {
		name, err := fsx.Backup(dest, time.Now())
		if err != nil {
			return err
		}
		d.data.Put("backup_file", name)
	}
	staged.Narrow(d.Mode)
	return staged.Commit(d.UnsafeWrites)
}

func (d *download) fail(format string, a ...any) (modules.Result, error) {
	res, err := modules.Fail(format, a...)
	res.Data = d.data
	return res, err
}

var (
	attachment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^attachment; ?filename="?([^"]+)`) })
	notWord    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\W+`) })
	hexDigits  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]+$`) })
)

// fileName returns the name that the server gives a file, else that of the URL.
func fileName(rsp *httpx.Response) string {
	if m := attachment().FindStringSubmatch(rsp.Header.Get("Content-Disposition")); m != nil {
		if name := m[1][strings.LastIndexByte(m[1], '/')+1:]; name != "" && name != "." && name != ".." {
			return name
		}
	}
	return urlName(rsp.URL)
}

// urlName is the last part of a URL's path as it is written there: what is encoded stays so.
func urlName(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address = address[:i]
	}
	if name := address[strings.LastIndexByte(address, '/')+1:]; strings.Contains(address, "/") && name != "" {
		return name
	}
	return "index.html"
}

// wantedDigest reads the argument checksum, from its URL if it is one.
func (d *download) wantedDigest() (modules.Result, error) {
	if d.Checksum == "" {
		return modules.Result{}, nil
	}
	algorithm, digest, ok := strings.Cut(d.Checksum, ":")
	if !ok {
		return d.fail("The checksum parameter has to be in format <algorithm>:<checksum>")
	}
	d.algorithm = algorithm
	if u, err := url.Parse(digest); err == nil && strings.Contains("|http|https|ftp|file|", "|"+u.Scheme+"|") &&
		u.Scheme != "" {
		found, err := d.digestFrom(digest)
		var ended *modules.Ended
		if errors.As(err, &ended) {
			return ended.Result, nil
		}
		if err != nil || found == "" {
			return modules.FailOr(err, "Unable to find a checksum for file '%s' in '%s'", urlName(d.URL), digest)
		}
		digest = found
	}
	d.digest = strings.ToLower(notWord().ReplaceAllString(digest, ""))
	if !hexDigits().MatchString(d.digest) {
		return d.fail("The checksum format is invalid")
	}
	return modules.Result{}, nil
}

// digestFrom finds the file's digest in a list such as sha256sum makes; a list of one word is that digest.
func (d *download) digestFrom(address string) (string, error) {
	rsp, err := d.request(address).Send(d.ctx, d.env)
	if err != nil {
		return "", err
	}
	if res := d.refused(rsp, address); res != nil {
		return "", &modules.Ended{Result: *res}
	}
	defer rsp.Body.Close()
	name, first, count := urlName(d.URL), "", 0
	lines := bufio.NewScanner(io.LimitReader(rsp.Body, 64<<20))
	for lines.Scan() {
		count++
		first = strings.TrimSpace(lines.Text())
		digest, file, ok := strings.Cut(lines.Text(), " ")
		if ok && strings.TrimLeft(strings.TrimLeft(file, " *"), "./") == name {
			return digest, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", address, err)
	}
	if count == 1 && !strings.ContainsAny(first, " \t") {
		return first, nil
	}
	return "", nil
}
