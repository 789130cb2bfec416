package network

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"os"
	"path/filepath"

	"hark/modules"
)

// multipartBody writes a mapping of fields as multipart/form-data. A field is text, or a mapping with
// filename, content and mime_type.
func multipartBody(body any) (text []byte, kind string, err error) {
	fields, ok := body.(map[string]any)
	if !ok {
		return nil, "", multipartError("Mapping is required, cannot be type %s", modules.TypeName(body))
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range sortedKeys(fields) {
		if err := writeField(w, name, fields[name]); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func multipartError(format string, a ...any) error {
	return &modules.Ended{Result: modules.Result{Failed: true, Msg: "failed to parse body as form-multipart: " + fmt.Sprintf(format, a...)}}
}

func writeField(w *multipart.Writer, name string, field any) error {
	spec, ok := field.(map[string]any)
	if !ok {
		text, isText := field.(string)
		if !isText {
			return multipartError("value must be a string, or mapping, cannot be type %s", modules.TypeName(field))
		}
		spec = map[string]any{"content": text}
	}
	file, _ := spec["filename"].(string)
	content, given := spec["content"].(string)
	if file == "" && !given {
		return multipartError("at least one of filename or content must be provided")
	}
	text := []byte(content)
	if !given {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return multipartError("%v", err)
		}
	}
	header := textproto.MIMEHeader{}
	disposition := map[string]string{"name": name}
	if file != "" {
		disposition["filename"] = filepath.Base(file)
	}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", disposition))
	kind, _ := spec["mime_type"].(string)
	if kind == "" && file != "" {
		if kind = mime.TypeByExtension(filepath.Ext(file)); kind == "" {
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
