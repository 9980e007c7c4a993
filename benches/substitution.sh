#!/usr/bin/env bash
# Measures substitution, library to library: capictl's (parse and render) beside github.com/drone/envsubst/v2 (parse and
# execute) and beside all that clusterctl does with a template; then capictl alone by size and by depth of nesting.
# The programs take turns. Shown are median wall times and mean processor times, Go's garbage collector included, each
# of the best round, which other work on the machine disturbed least. Both must give the same text.
#
# usage: benches/substitution.sh [ROUNDS [SECONDS]]     default 5 rounds of 1 second each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=${1:-5} seconds=${2:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}/benches
cargo build --quiet --release --locked --manifest-path benches/substitution/Cargo.toml --target-dir "$target"
ours=$(realpath "$target")/release/substitution
(cd benches && GOWORK=off GOFLAGS=-mod=readonly go build -o "$work/theirs" ./substitution)

declare -A lines
measure() { # measure KEY COMMAND...: appends a line of figures to lines[KEY]
  local key=$1
  shift
  lines[$key]+="$("$@" "$work/template" "$seconds" <"$work/values")"$'\n'
}
best() { # best KEY: wall and processor time, microseconds, and the digest
  printf '%s' "${lines[$1]}" | awk '
    NR == 1 || $2 < wall { wall = $2 }
    NR == 1 || $3 < processor { processor = $3 }
    { digest = $4 }
    END { printf "%.1f %.1f %s\n", wall / 1000, processor / 1000, digest }'
}

compare() { # compare NAME: of $work/template
  local round
  lines=()
  "$ours" values "$work/template" >"$work/values"
  for ((round = 0; round < rounds; round++)); do
    measure ours "$ours" measure
    measure library "$work/theirs" library
    measure pipeline "$work/theirs" pipeline
  done
  { best ours; best library; best pipeline; } | awk -v name="$1" -v bytes="$(wc -c <"$work/template")" '
    { wall[NR] = $1; processor[NR] = $2; digest[NR] = $3 }
    END {
      if (digest[1] != digest[2] || digest[1] != digest[3]) { print name ": the results differ"; exit 1 }
      printf "%-26s capictl %9.1f us (cpu %9.1f, %5.0f MB/s)   envsubst %9.1f us (cpu %9.1f), %5.1f times   clusterctl %9.1f us (cpu %9.1f), %5.1f times\n",
        name, wall[1], processor[1], bytes / wall[1], wall[2], processor[2], wall[2] / wall[1], wall[3], processor[3], wall[3] / wall[1]
    }'
}

for kind in references escapes plain; do
  "$ours" make $kind 2000 >"$work/template"
  compare "1 MiB, $kind"
done
end_to_end=$(cd tests/testbed/cluster-api && GOWORK=off go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/cluster-api/test)/e2e
for part in cluster-with-kcp md mp crs; do
  cat "$end_to_end/data/infrastructure-docker/main/bases/$part.yaml"
done >"$work/template"
compare "real, $(wc -l <"$work/template") lines"

alone() { # alone NAME UNITS: of $work/template
  local round
  lines=()
  "$ours" values "$work/template" >"$work/values"
  for ((round = 0; round < rounds; round++)); do measure ours "$ours" measure; done
  best ours | awk -v name="$1" -v units="$2" '{ printf "%-26s %9.1f us (cpu %9.1f), %.3f us each\n", name, $1, $2, $1 / units }'
}
echo
for mib in 1 2 4 8; do
  "$ours" make references $((2000 * mib)) >"$work/template"
  alone "$mib MiB, references" $((2000 * mib))
done
for depth in 1000 4000 16000 64000; do
  "$ours" make nested $depth >"$work/template"
  alone "$depth in one another" $depth
done
