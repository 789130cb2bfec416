package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type given = map[string]any

// besideCases are the calls of TestRequestsAreAnsibles.
func besideCases() []besideCase {
	var all []besideCase
	add := func(name, module string, args given, env ...string) {
		c := besideCase{name: name, module: module, args: args, env: map[string]string{}}
		for _, kv := range env {
			k, v, _ := strings.Cut(kv, "=")
			c.env[k] = v
		}
		all = append(all, c)
	}
	uri := func(name, path string, args given, env ...string) {
		a := given{"url": "{http}" + path, "timeout": 2, "return_content": true}
		maps.Copy(a, args)
		add("uri "+name, "uri", a, env...)
	}
	get := func(name, path string, args given, env ...string) {
		a := given{"url": "{http}" + path, "timeout": 2, "dest": "{dir}/area/new"}
		maps.Copy(a, args)
		add("get_url "+name, "get_url", a, env...)
	}
	redirectCases(uri, get)
	for _, name := range slices.Sorted(maps.Keys(rawAnswers())) {
		uri("answer "+name, "/"+name, nil)
		get("answer "+name, "/"+name, nil)
		if strings.Contains(name, "gzip") {
			uri("packed "+name, "/"+name, given{"decompress": false, "dest": "{dir}/area/new", "return_content": false})
			get("packed "+name, "/"+name, given{"decompress": false})
		}
		if strings.HasPrefix(name, "named-") {
			get("into "+name, "/"+name, given{"dest": "{dir}/area/into"})
			uri("into "+name, "/"+name, given{"dest": "{dir}/area/into"})
		}
	}
	bodyCases(uri, get)
	authCases(uri, get)
	proxyCases(uri, get)
	tlsCases(uri, get)
	fileCases(uri, get, &all)
	return all
}

type calling func(name, path string, args given, env ...string)

func redirectCases(uri, get calling) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{"GET", "POST", "HEAD", "PUT", "DELETE"} {
			for _, follow := range []string{"all", "safe", "none", "urllib2"} {
				args := given{"method": method, "follow_redirects": follow, "status_code": []any{200, code}}
				if method == "POST" || method == "PUT" {
					args["body"] = "b=1"
				}
				uri(fmt.Sprintf("redirect %d %s %s", code, method, follow), fmt.Sprintf("/to/%d?/echo", code), args)
			}
		}
		get(fmt.Sprintf("redirect %d", code), fmt.Sprintf("/to/%d?/echo", code), nil)
	}
	for name, where := range map[string]string{
		"relative": "echo", "up": "../echo", "query": "?x", "fragment": "/echo%23part", "scheme": "//127.0.0.1:{port}/echo",
		"other host": "http://localhost:{port}/echo", "ftp": "ftp://127.0.0.1/x", "file": "file:///etc/hostname", "mailto": "mailto:a@b",
		"nowhere": "http://{closed}/", "bad": "http://[::1/", "dots": "/./a/../echo", "upper": "HTTP://127.0.0.1:{port}/echo", "login": "http://u:p@127.0.0.1:{port}/echo",
	} {
		uri("redirect to "+name, "/to/302?"+where, nil)
		get("redirect to "+name, "/to/302?"+where, nil)
	}
	uri("redirect to tls", "/to/302?{https}/echo", given{"validate_certs": false})
	for _, n := range []int{9, 10, 11, 12} {
		uri(fmt.Sprintf("hops %d", n), fmt.Sprintf("/hops/%d", n), nil)
	}
	heads := given{"X-A": "1", "Authorization": "Bearer t", "Cookie": "c=1", "Content-Type": "text/x", "Host": "named.test"}
	uri("redirect with headers", "/to/302?/echo", given{"headers": heads})
	uri("redirect without headers", "/to/302?/echo", given{"headers": heads, "unredirected_headers": []any{"X-A", "authorization"}})
	get("redirect with headers", "/to/302?/echo", given{"headers": heads})
	uri("redirect with a password", "/to/302?/want/basic", given{"user": "me", "password": "sesame", "force_basic_auth": true})
	uri("redirect of an address with blanks", "/to/302?/echo/a%2520b", nil)
}

