#!/bin/sh
echo "update-rc.d ${1##*/} $2 $3 $4" >> "$HOME/told"
case "$*" in *" 9"*) echo "update-rc.d: error: illegal runlevel specified" >&2; exit 1;; esac
