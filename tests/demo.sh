#!/usr/bin/env bash
# Shows capictl's main job on a real, throw-away management cluster: install Cluster API, render a cluster, watch it
# come up. Prints each command before it runs it, so that you could have typed it.
#
# usage: tests/demo.sh [--keep]
#   --keep   leaves the management cluster running until Ctrl-C and prints the KUBECONFIG to use
#
# The first run builds the control plane and the Cluster API managers from their Go modules (about 7 minutes on two
# cores) and capictl itself; later ones take one or two minutes. Nothing is left outside the cache and temporary folders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

keep=
case ${1:-} in
  '') ;;
  --keep) keep=yes ;;
  -h | --help) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit ;;
  *) echo "demo.sh: unknown option \`$1\`, see --help" >&2; exit 1 ;;
esac

fail() {
  echo "demo.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}
title() { printf '\n\033[1m%s\033[0m\n' "# $*"; }
run() { # prints the command as one would type it, then runs it
  printf '$ %s\n' "$*"
  "$@"
}
seconds() { awk -v ns=$(($(date +%s%N) - $1)) 'BEGIN { printf "%.1f s", ns / 1e9 }'; }

command -v cargo >/dev/null || fail "\`cargo\` is not on PATH, capictl is built with it" "install Rust from https://rustup.rs"
title "Building the test-bed and capictl (only what is missing)"
tests/testbed/build.sh >/dev/null
cargo build --quiet --bin capictl --example testbed
target=${CARGO_TARGET_DIR:-target}

work=$(mktemp -d "${TMPDIR:-/tmp}/capictl-demo.XXXXXX")
started=$(date +%s%N)
end() {
  local status=$?
  trap '' INT TERM
  trap - EXIT
  if [ -n "${testbed:-}" ]; then
    kill -TERM "$testbed" 2>/dev/null || true
    wait "$testbed" 2>/dev/null || true
  fi
  rm -rf "$work"
  exit "$status"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
