// Pictures takes pictures of a console's pages, light, dark and narrow: pictures ADDRESS DIR [PATH...]. ADDRESS is
// the one with the key that hark console prints. Without paths it takes the pages that every console has, and those
// of the newest failed run.
package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: pictures ADDRESS DIR [PATH...]")
		os.Exit(2)
	}
	if err := take(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// look is a way of looking at a page.
type look struct {
	name, scheme  string
	width, height int
}

func looks() []look {
	return []look{{"light", "light", 1280, 860}, {"dark", "dark", 1280, 860}, {"narrow", "light", 360, 740}}
}

func take(address, dir string, paths []string) error {
	base, err := url.Parse(address)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	own, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(own)
	l := launcher.New().Bin("/usr/bin/chromium").Headless(true).NoSandbox(true).Leakless(false).UserDataDir(own)
	defer l.Cleanup()
	control, err := l.Launch()
	if err != nil {
		return err
	}
	b := rod.New().ControlURL(control)
	if err := b.Connect(); err != nil {
		return err
	}
	defer func() {
		b.Close()
		l.Kill()
	}()
	page, err := b.Page(proto.TargetCreateTarget{URL: address})
	if err != nil {
		return err
	}
	if err := page.WaitLoad(); err != nil {
		return err
	}
	if len(paths) == 0 {
		if paths, err = usual(page); err != nil {
			return err
		}
	}
	for _, p := range paths {
		for _, k := range looks() {
			if err := picture(page, base, p, dir, k); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
	}
	return nil
}

// usual are the pages that every console has, and those of the failed run with the most hosts.
func usual(page *rod.Page) ([]string, error) {
	paths := []string{"/runs", "/hosts", "/hosts/web12", "/duties", "/duties/base", "/duties/base/hosts/web17", "/jobs",
		"/warnings", "/no-such-page"}
	answer, err := page.Eval(
		`() => fetch('/runs?state=failed', {headers: {Accept: 'application/json'}}).then(r => r.text())`)
	if err != nil {
		return nil, err
	}
	var list struct {
		Runs []struct {
			Run   string
			Hosts []struct{ N int }
		}
	}
	if err := json.Unmarshal([]byte(answer.Value.Str()), &list); err != nil {
		return nil, err
	}
	most, run := 0, ""
	for _, x := range list.Runs {
		n := 0
		for _, c := range x.Hosts {
			n += c.N
		}
		if n > most {
			most, run = n, "/runs/"+x.Run
		}
	}
	if run != "" {
		paths = append(paths, run, run+"/hosts", run+"/hosts/web17", run+"/output", run+"/tasks/4", run+"/tasks/4/g/1",
			run+"/jobs", run+"/notices", run+"/compare", run+"/search?q=ok")
	}
	return paths, nil
}

func picture(page *rod.Page, base *url.URL, path, dir string, k look) error {
	if err := page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: k.width, Height: k.height,
		DeviceScaleFactor: 1, Mobile: k.width < 500}); err != nil {
		return err
	}
	scheme := &proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme",
		Value: k.scheme}}}
	if err := scheme.Call(page); err != nil {
		return err
	}
	to, err := base.Parse(path)
	if err != nil {
		return err
	}
	if err := page.Navigate(to.String()); err != nil {
		return err
	}
	if err := page.WaitLoad(); err != nil {
		return err
	}
	if err := page.WaitIdle(2 * time.Second); err != nil {
		return err
	}
	png, err := page.Screenshot(false, &proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatPng})
	if err != nil {
		return err
	}
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(path, "-"), "-")
	return os.WriteFile(filepath.Join(dir, name+"-"+k.name+".png"), png, 0o644)
}