func bodyCases(uri, get calling) {
	for name, args := range map[string]given{
		"text": {"body": "text"}, "number": {"body": 5}, "list": {"body": []any{1, "a"}}, "mapping": {"body": given{"a": 1}}, "nothing": {},
		"json": {"body": given{"a": []any{1, nil, true}, "é": "é"}, "body_format": "json"}, "json text": {"body": `{"a": 1}`, "body_format": "json"},
		"json list": {"body": []any{1}, "body_format": "json"}, "json number": {"body": 5, "body_format": "json"}, "json empty": {"body": "", "body_format": "json"},
		"form":       {"body": given{"a": "1 2", "b": []any{"x", "y"}}, "body_format": "form-urlencoded"},
		"form pairs": {"body": []any{[]any{"a", "1"}, []any{"a", "é&"}}, "body_format": "form-urlencoded"}, "form text": {"body": "a=1", "body_format": "form-urlencoded"},
		"form bad": {"body": []any{[]any{"a", "1", "2"}}, "body_format": "form-urlencoded"}, "form words": {"body": []any{"ab"}, "body_format": "form-urlencoded"},
		"form types":    {"body": given{"n": 1, "t": true, "none": nil, "f": 1.5, "d": given{"x": 1}}, "body_format": "form-urlencoded"},
		"multipart":     {"body": given{"a": "1", "f": given{"content": "text", "filename": "f.txt", "mime_type": "text/plain"}}, "body_format": "form-multipart"},
		"multipart bad": {"body": "text", "body_format": "form-multipart"},
		"src":           {"src": "{dir}/area/body.txt", "remote_src": true}, "src missing": {"src": "{dir}/area/none", "remote_src": true},
		"type": {"body": "text", "headers": given{"Content-Type": "text/x"}}, "type lower": {"body": given{"a": 1}, "body_format": "json", "headers": given{"content-type": "text/x"}},
		"length": {"body": "text", "headers": given{"Content-Length": "2"}}, "chunks": {"body": "text", "headers": given{"Transfer-Encoding": "chunked"}},
	} {
		args["method"] = "POST"
		uri("body "+name, "/echo", args)
	}
	for _, method := range []string{"get", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "A-B", "G3T", "", "CONNECT"} {
		uri("method "+method, "/echo", given{"method": method, "body": "x"})
	}
	for name, heads := range map[string]given{
		"number": {"X-A": 5}, "bool": {"X-A": true}, "none": {"X-A": nil}, "list": {"X-A": []any{1}}, "empty": {"X-A": ""}, "latin": {"X-A": "café"}, "other": {"X-A": "日本"},
		"newline": {"X-A": "a\nX-B: b"}, "blank": {"X A": "a"}, "agent": {"User-Agent": "mine"}, "host": {"Host": "named.test"}, "encoding": {"Accept-Encoding": "gzip"},
		"connection": {"Connection": "keep-alive"}, "case": {"x-LOWER-upper": "a"}, "cookie": {"Cookie": "a=1; b=2"}, "colon": {"X:A": "a"}, "nameless": {"": "a"},
	} {
		uri("header "+name, "/echo", given{"headers": heads})
		get("header "+name, "/echo", given{"headers": heads})
	}
	for name, path := range map[string]string{
		"blank": "/echo/a b", "latin": "/echo/é", "fragment": "/echo#part", "query": "/echo?a=b&c=é", "empty": "", "double": "//echo", "dots": "/a/../echo", "percent": "/echo/%zz",
		"plus": "/echo/a+b", "brackets": "/echo/[1]", "pipe": "/echo/a|b", "backslash": `/echo/a\b`, "only query": "?x=1", "newline": "/echo\nX: y", "tab": "/echo\tx", "quote": `/echo/"'<>`,
	} {
		uri("address "+name, path, nil)
		get("address "+name, path, nil)
	}
	for name, url := range map[string]string{
		"closed": "http://{closed}/", "scheme": "gopher://x/y", "none": "nourl", "empty": "", "six": "http://[bad/", "ftp": "ftp://127.0.0.1:1/x", "file": "file://{dir}/area/old",
		"file none": "file://{dir}/area/none", "port": "http://127.0.0.1:99999/", "port word": "http://127.0.0.1:abc/", "no host": "http:///echo", "upper": "HTTP://127.0.0.1:{port}/echo",
		"user": "http://u:p@127.0.0.1:{port}/echo", "http6": "{http6}/echo", "nul": "http://127.0.0.1:{port}/a\x00b", "blanks": " http://127.0.0.1:{port}/echo ", "data": "data:text/plain,hi",
	} {
		uri("url "+name, "", given{"url": url})
		get("url "+name, "", given{"url": url})
	}
	uri("slow head", "/stall", given{"timeout": 1})
	get("slow head", "/stall", given{"timeout": 1})
	uri("slow body", "/slow", given{"timeout": 1})
	get("slow body", "/slow", given{"timeout": 1})
	uri("agent", "/echo", given{"http_agent": "mine/1"})
	uri("force", "/echo", given{"force": true})
	get("force", "/echo", given{"force": true})
	for name, codes := range map[string]any{"list": []any{404, 200}, "text": "200,404", "words": "many", "number": 404} {
		uri("codes "+name, "/nothere", given{"status_code": codes})
	}
	for _, path := range []string{"/nothere", "/c304", "/to/302?/echo", "/c500json", "/latin1", "/c400"} {
		uri("expected "+path, path, given{"return_content": false, "follow_redirects": "none", "status_code": []any{200, 302, 304, 400, 404, 500}})
	}
	uri("without content", "/json", given{"return_content": false})
	uri("without content 404", "/nothere", given{"return_content": false})
	uri("creates", "/echo", given{"creates": "{dir}/area/old"})
	uri("removes", "/echo", given{"removes": "{dir}/area/none"})
	uri("body and src", "/echo", given{"body": "x", "src": "{dir}/area/old"})
	uri("bad choice", "/echo", given{"body_format": "xml"})
}

