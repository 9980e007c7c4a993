#!/usr/bin/env bash
# Measures whole processes side by side: capictl (release build) and the reference clusterctl on the same work, by turns.
#
# usage: benches/compare.sh [RUNS]     default 41
#
# CAPICTL names another binary than that of this checkout, which is built otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${1:-41}
clusterctl=$(tests/testbed/build.sh clusterctl)
repository=$(tests/testbed/build.sh repository)
if [ -z "${CAPICTL:-}" ]; then
  cargo build --release --quiet
  CAPICTL=${CARGO_TARGET_DIR:-target}/release/capictl
fi
capictl=$(realpath "$CAPICTL")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd benches && GOWORK=off GOFLAGS=-mod=readonly go build -o "$work/compare" ./compare)

version=v1.14.0
# A template as long as published ones, from Cluster API's end-to-end tests.
tests=$(cd tests/testbed/cluster-api && GOWORK=off go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/cluster-api/test)
for part in cluster-with-kcp cluster-with-topology md crs; do
  echo ---
  cat "$tests/e2e/data/infrastructure-docker/main/bases/$part.yaml"
done >"$work/template.yaml"
cat >"$work/clusterctl.yaml" <<K
providers:
- {name: cluster-api, type: CoreProvider, url: $repository/cluster-api/$version/core-components.yaml}
- {name: docker, type: InfrastructureProvider, url: $repository/infrastructure-docker/$version/infrastructure-components-development.yaml}
CNI_RESOURCES: "{cni.yaml: text}"
DOCKER_POD_CIDRS: 192.168.0.0/16
DOCKER_SERVICE_CIDRS: 10.128.0.0/12
DOCKER_SERVICE_DOMAIN: cluster.local
K

compare() { # compare NAME ARGUMENT...
  echo "$1"
  shift
  env -i HOME="$work" PATH=/usr/bin:/bin CLUSTERCTL_DISABLE_VERSIONCHECK=true \
    "$work/compare" "$runs" "$capictl" "$clusterctl" "$@"
}

config=(--config "$work/clusterctl.yaml")
compare "--help" --help
compare "version" version
compare "config repositories" config repositories "${config[@]}"
compare "generate provider --core" generate provider "${config[@]}" --core "cluster-api:$version"
compare "generate cluster --from, $(wc -l <"$work/template.yaml") lines" generate cluster demo "${config[@]}" \
  --target-namespace default --kubernetes-version v1.33.0 --from "$work/template.yaml"
compare "generate cluster --infrastructure" generate cluster demo "${config[@]}" --target-namespace default \
  --infrastructure "docker:$version" --flavor development --kubernetes-version v1.33.0
