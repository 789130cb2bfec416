package galaxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
)

// complete fills in what a requirement of a directory, an archive or a repository can tell only once it was fetched.
func (c *Client) complete(r Requirement) (Requirement, error) {
	if r.kind == Galaxy || r.kind == Subdirs {
		return r, nil
	}
	m, err := c.downloads().meta(context.Background(), r)
	if err != nil {
		return r, err
	}
	if r.name == (fqcn{}) {
		r.name = m.name
	}
	if r.version == "*" {
		r.version = m.version
	}
	return r, nil
}

func onlyKeys(keys ...string) *value.Dict {
	d := value.NewDict()
	for _, k := range keys {
		d.Set(k, value.Str("*"))
	}
	return d
}

// save writes the answer into a file and gives its checksum.
func (r request) save(ctx context.Context, path string) (sum string, err error) {
	resp, err := r.do(ctx)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(resp.Body, maxArchive+1))
	if err == nil && n > maxArchive {
		err = fmt.Errorf("it has more than %d bytes", int64(maxArchive))
	}
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, f.Close())
}

// scm returns what a source of a repository says: git+URL#directory,version.
func scm(source, version string) (name, url, branch, dir string) {
	if before, after, ok := strings.Cut(source, ","); ok {
		source, version = before, after
	} else if version == "*" || version == "" {
		version = "HEAD"
	}
	url, dir, _ = strings.Cut(strings.TrimPrefix(source, "git+"), "#")
	dir = strings.Trim(dir, "/")
	switch {
	case strings.HasSuffix(url, "/.git"):
		name = filepath.Base(strings.TrimSuffix(url, "/.git"))
	case !strings.Contains(url, "://") && !strings.Contains(url, "@"):
		name = filepath.Base(url)
	default:
		name = strings.TrimSuffix(url[strings.LastIndex(url, "/")+1:], ".git")
	}
	return name, url, version, dir
}