func authCases(uri, get calling) {
	me := given{"user": "me", "password": "sesame"}
	for name, challenge := range map[string]string{
		"basic": `WWW-Authenticate: Basic realm="x"`, "lower": `www-authenticate: basic realm="x"`, "no realm": "WWW-Authenticate: Basic", "unquoted": "WWW-Authenticate: Basic realm=x",
		"bearer": `WWW-Authenticate: Bearer realm="x"`, "two": `WWW-Authenticate: Bearer realm="x", Basic realm="y"`, "two lines": `WWW-Authenticate: Bearer realm="x"~WWW-Authenticate: Basic realm="y"`,
		"negotiate": "WWW-Authenticate: Negotiate", "none": "X-A: b", "charset": `WWW-Authenticate: Basic realm="x", charset="UTF-8"`,
	} {
		path := "/want/x?h=" + strings.NewReplacer(" ", "%20", `"`, "%22").Replace(challenge)
		uri("asks "+name, path, me)
		get("asks "+name, path, given{"url_username": "me", "url_password": "sesame"})
	}
	basic := `/want/x?h=WWW-Authenticate:%20Basic%20realm=%22x%22`
	for name, args := range map[string]given{
		"at once": {"user": "me", "password": "sesame", "force_basic_auth": true}, "wrong": {"user": "me", "password": "x"}, "nobody": {},
		"no password": {"user": "me"}, "no password at once": {"user": "me", "force_basic_auth": true}, "empty": {"user": "", "password": ""}, "password alone": {"password": "x"},
		"latin": {"user": "mé", "password": "é", "force_basic_auth": true}, "colon": {"user": "a:b", "password": "c", "force_basic_auth": true},
		"header": {"user": "me", "password": "x", "headers": given{"Authorization": "Basic bWU6c2VzYW1l"}}, "post": {"user": "me", "password": "sesame", "method": "POST", "body": "b"},
		"url": {"url": "http://me:sesame@127.0.0.1:{port}" + basic}, "url at once": {"url": "http://me:sesame@127.0.0.1:{port}" + basic, "force_basic_auth": true},
		"url user alone": {"url": "http://me@127.0.0.1:{port}" + basic}, "url coded": {"url": "http://me:s%65same@127.0.0.1:{port}" + basic},
		"put file": {"user": "me", "password": "sesame", "method": "PUT", "src": "{dir}/area/body.txt", "remote_src": true},
	} {
		uri("login "+name, basic, args)
	}
	home := "HOME={dir}/area/home"
	uri("netrc", basic, nil, home)
	uri("netrc off", basic, given{"use_netrc": false}, home)
	uri("netrc and user", basic, given{"user": "you", "password": "x"}, home)
	uri("netrc and header", basic, given{"headers": given{"Authorization": "Bearer t"}}, home)
	uri("netrc of NETRC", basic, nil, "NETRC={dir}/area/home/.netrc")
	uri("netrc of another host", strings.Replace(basic, "127.0.0.1", "localhost", 1), given{"url": "http://localhost:{port}" + basic}, home)
}

