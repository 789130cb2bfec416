#!/bin/sh
# WANT_JSON
printf '{"changed": false, "a": %s}\n' "$(sed 's/.*"a": *\([^,}]*\).*/\1/' "$1")"
