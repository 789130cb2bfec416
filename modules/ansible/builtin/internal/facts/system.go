package facts

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"hark/modules/nss"
	"hark/modules/py/localtime"
)

func lsb(p *probe) {
	found := map[string]string{}
	stamp := stampOf("/etc/os-release", "/etc/lsb-release", "/etc/debian_version")
	if text, ok := p.runKnown(stamp, "lsb_release", "-a"); ok {
		found = pairs(text, ":", map[string]string{
			"LSB Version": "release", "Distributor ID": "id", "Description": "description", "Release": "release",
			"Codename": "codename",
		})
	}
	if len(found) == 0 {
		found = pairs(content("/etc/lsb-release"), "=", map[string]string{
			"DISTRIB_ID": "id", "DISTRIB_RELEASE": "release", "DISTRIB_DESCRIPTION": "description",
			"DISTRIB_CODENAME": "codename",
		})
	}
	out := map[string]any{}
	for key, val := range found {
		out[key] = strings.Trim(val, `'"\`)
	}
	if release, ok := found["release"]; ok {
		out["major_release"] = strings.Trim(strings.SplitN(release, ".", 2)[0], `'"\`)
	}
	p.set("lsb", out)
}

// pairs reads lines of "name<sep>value", for the names that are wanted.
func pairs(text, sep string, names map[string]string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		key, val, ok := strings.Cut(line, sep)
		if name := names[strings.TrimSpace(key)]; ok && name != "" {
			out[name] = strings.TrimSpace(val)
		}
	}
	return out
}

func dateTime(p *probe) {
	now := localtime.Now()
	utc := now.UTC()
	zone, offset := now.Zone()
	epoch := strconv.FormatInt(now.Unix(), 10)
	p.set("date_time", map[string]any{
		"year": now.Format("2006"), "month": now.Format("01"), "day": now.Format("02"),
		"weekday": now.Weekday().String(), "weekday_number": strconv.Itoa(int(now.Weekday())), "weeknumber": weekNumber(now),
		"hour": now.Format("15"), "minute": now.Format("04"), "second": now.Format("05"),
		"epoch": epoch, "epoch_int": epoch,
		"date": now.Format("2006-01-02"), "time": now.Format("15:04:05"),
		"iso8601_micro": utc.Format("2006-01-02T15:04:05.000000Z"), "iso8601": utc.Format("2006-01-02T15:04:05Z"),
		"iso8601_basic":       now.Format("20060102T150405") + now.Format(".000000")[1:],
		"iso8601_basic_short": now.Format("20060102T150405"),
		"tz":                  zone, "tz_dst": summerZone(now), "tz_offset": zoneOffset(offset),
	})
}

// weekNumber is strftime's %W: weeks of the year that begin on Monday, 00 before the first.
func weekNumber(t time.Time) string {
	monday := (int(t.Weekday()) + 6) % 7
	return fmt.Sprintf("%02d", (t.YearDay()-1+7-monday)/7)
}

// summerZone returns the zone's name in summer, its usual name where there is no summer time.
func summerZone(t time.Time) string {
	for month := time.January; month <= time.December; month++ {
		if day := time.Date(t.Year(), month, 1, 12, 0, 0, 0, t.Location()); day.IsDST() {
			name, _ := day.Zone()
			return name
		}
	}
	name, _ := t.Zone()
	return name
}

func zoneOffset(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	return fmt.Sprintf("%s%02d%02d", sign, seconds/3600, seconds/60%60)
}

func environment(p *probe) {
	env := map[string]any{}
	for _, entry := range p.env.Environ {
		if key, val, ok := strings.Cut(entry, "="); ok {
			env[key] = val
		}
	}
	p.set("env", env)
}

func user(p *probe) {
	uid, gid := os.Getuid(), os.Getgid()
	p.set("real_user_id", uid)
	p.set("effective_user_id", os.Geteuid())
	p.set("real_group_id", gid)
	p.set("effective_group_id", gid) // of the real group, as Ansible has it
	u, err := nss.UserOf(uid)
	if err != nil {
		return
	}
	p.set("user_id", u.Name)
	p.set("user_uid", uid)
	p.set("user_gid", gid)
	p.set("user_dir", u.Home)
	p.set("user_gecos", u.Gecos)
	p.set("user_shell", u.Shell)
}

func commandLine(p *probe) {
	text := content("/proc/cmdline")
	if text == "" {
		return
	}
	last, all := map[string]any{}, map[string]any{}
	for _, piece := range splitWords(text) {
		key, val, ok := strings.Cut(piece, "=")
		if !ok {
			last[key], all[key] = true, true
			continue
		}
		last[key] = val
		switch before := all[key].(type) {
		case nil:
			all[key] = val
		case []any:
			all[key] = append(before, val)
		default:
			all[key] = []any{before, val}
		}
	}
	p.set("cmdline", last)
	p.set("proc_cmdline", all)
}

// splitWords splits at white space outside of quotes; the quotes stay.
func splitWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote = r
			word.WriteRune(r)
		case r == ' ' || r == '\t' || r == '\n':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

func loadAverage(p *probe) {
	if one, five, fifteen, ok := loads(); ok {
		p.set("loadavg", map[string]any{"1m": one, "5m": five, "15m": fifteen})
	}
}

func hostKeys(p *probe) {
	for _, dir := range []string{"/etc/ssh", "/etc/openssh", "/etc"} {
		found := false
		for _, algorithm := range []string{"dsa", "rsa", "ecdsa", "ed25519"} {
			f := strings.Fields(content(dir + "/ssh_host_" + algorithm + "_key.pub"))
			if len(f) < 2 {
				continue
			}
			found = true
			p.set("ssh_host_key_"+algorithm+"_public", f[1])
			p.set("ssh_host_key_"+algorithm+"_public_keytype", f[0])
		}
		if found {
			return
		}
	}
}

func dns(p *probe) {
	out := map[string]any{}
	for _, line := range lines("/etc/resolv.conf") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		switch f[0] {
		case "nameserver":
			before, _ := out["nameservers"].([]string)
			out["nameservers"] = append(before, f[1:]...)
		case "domain":
			if len(f) > 1 {
				out["domain"] = f[1]
			}
		case "search", "sortlist":
			out[f[0]] = f[1:]
		case "options":
			options := map[string]any{}
			for _, option := range f[1:] {
				name, val, ok := strings.Cut(option, ":")
				options[name] = true
				if ok && val != "" {
					options[name] = val
				}
			}
			out["options"] = options
		}
	}
	p.set("dns", out)
}
