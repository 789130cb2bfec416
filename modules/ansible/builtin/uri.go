package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
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

type uriArgs struct {
	httpx.Args
	User          *string           `arg:"url_username,alias=user" doc:"For authentication."`
	Password      *string           `arg:"url_password,alias=password,nolog" doc:"For authentication."`
	Dest          *string           `arg:"dest,type=path" doc:"Where to write the answer."`
	Body          value.Value       `arg:"body" doc:"What to send."`
	BodyFormat    string            `arg:"body_format,default=raw,choices=form-urlencoded|json|raw|form-multipart" doc:"How the body is written."`
	Src           *string           `arg:"src,type=path" doc:"A file to send."`
	Method        string            `arg:"method,default=GET" doc:"The request's method."`
	ReturnContent bool              `arg:"return_content,default=no" doc:"Return the answer's body."`
	Follow        string            `arg:"follow_redirects,default=safe,choices=all|no|none|safe|urllib2|yes" doc:"Which redirects to follow."`
	Creates       *string           `arg:"creates,type=path" doc:"Do nothing if this exists."`
	Removes       *string           `arg:"removes,type=path" doc:"Do nothing unless this exists."`
	StatusCode    []int             `arg:"status_code,default=200" doc:"Codes that are a success."`
	Timeout       int               `arg:"timeout,default=30" doc:"Seconds to wait for an answer."`
	Headers       map[string]string `arg:"headers,default=" doc:"Headers to send."`
	Socket        *string           `arg:"unix_socket,type=path" doc:"A socket to speak through."`
	RemoteSrc     bool              `arg:"remote_src,default=no" doc:"src is on the host, not on the controller."`
	CAPath        *string           `arg:"ca_path,type=path" doc:"Certificates to trust."`
	fsx.FileArgs
	// Digest and Size are of src if that lies on the controller.
	Digest *string `arg:"hark_digest,hidden"`
	Size   int64   `arg:"hark_size,hidden"`
}

// URI is ansible.builtin.uri.
var URI = modules.Define("ansible.builtin.uri", "Speaks to web services", runURI,
	modules.Is(modules.ReadsInCheck), modules.WithResolve(resolveURI), modules.Is(modules.ReadsBodies),
	modules.From(dialect.OptionsGone222, func(s *modules.Spec) {
		s.Param("follow_redirects").Choices = []string{"all", "none", "safe", "urllib2"}
	}),
	modules.With(func(m *modules.Module) {
		m.NoCheck, m.ReportsAs = true, "ansible.legacy.uri"
	}),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"body", "src"}}}),
	modules.Documented(`- ansible.builtin.uri: {url: https://api.example.org/v1/things, method: POST, body_format: json, body: {name: a}, status_code: [200, 201]}
  register: answer
- ansible.builtin.debug: {var: answer.json}
`,
		modules.Return{Name: "status", Type: "int", When: "always", Doc: "The code of the answer, -1 if there was none."},
		modules.Return{Name: "url", Type: "str", When: "always", Doc: "The address that answered, after redirects."},
		modules.Return{Name: "redirected", Type: "bool", When: "always", Doc: "Whether that is another one."},
		modules.Return{Name: "content", Type: "str", When: "return_content", Doc: "The answer."},
		modules.Return{Name: "json", Type: "raw", When: "the answer is JSON", Doc: "The answer."},
		modules.Return{Name: "cookies", Type: "dict", When: "there was an answer", Doc: "Cookies by name."},
		modules.Return{Name: "elapsed", Type: "int", When: "always", Doc: "Seconds."},
	), modules.Programs("unix_socket"))

// resolveURI writes a body as JSON in the order of the playbook, and replaces a src that lies on the controller by
// its text.
func resolveURI(ctx context.Context, env *modules.Env, args *value.Dict) error {
	format := args.Text("body_format")
	switch body := modules.Argument(args, "body").(type) {
	case *value.Dict, *value.List:
		if format == "json" {
			args.Put("body", modules.PyJSON(body))
		}
	}
	if modules.LenientBool(modules.Argument(args, "remote_src"), false) {
		return nil
	}
	if src, ok := value.Text(modules.Argument(args, "src")); ok {
		found, err := sourceFile(ctx, env, src)
		if err != nil {
			return err
		}
		args.Put("hark_digest", found.Digest)
		args.Put("hark_size", found.Size)
		return nil
	}
	if fields, ok := modules.Argument(args, "body").(*value.Dict); ok && format == "form-multipart" {
		return resolveFiles(ctx, env, fields)
	}
	return nil
}

