#!/bin/sh
# Backups for compose.yaml.
#   backup.sh         for ever: one when the newest is a day old. Ends with 1 when one fails, and Compose starts it again.
#   backup.sh once    one now; ends with 1 when it fails.
#   backup.sh check   ends with 1 when the newest is older than 26 hours.
# The newest KEEP_BACKUPS stay; older ones go only after a new one is whole. It needs no more than the image has.
set -eu
directory=${BACKUP_DIRECTORY:-/backups}
keep=${KEEP_BACKUPS:-14}
DAY_SECONDS=86400
LATE_SECONDS=93600
LOOK_SECONDS=600
PAUSE_SECONDS=${PAUSE_SECONDS:-60}

case $keep in '' | *[!0-9]* | 0) echo "KEEP_BACKUPS: \"$keep\" is not allowed; it must be a number, 1 or more" >&2; exit 2 ;; esac

# Their names sort by time.
list() {
  for file in "$directory"/tollgate-*.backup; do [ ! -e "$file" ] || echo "${file##*/}"; done | sort -r
}

is_older_than() {
  newest=$(list | head -n 1)
  [ -z "$newest" ] && return 0
  [ $(($(date +%s) - $(stat -c %Y "$directory/$newest"))) -ge "$1" ]
}

make() {
  # Of one that was killed.
  rm -f "$directory"/tollgate-*.backup.part
  # It is read whole while it is written, and appears under its name when it is whole.
  tollgate backup "$directory/tollgate-$(date -u +%Y%m%dT%H%M%SZ).backup" || return 1
  list | tail -n +$((keep + 1)) | while read -r name; do rm "$directory/$name"; done
}

case ${1:-daily} in
once) make ;;
check) if is_older_than "$LATE_SECONDS"; then echo "no backup within 26 hours"; exit 1; fi ;;
daily)
  trap 'exit 0' TERM INT
  while :; do
    if is_older_than "$DAY_SECONDS" && ! make; then
      echo "the backup failed" >&2
      # Compose starts it again at once.
      sleep "$PAUSE_SECONDS" & wait $!
      exit 1
    fi
    sleep "$LOOK_SECONDS" & wait $!
  done
  ;;
*) echo "usage: backup.sh [once|check]" >&2; exit 2 ;;
esac
