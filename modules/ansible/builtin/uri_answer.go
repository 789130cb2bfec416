package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/httpx"
	"hark/modules/py/codecs"
	"hark/modules/py/value"
)

// result returns what came back. The names of headers become keys.
func (a *uriArgs) result(rsp *httpx.Response) (modules.Result, error) {
	data := value.DictOf("redirected", rsp.URL != a.URL, "url", rsp.URL, "status", rsp.Status, "elapsed", rsp.Elapsed)
	for _, name := range slices.Sorted(maps.Keys(rsp.Header)) {
		key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
		if !slices.Contains([]string{"redirected", "url", "status", "elapsed", "msg"}, key) {
			data.Put(key, strings.Join(rsp.Header[name], ", "))
		}
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
	if asJSON || a.ReturnContent || !good {
		if content, err = rsp.Text(maxAnswer); err != nil {
			return modules.Result{}, errors.New("cannot read the answer: " + httpx.ReadError(err))
		}
		text, err := decoded(rsp, content)
		if err != nil {
			return modules.Result{}, err
		}
		if asJSON {
			addJSON(data, text)
		}
		if a.ReturnContent {
			data.Put("content", text)
		}
	}
	if rsp.Body != nil {
		defer rsp.Body.Close()
	}
	if rsp.Status >= 300 && content == nil {
		// fetch_url reads what an error says, and uri.py takes it out where it looks at the content only
		if content, err = rsp.Text(maxAnswer); err != nil {
			return modules.Result{}, err
		}
		data.Put("body", modules.Printed(content))
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
		if !c.HasValue { // Python has None there
			cookies.Put(c.Name, nil)
			words = append(words, c.Name+"=None")
			continue
		}
		cookies.Put(c.Name, c.Value)
		words = append(words, c.Name+"="+c.Value)
	}
	data.Put("cookies", cookies)
	data.Put("cookies_string", strings.Join(words, "; "))
}

// decoded returns an answer as text, in the charset that it names.
func decoded(rsp *httpx.Response, content []byte) (string, error) {
	_, params, err := mime.ParseMediaType(rsp.Header.Get("Content-Type"))
	if charset := params["charset"]; err == nil && charset != "" {
		return codecs.Decode(content, charset)
	}
	return string(content), nil
}

func addJSON(data *value.Dict, content string) {
	if v, err := value.ParseJSON(content, value.KindUnsafe); err == nil {
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

// absolute returns a Location as absolute_location of uri.py does: it takes the path out of the address as a text.
func absolute(base, location string) string {
	switch {
	case strings.Contains(location, "://"):
		return location
	case !strings.HasPrefix(location, "/"):
		return base[:max(0, strings.LastIndexByte(base, '/'))] + "/" + location
	}
	u, err := url.Parse(base)
	if err != nil || u.EscapedPath() == "" {
		return base + location
	}
	return strings.ReplaceAll(base, u.EscapedPath(), "") + location
}

// answerName returns the name that the server gives a file, whatever it says it is for, else that of the URL.
func answerName(rsp *httpx.Response) string {
	_, params, err := mime.ParseMediaType(rsp.Header.Get("Content-Disposition"))
	if name := filepath.Base(params["filename"]); err == nil && params["filename"] != "" {
		return name
	}
	return urlName(rsp.URL)
}

// store writes the answer to dest.
func (a *uriArgs) store(rsp *httpx.Response, content []byte, good bool, data *value.Dict) (bool, error) {
	dest := *a.Dest
	if fsx.IsDir(dest) {
		dest = filepath.Join(dest, answerName(rsp))
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
		return false, errors.New("Failed to create temporary content file: " + httpx.ReadError(err))
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
