package httpx

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"hark/modules"
)

// Where distributions keep the certificates of authorities: the first of the files counts, and all of the directories.
var (
	rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"}
	rootDirs = []string{"/etc/ssl/certs", "/etc/pki/tls/certs"}
)

// authoritiesKept are the machine's authorities as they were last read. Package x509 reads them once in the life of a
// process, which is too seldom for one that installs some.
type authoritiesKept struct {
	mu   sync.Mutex
	is   string         // what was read; guarded by mu
	pool *x509.CertPool // guarded by mu
}

var machineAuthorities authoritiesKept

// trusted returns the authorities for a task: those of its SSL_CERT_FILE and SSL_CERT_DIR, or the machine's. nil is
// what package x509 takes.
func trusted(env *modules.Env) *x509.CertPool {
	if runtime.GOOS != "linux" {
		return nil
	}
	files, dirs := rootFiles, rootDirs
	if file := env.Getenv("SSL_CERT_FILE"); file != "" {
		files, dirs = []string{file}, nil
	}
	if text := env.Getenv("SSL_CERT_DIR"); text != "" {
		dirs = filepath.SplitList(text)
	}
	return machineAuthorities.read(files, dirs)
}

func (k *authoritiesKept) read(files, dirs []string) *x509.CertPool {
	var paths []string
	for _, path := range files {
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
			break
		}
	}
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // there may be none
		for _, e := range entries {
			if !e.IsDir() {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	is := identities(paths)
	if is == k.is && k.pool != nil {
		return k.pool
	}
	pool := x509.NewCertPool()
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			pool.AppendCertsFromPEM(text)
		}
	}
	k.is, k.pool = is, pool
	return pool
}

// identities distinguish files from all that were at their paths.
func identities(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		b.WriteString(path)
		if info, err := os.Stat(path); err == nil {
			fmt.Fprint(&b, " ", info.Size(), " ", info.ModTime().UnixNano())
		}
		b.WriteByte('\n')
	}
	return b.String()
}