// resolveFiles finds the files of a form's fields.
func resolveFiles(ctx context.Context, env *modules.Env, fields *value.Dict) error {
	for i := range fields.Len() {
		_, v := fields.At(i)
		field, _ := v.(*value.Dict)
		file := field.Text("filename")
		if file == "" || field.Text("content") != "" {
			continue
		}
		found, err := sourceFile(ctx, env, file)
		if err != nil {
			return err
		}
		field.Put(digestField, found.Digest)
	}
	return nil
}

// sourceFile finds a file on the controller.
func sourceFile(ctx context.Context, env *modules.Env, name string) (*modules.Source, error) {
	found, err := env.Source(ctx, "files", name, true)
	switch {
	case err != nil:
		return nil, notFound(err)
	case found.Dir:
		return nil, fmt.Errorf("cannot send %s: it is a directory", found.Path)
	}
	return found, nil
}

// maxAnswer is the most that is held in memory of a body.
const maxAnswer = 64 << 20

var upperWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]+$`) })

func runURI(ctx context.Context, env *modules.Env, a uriArgs) (modules.Result, error) {
	a.Method = strings.ToUpper(a.Method)
	if !upperWord().MatchString(a.Method) {
		return modules.Fail("Parameter 'method' needs to be a single word in uppercase, like GET or POST.")
	}
	if a.Creates != nil && fsx.Exists(*a.Creates) {
		return skipped("skipped, since '%s' exists", *a.Creates)
	}
	if a.Removes != nil && !fsx.Exists(*a.Removes) {
		return skipped("skipped, since '%s' does not exist", *a.Removes)
	}
	r, err := a.request(ctx, env)
	var unsent *unsentError
	if errors.As(err, &unsent) {
		return a.result(&httpx.Response{Status: -1, Msg: unsent.Error(), URL: a.URL})
	}
	if err != nil {
		return modules.Result{}, err
	}
	if c, ok := r.Body.(io.Closer); ok {
		defer c.Close()
	}
	rsp, err := r.Send(ctx, env)
	if err != nil {
		return modules.Result{}, err
	}
	return a.result(rsp)
}

func skipped(format string, a ...any) (modules.Result, error) {
	return modules.Result{Data: value.DictOf("stdout", fmt.Sprintf(format, a...))}, nil
}

// request makes the request that the arguments describe.
func (a *uriArgs) request(ctx context.Context, env *modules.Env) (httpx.Request, error) {
	r := httpx.Request{Args: a.Args, Method: a.Method, Headers: a.Headers, Timeout: time.Duration(a.Timeout) * time.Second}
	r.Force = false // Ansible does not heed it here
	r.Follow = map[string]string{"yes": "all", "none": "no"}[a.Follow]
	if r.Follow == "" {
		r.Follow = a.Follow
	}
	for to, from := range map[*string]*string{&r.User: a.User, &r.Password: a.Password, &r.Socket: a.Socket,
		&r.CAPath: a.CAPath} {
		if from != nil {
			*to = *from
		}
	}
	r.HasPassword = a.Password != nil
	if a.Dest != nil && fsx.IsFile(*a.Dest) {
		if info, err := os.Stat(*a.Dest); err == nil {
			r.Since = info.ModTime()
		}
	}
	if a.Src != nil {
		return r, a.sendFile(ctx, env, &r)
	}
	text, kind, err := a.encode(ctx, env)
	if err != nil {
		return r, err
	}
	if kind != "" && !hasHeader(r.Headers, "content-type") {
		r.Headers["Content-Type"] = kind
	}
	if text != nil {
		r.Body = bytes.NewReader(text)
	}
	return r, nil
}

// sendFile makes a file the body, which is not held in memory.
func (a *uriArgs) sendFile(ctx context.Context, env *modules.Env, r *httpx.Request) error {
	if a.Digest != nil {
		body, err := env.Open(ctx, *a.Digest)
		r.Body, r.Size = body, a.Size
		return err
	}
	f, err := os.Open(*a.Src)
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			r.Body, r.Size = f, info.Size()
			return nil
		}
		f.Close()
	}
	return &modules.Ended{Result: modules.Result{Failed: true, Msg: "Unable to open source file " + *a.Src,
		Data: value.DictOf("elapsed", 0)}}
}

func hasHeader(headers map[string]string, name string) bool {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

// encode writes the body in its format and returns the content type that goes with it.
func (a *uriArgs) encode(ctx context.Context, env *modules.Env) (text []byte, kind string, err error) {
	plain, isText := value.Text(a.Body)
	switch a.BodyFormat {
	case "json":
		if isText {
			return []byte(plain), "application/json", nil
		}
		return []byte(modules.PyJSON(a.Body)), "application/json", nil
	case "form-urlencoded":
		if !isText {
			if plain, err = urlEncoded(a.Body); err != nil {
				return nil, "", err
			}
		}
		return []byte(plain), "application/x-www-form-urlencoded", nil
	case "form-multipart":
		return multipartBody(ctx, env, a.Body)
	}
	if a.Body == nil {
		return nil, "", nil
	}
	if isText {
		return []byte(plain), "", nil
	}
	return nil, "", a.unsendable()
}

// unsendable says of a body that is no text what Python's http.client says when it is to send it.
func (a *uriArgs) unsendable() error {
	why := "message_body should be a bytes-like object or an iterable, got " + modules.TypeName(a.Body)
	switch body := a.Body.(type) {
	case *value.Dict:
		why = "can't concat str to bytes"
	case *value.List:
		if len(body.Items) > 0 {
			why = "can't concat str to bytes"
			if _, isText := value.Text(body.Items[0]); !isText {
				why = fmt.Sprintf("object of type '%s' has no len()", modules.ClassName(body.Items[0]))
			}
		}
	}
	return &unsentError{"An unknown error occurred: " + why}
}

// unsentError is a request that cannot be sent, which is the result of the module.
type unsentError struct{ string }

func (e *unsentError) Error() string { return e.string }

// urlEncoded writes a mapping, or a list of pairs; a value that is a list gives its key several times.
func urlEncoded(body value.Value) (string, error) {
	var pairs [][2]value.Value
	switch body := body.(type) {
	case *value.Dict:
		for i := range body.Len() {
			k, v := body.At(i)
			pairs = append(pairs, [2]value.Value{k, v})
		}
	case *value.List:
		for _, item := range body.Items {
			pair, ok := value.Items(item)
			if text, isText := value.Text(item); isText { // Python takes a text of two letters apart
				pair, ok = nil, true
				for _, letter := range text {
					pair = append(pair, value.UnsafeStr(string(letter)))
				}
			}
			if !ok || len(pair) != 2 {
				return "", &modules.Ended{Result: modules.Result{
					Failed: true, Msg: "failed to parse body as form_urlencoded: too many values to unpack (expected 2)",
					Data: value.DictOf("elapsed", 0),
				}}
			}
			pairs = append(pairs, [2]value.Value{pair[0], pair[1]})
		}
	}
	var words []string
	for _, pair := range pairs {
		values, ok := value.Items(pair[1])
		if keyed, isDict := pair[1].(*value.Dict); isDict { // Python goes through its keys
			values, ok = nil, true
			for i := range keyed.Len() {
				k, _ := keyed.At(i)
				values = append(values, k)
			}
		}
		if !ok {
			values = []value.Value{pair[1]}
		}
		for _, v := range values {
			if !value.IsNone(v) {
				words = append(words, url.QueryEscape(modules.Str(pair[0]))+"="+url.QueryEscape(modules.Str(v)))
			}
		}
	}
	return strings.Join(words, "&"), nil
}
