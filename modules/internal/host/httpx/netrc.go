package httpx

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules"
)

// login is what a netrc file says about one host.
type login struct{ user, password string }

// netrc finds a host's login in the netrc file of the user.
func netrc(env *modules.Env, host string) login {
	path := env.Getenv("NETRC")
	if path == "" {
		path = filepath.Join(env.Getenv("HOME"), ".netrc")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return login{}
	}
	logins := parseNetrc(string(text))
	if own, ok := logins[host]; ok {
		return own
	}
	return logins[""]
}

// parseNetrc returns the logins by host; that of "default" has no name.
func parseNetrc(text string) map[string]login {
	logins := map[string]login{}
	words := strings.Fields(text)
	next := func() string {
		if len(words) == 0 {
			return ""
		}
		word := words[0]
		words = words[1:]
		return word
	}
	host := ""
	for len(words) > 0 {
		own := logins[host]
		switch next() {
		case "machine":
			host = next()
			logins[host] = login{}
			continue
		case "default":
			host = ""
			continue
		case "login":
			own.user = next()
		case "password":
			own.password = next()
		default:
			continue
		}
		logins[host] = own
	}
	return logins
}