func proxyCases(uri, get calling) {
	for name, env := range map[string][]string{
		"plain": {"http_proxy=http://{proxy}"}, "upper": {"HTTP_PROXY=http://{proxy}"}, "no scheme": {"http_proxy={proxy}"}, "slash": {"http_proxy=http://{proxy}/"},
		"empty": {"http_proxy="}, "both": {"http_proxy=http://{proxy}", "HTTP_PROXY=http://{closed}"}, "empty lower": {"http_proxy=", "HTTP_PROXY=http://{proxy}"},
		"closed": {"http_proxy=http://{closed}"}, "login": {"http_proxy=http://me:sesame@{askingproxy}"}, "no login": {"http_proxy=http://{askingproxy}"},
		"wrong login": {"http_proxy=http://me:x@{askingproxy}"}, "coded login": {"http_proxy=http://me:s%65same@{askingproxy}"}, "all": {"all_proxy=http://{proxy}"},
		"cgi": {"HTTP_PROXY=http://{proxy}", "REQUEST_METHOD=GET"}, "socks": {"http_proxy=socks5://{proxy}"}, "https only": {"https_proxy=http://{proxy}"},
		"bad": {"http_proxy=http://[bad"}, "word": {"http_proxy=word"},
	} {
		uri("proxy "+name, "/echo", nil, env...)
	}
	for name, no := range map[string]string{
		"address": "127.0.0.1", "with port": "127.0.0.1:{port}", "other port": "127.0.0.1:1", "star": "*", "star in list": "a,*", "list": "a, 127.0.0.1", "network": "127.0.0.0/8",
		"suffix": ".0.0.1", "part": "0.0.1", "name": "localhost", "blanks": " 127.0.0.1 ", "empty": "",
	} {
		uri("no_proxy "+name, "/echo", nil, "http_proxy=http://{proxy}", "no_proxy="+no)
		uri("NO_PROXY "+name, "/echo", nil, "http_proxy=http://{proxy}", "NO_PROXY="+no)
	}
	for name, no := range map[string]string{"name": "localhost", "dot": ".localhost", "upper": "LOCALHOST", "part": "host", "port": "localhost:{port}", "address": "127.0.0.1"} {
		uri("no_proxy by name "+name, "/echo", given{"url": "http://localhost:{port}/echo"}, "http_proxy=http://{proxy}", "no_proxy="+no)
	}
	uri("use_proxy", "/echo", given{"use_proxy": false}, "http_proxy=http://{proxy}")
	get("use_proxy", "/echo", given{"use_proxy": false}, "http_proxy=http://{proxy}")
	get("proxy", "/echo", nil, "http_proxy=http://{proxy}")
	uri("proxy and redirect", "/to/302?/echo", nil, "http_proxy=http://{proxy}")
	uri("proxy and login", "/want/x?h=WWW-Authenticate:%20Basic%20realm=%22x%22", given{"user": "me", "password": "sesame"}, "http_proxy=http://{proxy}")
	uri("proxy and user", "/echo", given{"user": "me", "password": "sesame", "force_basic_auth": true}, "http_proxy=http://me:sesame@{askingproxy}")
	tls := given{"url": "{https}/echo", "validate_certs": false}
	for name, env := range map[string][]string{
		"plain": {"https_proxy=http://{proxy}"}, "login": {"https_proxy=http://me:sesame@{askingproxy}"}, "no login": {"https_proxy=http://{askingproxy}"}, "closed": {"https_proxy=http://{closed}"},
		"http only": {"http_proxy=http://{proxy}"}, "no_proxy": {"https_proxy=http://{proxy}", "no_proxy=127.0.0.1"}, "tls": {"https_proxy=https://{proxy}"},
	} {
		uri("tunnel "+name, "", tls, env...)
	}
	uri("tunnel forbidden", "", given{"url": "https://forbidden.test/echo", "validate_certs": false}, "https_proxy=http://{proxy}")
	uri("tunnel checked", "", given{"url": "{https}/echo", "ca_path": "{dir}/ca.pem"}, "https_proxy=http://{proxy}")
	uri("tunnel unchecked", "", given{"url": "{https}/echo"}, "https_proxy=http://{proxy}")
}

