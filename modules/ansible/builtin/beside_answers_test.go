package builtin

import "strings"

// rawAnswers are answers of the hostile server, byte by byte, by the first word of the path.
func rawAnswers() map[string]string {
	many := strings.Repeat("X-Many: 1\r\n", 101)
	answers := map[string]string{
		"plain":       page("Content-Type: text/plain\n", "plain text\n"),
		"json":        page("Content-Type: application/json\n", `{"a": [1, 2.5, null, "é"]}`),
		"badjson":     page("Content-Type: application/json\n", `{"a": `),
		"bomjson":     page("Content-Type: application/json\n", "\xef\xbb\xbf{\"a\": 1}"),
		"vnd":         page("Content-Type: application/vnd.api+json; charset=utf-8\n", `{"a": 1}`),
		"javascript":  page("Content-Type: text/javascript\n", `[1]`),
		"textjson":    page("Content-Type: text/json\n", `[1]`),
		"upperjson":   page("Content-Type: APPLICATION/JSON\n", `[1]`),
		"jsontwice":   page("Content-Type: text/plain\nContent-Type: application/json\n", `[1]`),
		"notype":      page("", "caf\xe9"),
		"badtype":     page("Content-Type: ;;;\n", "x"),
		"latin1":      page("Content-Type: text/plain; charset=iso-8859-1\n", "caf\xe9"),
		"latin1q":     page("Content-Type: text/plain; charset=\"ISO-8859-1\"; x=y\n", "caf\xe9"),
		"utf16":       page("Content-Type: application/json; charset=utf-16\n", "\xff\xfe[\x001\x00]\x00"),
		"cp1252":      page("Content-Type: text/plain; charset=windows-1252\n", "\x80"),
		"sjis":        page("Content-Type: text/plain; charset=shift_jis\n", "\x83\x65"),
		"unknown":     page("Content-Type: text/plain; charset=no-such\n", "caf\xe9"),
		"badutf8":     page("Content-Type: text/plain; charset=utf-8\n", "caf\xe9"),
		"asciiset":    page("Content-Type: text/plain; charset=us-ascii\n", "caf\xe9"),
		"nul":         page("Content-Type: text/plain\n", "a\x00b"),
		"gzip":        page("Content-Encoding: gzip\n", packed("gzip", "unpacked")),
		"gzipupper":   page("Content-Encoding: GZIP\n", packed("gzip", "unpacked")),
		"xgzip":       page("Content-Encoding: x-gzip\n", packed("gzip", "unpacked")),
		"gzipjson":    page("Content-Encoding: gzip\nContent-Type: application/json\n", packed("gzip", `{"a": 1}`)),
		"gziptwo":     page("Content-Encoding: gzip\n", packed("gzip", "one")+packed("gzip", "two")),
		"gzipshort":   page("Content-Encoding: gzip\n", packed("gzip", "unpacked")[:15]),
		"gzipbad":     page("Content-Encoding: gzip\n", "this is not gzip"),
		"gzipempty":   page("Content-Encoding: gzip\n", ""),
		"gziptail":    page("Content-Encoding: gzip\n", packed("gzip", "unpacked")+"tail"),
		"deflate":     page("Content-Encoding: deflate\n", packed("deflate", "unpacked")),
		"br":          page("Content-Encoding: br\n", "\x0b\x02\x80ab"),
		"identity":    page("Content-Encoding: identity\n", "plain"),
		"chunked":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n3;ext=1\r\n333\r\n0\r\n\r\n",
		"trailers":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\nX-After: 1\r\n\r\n",
		"chunkedgzip": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n1c\r\n" + packed("gzip", "unpacked") + "\r\n0\r\n\r\n",
		"chunkshort":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfour",
		"chunknoend":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n",
		"chunkbad":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nfour\r\n0\r\n\r\n",
		"chunkboth":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n4\r\nfour\r\n0\r\n\r\n",
		"http10":      "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
		"http10len":   "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfour and more",
		"http09":      "<html>no head</html>",
		"http2":       "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"icy":         "ICY 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"toolong":     "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
		"tooshort":    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshort and more",
		"negative":    "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nbody",
		"words":       "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nbody",
		"twolengths":  "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
		"difflengths": "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!",
		"empty":       page("", ""),
		"nothing":     "",
		"half":        "HTTP/1.1 200",
		"headonly":    "HTTP/1.1 200 OK\r\nX-A: b\r\n",
		"noreason":    "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
		"oddreason":   "HTTP/1.1 200 It went well, thanks\r\nContent-Length: 2\r\n\r\nok",
		"latinreason": "HTTP/1.1 500 caf\xe9\r\nContent-Length: 2\r\n\r\nok",
		"noreason404": "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno",
		"c201":        "HTTP/1.1 201 Created\r\nLocation: /there\r\nContent-Length: 2\r\n\r\nok",
		"c204":        "HTTP/1.1 204 No Content\r\n\r\n",
		"c204body":    "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
		"c206":        "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nok",
		"c100":        "HTTP/1.1 100 Continue\r\n\r\n" + page("", "ok"),
		"c103":        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + page("", "ok"),
		"c300":        "HTTP/1.1 300 Multiple Choices\r\nLocation: /plain\r\nContent-Length: 2\r\n\r\nno",
		"c304":        "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
		"c305":        "HTTP/1.1 305 Use Proxy\r\nLocation: /plain\r\nContent-Length: 2\r\n\r\nno",
		"c400":        "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno",
		"c407":        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno",
		"c500json":    "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 14\r\nSet-Cookie: a=b\r\n\r\n{\"error\": \"e\"}",
		"c503":        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nno",
		"c600":        "HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\nno",
		"c999":        "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nno",
		"c99":         "HTTP/1.1 99 Odd\r\nContent-Length: 2\r\n\r\nno",
		"cwords":      "HTTP/1.1 abc Odd\r\nContent-Length: 2\r\n\r\nno",
		"noloc":       "HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nno",
		"emptyloc":    "HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 2\r\n\r\nno",
		"uriloc":      "HTTP/1.1 302 Found\r\nURI: /plain\r\nContent-Length: 2\r\n\r\nno",
		"twoloc":      "HTTP/1.1 302 Found\r\nLocation: /plain\r\nLocation: /json\r\nContent-Length: 2\r\n\r\nno",
		"spaceloc":    "HTTP/1.1 302 Found\r\nLocation: /echo/a b\r\nContent-Length: 2\r\n\r\nno",
		"latinloc":    "HTTP/1.1 302 Found\r\nLocation: /echo/caf\xe9\r\nContent-Length: 2\r\n\r\nno",
		"utf8loc":     "HTTP/1.1 302 Found\r\nLocation: /echo/caf\u00e9\r\nContent-Length: 2\r\n\r\nno",
		"loop":        "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 2\r\n\r\nno",
		"refresh":     page("Refresh: 0; url=/plain\n", "ok"),
		"nocolon":     "HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\nok",
		"folded":      "HTTP/1.1 200 OK\r\nX-Long: a\r\n  b\r\nContent-Length: 2\r\n\r\nok",
		"lf":          "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
		"latinhead":   "HTTP/1.1 200 OK\r\nX-Name: caf\xe9\r\nContent-Length: 2\r\n\r\nok",
		"utf8head":    "HTTP/1.1 200 OK\r\nX-Name: caf\u00e9\r\nContent-Length: 2\r\n\r\nok",
		"spacehead":   "HTTP/1.1 200 OK\r\nX-Name : a\r\nContent-Length: 2\r\n\r\nok",
		"emptyhead":   "HTTP/1.1 200 OK\r\nX-Empty:\r\nContent-Length: 2\r\n\r\nok",
		"twice":       "HTTP/1.1 200 OK\r\nX-Two: 1\r\nx-two: 2\r\nContent-Length: 2\r\n\r\nok",
		"underscore":  "HTTP/1.1 200 OK\r\nX_Under: 1\r\nX-Under: 2\r\nContent-Length: 2\r\n\r\nok",
		"status":      "HTTP/1.1 200 OK\r\nStatus: mine\r\nUrl: mine\r\nMsg: mine\r\nContent-Length: 2\r\n\r\nok",
		"manyheads":   "HTTP/1.1 200 OK\r\n" + many + "Content-Length: 2\r\n\r\nok",
		"longhead":    "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("x", 70000) + "\r\nContent-Length: 2\r\n\r\nok",
	}
	for name, heads := range cookieHeads() {
		answers["cookie-"+name] = page("Set-Cookie: "+strings.Join(heads, "\nSet-Cookie: ")+"\n", "ok")
	}
	for name, disposition := range dispositions() {
		answers["named-"+name] = page("Content-Disposition: "+disposition+"\n", "ok")
	}
	return answers
}

