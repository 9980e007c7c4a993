#!/usr/bin/env bash
# Measures `generate provider` of a release on a web server on this machine: with an empty cache, with a full one, and offline.
# Prints the shortest and the median wall time of RUNS runs each, and the requests that the server saw.
#
# usage: benches/releases.sh [RUNS]     default 21
#
# CAPICTL names another binary than that of this checkout, which is built otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${1:-21}
repository=$(tests/testbed/build.sh repository)
if [ -z "${CAPICTL:-}" ]; then
  cargo build --release --quiet
  CAPICTL=${CARGO_TARGET_DIR:-target}/release/capictl
fi
capictl=$(realpath "$CAPICTL")
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT

python3 -u -m http.server --bind 127.0.0.1 --directory "$repository" 0 >"$work/address" 2>"$work/requests" &
server=$!
until grep -q port "$work/address"; do sleep 0.1; done
port=$(sed 's/.*port \([0-9]*\).*/\1/' "$work/address")
version=$(basename "$(echo "$repository"/cluster-api/v*)")
cat >"$work/clusterctl.yaml" <<K
providers:
- {name: cluster-api, type: CoreProvider, url: "http://127.0.0.1:$port/cluster-api/$version/core-components.yaml"}
K

measure() { # measure NAME ARGUMENT...: BEFORE is run before each run
  local name=$1 run requests
  shift
  requests=$(wc -l <"$work/requests")
  : >"$work/figures"
  for ((run = 0; run < runs; run++)); do
    $BEFORE
    local begun=$EPOCHREALTIME
    env -i HOME="$work" "$capictl" generate provider --core "cluster-api:$version" --config "$work/clusterctl.yaml" "$@" >/dev/null
    echo "$begun $EPOCHREALTIME" >>"$work/figures"
  done
  requests=$(($(wc -l <"$work/requests") - requests))
  awk '{ print ($2 - $1) * 1000 }' "$work/figures" | sort -n |
    awk -v name="$name" -v requests=$((requests / runs)) '{ t[NR] = $1 }
      END { printf "%-14s shortest %6.1f ms   median %6.1f ms   %d requests a run\n", name, t[1], t[int((NR + 1) / 2)], requests }'
}

empty() { rm -rf "$work/.cache"; }
BEFORE=empty measure "empty cache"
BEFORE=true measure "full cache"
BEFORE=true measure "offline" --offline