func tlsCases(uri, get calling) {
	for name, args := range map[string]given{
		"unknown": {}, "off": {"validate_certs": false}, "authority": {"ca_path": "{dir}/ca.pem"}, "authority missing": {"ca_path": "{dir}/none"}, "authority bad": {"ca_path": "{dir}/area/nokey.pem"},
		"expired": {"url": "{expired}/echo", "ca_path": "{dir}/ca.pem"}, "other": {"url": "{other}/echo", "ca_path": "{dir}/ca.pem"}, "other off": {"url": "{other}/echo", "validate_certs": false},
		"name": {"url": "https://localhost:{httpsport}/echo", "ca_path": "{dir}/ca.pem"}, "plain server": {"url": "https://127.0.0.1:{port}/echo", "validate_certs": false},
		"plain client": {"url": "http://127.0.0.1:{httpsport}/echo"}, "ciphers": {"validate_certs": false, "ciphers": []any{"ECDHE-ECDSA-AES128-GCM-SHA256"}},
		"ciphers bad": {"validate_certs": false, "ciphers": []any{"NO-SUCH"}},
		"mutual":      {"url": "{mutual}/echo", "validate_certs": false, "client_cert": "{dir}/client.pem", "client_key": "{dir}/client.key"},
		"mutual both": {"url": "{mutual}/echo", "validate_certs": false, "client_cert": "{dir}/both.pem"}, "mutual none": {"url": "{mutual}/echo", "validate_certs": false},
		"mutual no key": {"url": "{mutual}/echo", "validate_certs": false, "client_cert": "{dir}/client.pem"}, "mutual missing": {"url": "{mutual}/echo", "validate_certs": false, "client_cert": "{dir}/none.pem"},
		"mutual bad": {"url": "{mutual}/echo", "validate_certs": false, "client_cert": "{dir}/area/nokey.pem"}, "mutual key only": {"url": "{mutual}/echo", "validate_certs": false, "client_key": "{dir}/client.key"},
		"mutual checked": {"url": "{mutual}/echo", "ca_path": "{dir}/ca.pem", "client_cert": "{dir}/both.pem"},
	} {
		a := given{"url": "{https}/echo"}
		maps.Copy(a, args)
		uri("tls "+name, "", a)
	}
	get("tls unknown", "", given{"url": "{https}/echo"})
	get("tls off", "", given{"url": "{https}/echo", "validate_certs": false})
	uri("tls by environment", "", given{"url": "{https}/echo"}, "SSL_CERT_FILE={dir}/ca.pem")
	uri("socket", "", given{"url": "http://named.test/echo", "unix_socket": "{sock}"})
	uri("socket missing", "", given{"url": "http://named.test/echo", "unix_socket": "{dir}/none"})
	uri("socket file", "", given{"url": "http://named.test/echo", "unix_socket": "{dir}/area/old"})
	uri("socket redirect", "", given{"url": "http://named.test/to/302?/echo", "unix_socket": "{sock}"})
	uri("socket tls", "", given{"url": "https://named.test/echo", "unix_socket": "{sock}", "validate_certs": false})
	uri("socket proxy", "", given{"url": "http://named.test/echo", "unix_socket": "{sock}"}, "http_proxy=http://{proxy}")
}

func fileCases(uri, get calling, all *[]besideCase) {
	again := func(n int) { (*all)[len(*all)-n].twice = true }
	for name, args := range map[string]given{
		"file": {"dest": "{dir}/area/new"}, "directory": {"dest": "{dir}/area/into"}, "over": {"dest": "{dir}/area/old"}, "nowhere": {"dest": "{dir}/area/none/f"}, "slash": {"dest": "{dir}/area/into/"},
		"mode": {"dest": "{dir}/area/new", "mode": "0600"}, "none there": {"dest": "{dir}/area/none/"},
	} {
		for _, path := range []string{"/plain", "/since", "/nothere", "/c204", "/to/302?/plain", "/gzip", "/toolong"} {
			a := given{}
			maps.Copy(a, args)
			uri("dest "+name+" "+path, path, a)
			get("dest "+name+" "+path, path, a)
		}
		uri("dest again "+name, "/since", args)
		again(1)
		get("dest again "+name, "/since", args)
		again(1)
	}
	sum := "sha256:5e2bf57d3f40c4b6df69daf1936cb766f832374b4fc0259a7cbff06e2f70f269"
	for name, checksum := range map[string]string{
		"wrong": sum, "bad": "sha256:xyz", "no name": "abc", "algorithm": "crc:00", "md5": "md5:f7b5a6c1b6f2f7cd8b06b3ac2f8c3a7c", "url": "sha256:{http}/echo", "url 404": "sha256:{http}/nothere", "empty": "",
		"upper": "SHA256:00", "blank": "sha256: 00",
	} {
		get("checksum "+name, "/plain", given{"checksum": checksum})
		get("checksum over "+name, "/plain", given{"checksum": checksum, "dest": "{dir}/area/old"})
	}
	get("backup", "/plain", given{"dest": "{dir}/area/old", "backup": true})
	get("forced", "/since", given{"dest": "{dir}/area/old", "force": true})
	get("tmp_dest", "/plain", given{"tmp_dest": "{dir}/area/into"})
	get("tmp_dest none", "/plain", given{"tmp_dest": "{dir}/area/none"})
	get("tmp_dest file", "/plain", given{"tmp_dest": "{dir}/area/old"})
	get("attributes", "/plain", given{"mode": "u=rw,go=", "dest": "{dir}/area/old"})
	get("relative", "/plain", given{"dest": "relative"})
	uri("relative", "/plain", given{"dest": "relative"})
	get("gssapi", "/plain", given{"use_gssapi": true})
	get("old arguments", "/plain", given{"sha256sum": "x"})
}
