package builtin

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
)

// multipartBody writes a mapping of fields as multipart/form-data. A field is text, or a mapping with
// filename, content and mime_type.
func multipartBody(ctx context.Context, env *modules.Env, body value.Value) (text []byte, kind string, err error) {
	fields, ok := body.(*value.Dict)
	if !ok {
		return nil, "", multipartError("Mapping is required, cannot be type %s", modules.ClassName(body))
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := range fields.Len() {
		name, field := fields.At(i)
		if err := writeField(ctx, env, w, modules.Str(name), field); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

// quoted returns a parameter of a header. There are servers that read none without quotes.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "%0D", "\n", "%0A").Replace(s) + `"`
}

// digestField is the key of a field's file that lies on the controller.
const digestField = "hark_digest"

// fieldFile reads the file of a field.
func fieldFile(ctx context.Context, env *modules.Env, spec *value.Dict, name string) ([]byte, error) {
	digest := spec.Text(digestField)
	if digest == "" {
		return os.ReadFile(name)
	}
	r, err := env.Open(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = fmt.Errorf("%s has more than %d bytes", name, maxAnswer)
	}
	return raw, err
}

func multipartError(format string, a ...any) error {
	return &modules.Ended{Result: modules.Result{Failed: true,
		Msg: "failed to parse body as form-multipart: " + fmt.Sprintf(format, a...)}}
}

func writeField(ctx context.Context, env *modules.Env, w *multipart.Writer, name string, field value.Value) error {
	spec, ok := field.(*value.Dict)
	if !ok {
		text, isText := value.Text(field)
		if !isText {
			return multipartError("value must be a string, or mapping, cannot be type %s", modules.ClassName(field))
		}
		spec = value.DictOf("content", text)
	}
	file := spec.Text("filename")
	content, given := value.Text(modules.Argument(spec, "content"))
	if file == "" && !given {
		return multipartError("at least one of filename or content must be provided")
	}
	text := []byte(content)
	if !given {
		var err error
		if text, err = fieldFile(ctx, env, spec, file); err != nil {
			return multipartError("%v", err)
		}
	}
	header := textproto.MIMEHeader{}
	disposition := "form-data; name=" + quoted(name)
	if file != "" {
		disposition += "; filename=" + quoted(filepath.Base(file))
	}
	header.Set("Content-Disposition", disposition)
	kind := spec.Text("mime_type")
	if kind == "" && file != "" {
		if kind, _, _ = strings.Cut(mime.TypeByExtension(filepath.Ext(file)), ";"); kind == "" {
			kind = "application/octet-stream"
		}
	}
	if kind == "" {
		kind = "text/plain"
	}
	header.Set("Content-Type", kind)
	if file != "" && !given {
		header.Set("Content-Transfer-Encoding", "base64")
		text = []byte(base64.StdEncoding.EncodeToString(text))
	}
	part, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	return err
}
