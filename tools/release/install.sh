#!/bin/sh
# Installs the one file that lies beside this script, with its links, and says where that cannot run, and what to do then.
#   sh install.sh [FOLDER]          default: /usr/local/bin
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
to=${1-/usr/local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}
otherwise='Take the image, or the npm package with a Node.js of this system (docs/install.md)'

case $(uname -s)-$(uname -m) in
  Linux-x86_64) machine=linux-x64 ;;
  Linux-aarch64) machine=linux-arm64 ;;
  *) fail "there is no file for $(uname -s) on $(uname -m). The kubectl plugins run there by npm: npm install -g orrery" ;;
esac
file=
for one in "$here"/orrery-*-"$machine"; do [ -f "$one" ] && file=$one; done
[ -n "$file" ] || fail "there is no orrery-<version>-$machine beside $0: unpack it first (zstd -d)"
if [ -f "$here/SHA256SUMS" ] && command -v sha256sum >/dev/null; then
  (cd "$here" && grep " ${file##*/}\$" SHA256SUMS | sha256sum -c - >/dev/null 2>&1) ||
    fail "$file is not what SHA256SUMS says: fetch it again"
fi

[ -d "$to" ] || fail "there is no folder $to: name another one, as in: sh install.sh ~/.local/bin"
draft=$to/.orrery.$$
trap 'rm -f "$draft"' EXIT
cp "$file" "$draft" 2>/dev/null && chmod 755 "$draft" || fail "nothing can be written to $to: run this as root, or name another folder"
code=0
said=$("$draft" version 2>&1) || code=$?
case $code-$said in
  0-*) ;;
  *GLIBC_*) fail "the glibc of this system is too old: it has to be 2.28 or newer. $otherwise" ;;
  *'shared libraries'*) fail "a library is missing ($said). Install libstdc++ and libatomic: apt install libatomic1 libstdc++6, dnf install libatomic libstdc++" ;;
  # The file is there: what is not found is the loader that it names.
  127-* | *'not found'*) fail "this system has no glibc. $otherwise" ;;
  126-* | *'ermission denied'*) fail "$to is mounted noexec, or programs may not run there: name another folder" ;;
  *) fail "it does not run here: $said" ;;
esac
mv "$draft" "$to/orrery"
for name in kubectl-ws kubectl-kubestellar kubectl_complete-ws kubectl_complete-kubestellar; do ln -sf orrery "$to/$name"; done
# A folder of programs has its manual beside it: /usr/local/bin, and /usr/local/share/man.
manual=
case $to in
  */bin)
    for pages in "$here"/orrery-*-man.tar.gz; do
      [ -f "$pages" ] || continue
      manual=${to%/bin}/share/man
      mkdir -p "$manual" && tar -xzf "$pages" -C "$manual" || fail "the manual pages cannot be written to $manual; the programs are installed"
    done
    ;;
esac
echo "$said"
echo "installed in $to: orrery, kubectl-ws, kubectl-kubestellar, and what completes their command lines"
[ -z "$manual" ] || echo "manual pages: $manual (man orrery-start)"
