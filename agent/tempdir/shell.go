package tempdir

import "fmt"

// Shell are lines of a POSIX shell that make a directory for the user only, from which programs can be run and which
// has room for so many bytes, and put its path into d. A shell without such a directory says so and ends.
func Shell(room int64) string {
	return fmt.Sprintf(`room() {
  set -- $(df -Pk "$1" 2>/dev/null | tail -n 1)
  case $4 in '' | *[!0-9]*) return 0 ;; esac
  [ "$4" -ge %d ]
}
d=
for base in "${TMPDIR:-/tmp}" /tmp /var/tmp "$HOME" /dev/shm; do
  d=$(umask 077 && mktemp -d "$base/.hark-XXXXXXXX" 2>/dev/null) || continue
  room "$d" && printf '#!/bin/sh\nexit 0\n' >"$d/try" && chmod 700 "$d/try" && "$d/try" 2>/dev/null && rm -f "$d/try" && break
  rm -rf "$d"
  d=
done
[ "$d" ] || { echo "no directory was found in which programs may be written and run, with room for %d MB" >&2; exit 1; }
`, room>>10+64, room>>20+1)
}
