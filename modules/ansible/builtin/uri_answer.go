package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/py/value"
)

// result returns what came back. The names of headers become keys.
func (a *uriArgs) result(rsp *httpx.Response) (modules.Result, error) {
	data := value.DictOf("redirected", rsp.URL != a.URL, "url", rsp.URL, "status", rsp.Status, "elapsed", rsp.Elapsed)
	for _, name := range slices.Sorted(maps.Keys(rsp.Header)) {
		data.Put(strings.ReplaceAll(strings.ToLower(name), "-", "_"), strings.Join(rsp.Header[name], ", "))
	}
	if data.Has("location") {
		data.Put("location", absolute(a.URL, data.Text("location")))
	}
	good := slices.Contains(a.StatusCode, rsp.Status)
	if rsp.Status >= 200 && rsp.Status < 300 {
		addCookies(data, rsp)
	}
	res := modules.Result{Msg: rsp.Msg, Data: data}
	asJSON := isJSON(rsp)
	var content []byte
	var err error
	redirect := rsp.Status/100 == 3 && rsp.Status != http.StatusNotModified
	if asJSON || a.ReturnContent || !good || redirect {
		if content, err = rsp.Text(maxAnswer); err != nil {
			return modules.Result{}, err
		}
		if asJSON {
			addJSON(data, content)
		}
		if redirect {
			data.Put("body", string(content))
		}
		if a.ReturnContent {
			data.Put("content", string(content))
		}
	}
	if rsp.Body != nil {
		defer rsp.Body.Close()
	}
	if a.Dest != nil && rsp.Body != nil {
		if res.Changed, err = a.store(rsp, content, good, data); err != nil {
			return modules.Result{}, err
		}
	}
	if !good {
		res.Failed = true
		res.Msg = fmt.Sprintf("Status code was %d and not %s: %s", rsp.Status, modules.Repr(ints(a.StatusCode)), rsp.Msg)
	}
	return res, nil
}

func ints(list []int) []any {
	out := make([]any, 0, len(list))
	for _, n := range list {
		out = append(out, int64(n))
	}
	return out
}

func addCookies(data *value.Dict, rsp *httpx.Response) {
	cookies, words := value.NewDict(), []string{}
	for _, c := range rsp.Cookies {
		value := c.Value
		if c.Quoted {
			value = `"` + value + `"`
		}
		cookies.Put(c.Name, value)
		words = append(words, c.Name+"="+value)
	}
	data.Put("cookies", cookies)
	data.Put("cookies_string", strings.Join(words, "; "))
}

func addJSON(data *value.Dict, content []byte) {
	if v, err := value.ParseJSON(string(content), value.KindUnsafe); err == nil {
		data.Put("json", v)
	}
}

// isJSON goes by the content type: application/json, text/javascript, anything+json.
func isJSON(rsp *httpx.Response) bool {
	kind, _, err := mime.ParseMediaType(rsp.Header.Get("Content-Type"))
	if err != nil {
		return false
	}
	_, sub, _ := strings.Cut(kind, "/")
	if _, suffix, ok := strings.Cut(sub, "+"); ok {
		sub = suffix
	}
	return sub == "json" || sub == "javascript"
}

func absolute(base, location string) string {
	b, err := url.Parse(base)
	if err != nil {
		return location
	}
	u, err := b.Parse(location)
	if err != nil {
		return location
	}
	return u.String()
}

// store writes the answer to dest.
func (a *uriArgs) store(rsp *httpx.Response, content []byte, good bool, data *value.Dict) (bool, error) {
	dest := *a.Dest
	if fsx.IsDir(dest) {
		dest = filepath.Join(dest, fileName(rsp))
	}
	data.Put("path", dest)
	if !good || rsp.Status == 304 {
		fsx.AddInfo(data)
		return false, nil
	}
	var from io.Reader = rsp.Body
	if content != nil {
		from = bytes.NewReader(content)
	}
	staged, err := fsx.Stage(dest, a.UnsafeWrites)
	if err != nil {
		return false, err
	}
	defer staged.Discard()
	if _, err := io.Copy(staged, from); err != nil {
		return false, errors.New("failed to create temporary content file: " + err.Error())
	}
	if err := staged.Close(); err != nil {
		return false, err
	}
	same := false
	if before, err := fsx.Sum(dest, "sha1"); err == nil {
		now, err := fsx.Sum(staged.Path, "sha1")
		same = err == nil && now == before
	}
	if !same {
		staged.Narrow(a.Mode)
		if err := staged.Commit(a.UnsafeWrites); err != nil {
			return false, err
		}
	}
	_, err = a.For(dest, true).Apply(false, nil)
	fsx.AddInfo(data)
	return true, err
}
