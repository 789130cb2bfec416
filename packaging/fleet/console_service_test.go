//go:build fleet

package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// consoleStory is what an ordinary user who may call sudo types to have a broker, a console and a keeper of a git
// repository of theirs on one machine. It prints what the console shows.
const consoleStory = `set -eu
cd
rm -rf .config/hark site
sudo hark broker install --advertise 127.0.0.1 --listen 127.0.0.1:4222
sudo hark console install >installed
grep -q 'to sign in: hark console login http://127.0.0.1:8470' installed
sudo hark broker admit --read-only "$(sudo hark console key)" --name console >access.json
sudo hark console use access.json
hark runs readers add console "$(sudo hark console key --seal)"
mkdir site
printf '[defaults]\ninventory = inventory\n[hark]\nansible = 2.14\n' >site/ansible.cfg
echo 'here ansible_connection=local' >site/inventory
echo '- {name: look, play: site.yml, hosts: here, every: 1h, mode: check}' >site/duties.yml
printf -- '- hosts: all\n  gather_facts: false\n  tasks: [{ping: }]\n' >site/site.yml
(cd site && hark play site.yml >/dev/null)
hark runs push # what reached no host over the broker goes there with the next run, or by this
sudo hark keeper install --project "$HOME/site" | sed -n 's/.*its key is //p' >keeper
sudo hark broker admit "$(cat keeper)" --name keeper >access.json
sudo hark keeper install --project "$HOME/site" --access access.json
sudo hark console believe "$(cat keeper)"
sudo -u hark-keeper env HARK_HOME=/var/lib/hark-keeper/home hark runs readers add console "$(sudo hark console key --seal)"
sudo systemctl restart hark-console
for try in $(seq 50); do
	link=$(hark console login http://127.0.0.1:8470) && break
	sleep 0.2
done
python3 - "$link" <<'END'
import http.cookiejar, sys, time, urllib.request
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
browser.open(sys.argv[1]).read()
for attempt in range(100):
    page = browser.open("http://127.0.0.1:8470/duties").read().decode()
    if "look" in page:
        break
    time.sleep(0.2)
print(page)
print(browser.open("http://127.0.0.1:8470/runs").read().decode())
END
`

// TestAConsoleIsInstalledBySomebodyWhoIsNotRoot: what the commands print leads to a console that shows runs and duties.
func TestAConsoleIsInstalledBySomebodyWhoIsNotRoot(t *testing.T) {
	m := fleetOf(t, 1)[0]
	program, err := os.ReadFile(filepath.Join(site.control.bin, "hark"))
	if err == nil {
		err = m.put("/usr/local/bin/hark", 0o755, program)
	}
	if err == nil {
		err = m.put("/tmp/story", 0o755, []byte(consoleStory))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.sh(t, "for part in keeper console broker; do hark $part uninstall; userdel hark-$part; rm -rf /var/lib/hark-$part; done; "+
			"cd /home/ops && rm -rf .config/hark site access.json installed keeper /tmp/story /usr/local/bin/hark")
	})
	out, err := m.try(nil, "runuser -l ops -c 'bash /tmp/story'")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`href="/duties/look`, "play site.yml"} {
		if !strings.Contains(out, want) {
			t.Errorf("the console does not show %q:\n%s", want, out)
		}
	}
}
