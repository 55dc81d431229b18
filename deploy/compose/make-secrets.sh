#!/bin/sh
# Makes what compose.yaml's services share: a password of the database, its address, and the admin token. What is there
# stays, so that it may run at every start. The volume is mounted by those services only, under users of their own, so
# that its files are for all of them.
set -eu
directory=${1:-/secrets}
umask 022

random() {
  head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

# Written beside and moved: a file that exists is whole.
keep() {
  [ -s "$directory/$1" ] && return
  printf '%s\n' "$2" >"$directory/$1.new"
  mv "$directory/$1.new" "$directory/$1"
}

keep database_password "$(random)"
keep database_url "postgres://tollgate:$(cat "$directory/database_password")@postgres:5432/tollgate"
keep admin_token "$(random)"
# The backups are written by the gateway's user.
[ ! -d /backups ] || chmod 1777 /backups || echo "/backups: give it to user 10001, who writes the backups" >&2