// cookieHeads are headers Set-Cookie.
func cookieHeads() map[string][]string {
	return map[string][]string{
		"plain": {"a=1"}, "path": {"sid=1; Path=/app"}, "paths": {"a=1; Path=/", "b=2; Path=/x"}, "same": {"a=1; Path=/", "a=2; Path=/x"},
		"again": {"a=1", "a=2"}, "three": {"z=1", "a=2", "m=3"}, "quoted": {`a="x y"`}, "empty": {"a="}, "nameless": {"=v"}, "bare": {"bare"},
		"equals": {"a=b=c=d"}, "secure": {"a=1; Secure"}, "httponly": {"a=1; HttpOnly"}, "gone": {"a=1; Max-Age=0"}, "age": {"a=1; Max-Age=100"},
		"badage": {"a=1; Max-Age=soon"}, "past": {"a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, "future": {"a=1; Expires=Wed, 01 Jan 2098 00:00:00 GMT"},
		"badexpires": {"a=1; Expires=never"}, "domain": {"a=1; Domain=127.0.0.1"}, "foreign": {"a=1; Domain=example.org"},
		"version": {"a=1; Version=1"}, "samesite": {"a=1; SameSite=Strict"}, "comma": {"a=1, b=2"}, "latin": {"a=caf\xe9"}, "spaces": {"  a = 1 ; Path = / "},
		"semicolon": {`a="x;y"; Path=/`}, "dollar": {"$a=1"}, "port": {`a=1; Port="80"`}, "lonely": {"; Path=/"},
	}
}

// dispositions are headers that name a file.
func dispositions() map[string]string {
	return map[string]string{
		"quoted": `attachment; filename="f.txt"`, "bare": "attachment; filename=f.txt", "inline": `inline; filename="f.txt"`,
		"up": `attachment; filename="../../f.txt"`, "star": "attachment; filename*=UTF-8''f.txt", "none": "attachment",
		"more": `attachment; filename=f.txt; size=3`, "upper": `Attachment; Filename="f.txt"`, "tight": `attachment;filename="f.txt"`,
		"dir": `attachment; filename="sub/"`, "space": `attachment; filename="a b.txt"`,
	}
}
