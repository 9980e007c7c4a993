#!/usr/bin/env bash
# Measures whole processes side by side: capictl (release build) and the reference clusterctl on the same work.
# Prints the median wall time and the largest resident memory of RUNS runs each; the runs alternate.
#
# usage: benches/compare.sh [RUNS]     default 21
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${1:-21}
clusterctl=$(tests/testbed/build.sh clusterctl)
repository=$(tests/testbed/build.sh repository)
cargo build --release --quiet
capictl=${CARGO_TARGET_DIR:-target}/release/capictl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=v1.14.0
cat >"$work/clusterctl.yaml" <<K
providers:
- {name: cluster-api, type: CoreProvider, url: $repository/cluster-api/$version/core-components.yaml}
- {name: docker, type: InfrastructureProvider, url: $repository/infrastructure-docker/$version/infrastructure-components-development.yaml}
K

measure() { # measure OUT PROGRAM ARGUMENT...: appends "seconds kilobytes"
  local out=$1
  shift
  env -i HOME="$work" PATH=/usr/bin:/bin CLUSTERCTL_DISABLE_VERSIONCHECK=true \
    python3 - "$out" "$@" <<'P'
import os, resource, subprocess, sys, time
started = time.perf_counter()
subprocess.run(sys.argv[2:], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with open(sys.argv[1], "a") as file:
    print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
P
}

compare() { # compare NAME ARGUMENT...
  local name=$1 run
  shift
  rm -f "$work"/{capictl,clusterctl}.figures
  for ((run = 0; run < runs; run++)); do
    measure "$work/capictl.figures" "$capictl" "$@"
    measure "$work/clusterctl.figures" "$clusterctl" "$@"
  done
  python3 - "$name" "$work/capictl.figures" "$work/clusterctl.figures" <<'P'
import statistics, sys
def read(path):
    rows = [tuple(map(float, line.split())) for line in open(path)]
    return statistics.median(row[0] for row in rows) * 1000, max(row[1] for row in rows) / 1000
(ours, our_memory), (theirs, their_memory) = read(sys.argv[2]), read(sys.argv[3])
print(f"{sys.argv[1]:28} capictl {ours:7.1f} ms {our_memory:6.1f} MB   clusterctl {theirs:7.1f} ms {their_memory:6.1f} MB"
      f"   time 1/{theirs / ours:.1f}, memory 1/{their_memory / our_memory:.1f}")
P
}

compare "--help" --help
compare "version" version
compare "config repositories" config repositories --config "$work/clusterctl.yaml"
compare "generate provider --core" generate provider --config "$work/clusterctl.yaml" --core "cluster-api:$version"
compare "generate cluster" generate cluster demo --config "$work/clusterctl.yaml" --target-namespace default \
  --infrastructure "docker:$version" --flavor development --kubernetes-version v1.33.0
