#!/bin/sh
# `debian-root.sh amd64|arm64 DIR`: a root of the few Debian packages that the image needs, of the release that this runs
# in: the C and C++ libraries for Node and PostgreSQL, a shell (which waits for orphans as process 1, and which PostgreSQL's
# initdb calls), busybox for the commands that are used, and a name for users that are bare numbers. Packages are unpacked,
# not installed, so it is the same for another architecture. They are noted where scanners look for them.
set -eu
arch=$1
root=$2
packages='base-files busybox ca-certificates dash gcc-14-base libatomic1 libc6 libgcc-s1 libnss-unknown libstdc++6'

dpkg --print-architecture | grep -qx "$arch" || dpkg --add-architecture "$arch"
apt-get update -qq
mkdir -p /tmp/packages "$root/var/lib/dpkg/status.d"
cd /tmp/packages
# shellcheck disable=SC2046,SC2086 # a list of words
apt-get download -qq $(for name in $packages; do
  case $name in base-files | ca-certificates) echo "$name" ;; *) echo "$name:$arch" ;; esac
done)

for package in *.deb; do
  name=$(dpkg-deb -f "$package" Package)
  dpkg-deb -x "$package" "$root"
  dpkg-deb -f "$package" >"$root/var/lib/dpkg/status.d/$name"
done

# Licences stay; pages to read, character sets and tables of other programs do not.
find "$root/usr/share/doc" -type f ! -name copyright -delete
rm -rf "$root/usr/share/man" "$root/usr/share/info" "$root/usr/share/lintian" "$root/usr/share/locale" \
  "$root/usr/share/base-files" "$root/usr/share/bug" "$root/usr/lib/"*/gconv "$root/usr/lib/"*/lib*.so "$root/usr/lib/"*/libmvec.so.* \
  "$root/usr/lib/"*/audit "$root/usr/share/initramfs-tools" "$root/usr/share/gcc" "$root/usr/share/gdb" "$root/usr/sbin"/* "$root/etc/motd" "$root/etc/issue"*
find "$root/usr/share/doc" -type d -empty -delete

for link in bin sbin lib lib64; do [ -e "$root/$link" ] || ln -s "usr/$link" "$root/$link"; done
mkdir -p "$root/usr/lib64" "$root/usr/local/bin" "$root/etc/ssl/certs"
for command in cat chmod cp date df du env free grep head id kill ls mkdir mkfifo mv ps rm sleep sort stat tail tar touch wc wget; do
  [ -e "$root/usr/bin/$command" ] || ln -s busybox "$root/usr/bin/$command"
done
find "$root/usr/share/ca-certificates/mozilla" -name '*.crt' -exec cat {} + >"$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root/usr/share/ca-certificates" "$root/etc/ca-certificates"

cat >"$root/etc/passwd" <<'END'
root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
tollgate:x:10001:10001:tollgate:/data:/usr/sbin/nologin
END
printf 'root:x:0:\nnogroup:x:65534:\ntollgate:x:10001:\n' >"$root/etc/group"
# PostgreSQL's initdb asks for the name of its user: one of a bare number is called `uid-12345`.
printf 'passwd: files unknown\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n' >"$root/etc/nsswitch.conf"

chmod 1777 "$root/tmp"
