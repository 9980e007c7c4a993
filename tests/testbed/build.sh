#!/usr/bin/env bash
# Builds what the tests and the demo run, from the Go modules that the go.mod files beside this script name.
#
# usage: build.sh [NAME...]
#   NAME   etcd, kube-apiserver, kube-controller-manager, kubectl, clusterctl, core, kubeadm-bootstrap,
#          kubeadm-control-plane, capd, or repository (the release files of the four providers);
#          without a name: all of them
#
# Everything goes to ${CAPICTL_TESTBED:-${XDG_CACHE_HOME:-~/.cache}/capictl-testbed}, into a folder per module and
# version. What is there and was made from the same go.mod, go.sum and flags is left alone. Progress goes to stderr,
# the path of each NAME to stdout. etcd and kube-apiserver are taken from KUBEBUILDER_ASSETS if that is set.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${CAPICTL_TESTBED:-${XDG_CACHE_HOME:-$HOME/.cache}/capictl-testbed}
everything=(etcd kube-apiserver kube-controller-manager kubectl clusterctl core kubeadm-bootstrap
  kubeadm-control-plane capd repository)

say() { echo "build.sh: $*" >&2; }
fail() {
  say "$1"
  shift
  for hint; do echo "hint: $hint" >&2; done
  exit 1
}

# Sets, for a NAME: folder (with its go.mod), module (whose version counts), package (what to compile) and
# version_package (the package of that version, for the linker; etcd knows its version itself).
find_recipe() {
  case $1 in
    etcd)
      folder=etcd module=go.etcd.io/etcd/server/v3 package=$module version_package= ;;
    kube-apiserver | kube-controller-manager | kubectl)
      folder=kubernetes module=k8s.io/kubernetes package=$module/cmd/$1
      version_package=k8s.io/component-base/version ;;
    clusterctl | core | kubeadm-bootstrap | kubeadm-control-plane | capd | repository)
      folder=cluster-api module=sigs.k8s.io/cluster-api version_package=$module/version
      case $1 in
        clusterctl) package=$module/cmd/clusterctl ;;
        core) package=$module/core ;;
        kubeadm-bootstrap) package=$module/bootstrap/kubeadm ;;
        kubeadm-control-plane) package=$module/controlplane/kubeadm ;;
        capd) package=$module/test/infrastructure/docker ;;
        repository) package= ;;
      esac ;;
    *)
      fail "nothing here is named \`$1\`" "the names are ${everything[*]}" ;;
  esac
  version=$(awk -v module="$module" '{ sub(/^require /, "") } $1 == module { print $2; exit }' "$here/$folder/go.mod")
  [ -n "$version" ] || fail "\`$here/$folder/go.mod\` requires no version of \`$module\`"
  target=$cache/$folder-$version/$1
}

# The linker stamps the version: clusterctl refuses servers whose version it cannot read.
list_linker_flags() {
  local flags="-s -w" major minor
  if [ -n "$version_package" ]; then
    IFS=. read -r major minor _ <<<"${version#v}"
    flags+=" -X $version_package.gitVersion=$version"
    flags+=" -X $version_package.gitMajor=$major -X $version_package.gitMinor=$minor"
  fi
  echo "$flags"
}

# What a target is made of, as one line: two equal lines, two equal targets. The Go version is left out on purpose,
# so that a patch release of Go does not cost seven minutes.
fingerprint() { # fingerprint RECIPE
  { echo "$1"; cat "$here/$folder/go.mod" "$here/$folder/go.sum"; } | cksum
}

is_current() { # is_current FINGERPRINT
  [ -e "$target" ] && [ "$(cat "$target.made-from" 2>/dev/null)" = "$1" ]
}

ensure_tools() {
  local tool
  for tool in flock awk sed cksum; do
    command -v "$tool" >/dev/null ||
      fail "\`$tool\` is not on PATH, this script needs it" "it belongs to util-linux, coreutils, awk or sed: install it with your system's packages"
  done
}

# Asks in the module's folder, where Go may fetch the toolchain that go.mod demands, if its settings allow it.
ensure_go() {
  local need have
  need=$(awk '$1 == "go" { print $2; exit }' "$here/$folder/go.mod")
  command -v go >/dev/null ||
    fail "\`go\` is not on PATH; Go $need or newer builds the test-bed's control plane and managers" \
      "install it from your system's packages or https://go.dev/dl and put its \`bin\` on PATH"
  have=$(cd "$here/$folder" && GOWORK=off go env GOVERSION) || fail "\`go env\` failed in \`$here/$folder\`, see above"
  have=${have#go} have=${have%%[- ]*}
  [ "$(printf '%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ] ||
    fail "Go $need or newer is needed for \`$folder/go.mod\`, this is Go $have" \
      "install a newer Go from https://go.dev/dl, or let Go fetch one: \`export GOTOOLCHAIN=auto\`"
}

# Runs Go on the module in $folder, whatever workspace or flags the user has set.
go_here() { (cd "$here/$folder" && GOWORK=off GOFLAGS=-mod=readonly go "$@"); }

seconds_since() { awk -v ns="$(($(date +%s%N) - $1))" 'BEGIN { printf "%.1f", ns / 1e9 }'; }

build_binary() { # build_binary NAME
  local flags made_from started
  flags=$(list_linker_flags)
  made_from=$(fingerprint "$package $flags")
  if is_current "$made_from"; then
    say "$1 $version is there"
    return
  fi
  ensure_go
  say "$1 $version: building, cold this takes up to three minutes"
  started=$(date +%s%N)
  mkdir -p "$(dirname "$target")"
  go_here build -buildvcs=false -ldflags "$flags" -o "$target.new" "$package" ||
    fail "$1 $version could not be built, Go says why above" \
      "without network Go needs the modules in its cache; GOPROXY names another source of modules"
  rm -f "$target.made-from"
  mv "$target.new" "$target" # a running copy keeps its file
  echo "$made_from" >"$target.made-from"
  say "$1 $version: built in $(seconds_since "$started") s, $(($(wc -c <"$target") / 1000000)) MB"
}

# Where Go keeps the source of a module; fetches it if need be.
module_folder() { # module_folder MODULE
  local found
  go_here mod download "$1"
  found=$(go_here list -m -f '{{.Dir}}' "$1")
  [ -d "$found" ] || fail "Go has no source of module \`$1\`"
  echo "$found"
}

# Renders one provider's manifest as its release does: the image of that registry and version, no image pull when the
# node has it. Works on a copy, since Go's module cache is read-only.
render_components() { # render_components SOURCE REGISTRY FILE
  local copy
  copy=$(mktemp -d)
  cp -R "$1/config" "$copy/"
  chmod -R u+w "$copy"
  sed -i -E "s|(image:) .*/([^/:]+):[^:]*$|\1 $2/\2:$version|" "$copy/config/default/manager_image_patch.yaml"
  sed -i -E "s|(imagePullPolicy:) .*|\1 IfNotPresent|" "$copy/config/default/manager_pull_policy.yaml"
  "$kubectl" kustomize "$copy/config/default" >"$3"
  rm -rf "$copy"
  grep -q "image: $2/.*:$version\$" "$3" || fail "\`$3\` does not name an image of $2 with tag $version"
}

# Lays out a provider repository as `clusterctl` reads it: LABEL/VERSION/FILE.
build_repository() {
  local made_from source test_source new label release
  made_from=$(fingerprint "$(sed -n '/^render_components/,/^}/p; /^build_repository/,/^}/p' "${BASH_SOURCE[0]}" | cksum)")
  if is_current "$made_from"; then
    say "repository $version is there"
    return
  fi
  ensure_go
  source=$(module_folder sigs.k8s.io/cluster-api)
  test_source=$(module_folder sigs.k8s.io/cluster-api/test)/infrastructure/docker # a module of its own
  new=$target.new
  rm -rf "$new"
  for label in cluster-api bootstrap-kubeadm control-plane-kubeadm infrastructure-docker; do
    mkdir -p "$new/$label/$version"
    cp "$source/metadata.yaml" "$new/$label/$version/"
  done
  release=registry.k8s.io/cluster-api
  render_components "$source/core" $release "$new/cluster-api/$version/core-components.yaml"
  render_components "$source/bootstrap/kubeadm" $release "$new/bootstrap-kubeadm/$version/bootstrap-components.yaml"
  render_components "$source/controlplane/kubeadm" $release \
    "$new/control-plane-kubeadm/$version/control-plane-components.yaml"
  # The docker provider is meant for development: its release names the staging registry.
  render_components "$test_source" gcr.io/k8s-staging-cluster-api \
    "$new/infrastructure-docker/$version/infrastructure-components-development.yaml"
  cp "$test_source"/templates/*.yaml "$new/infrastructure-docker/$version/"
  chmod -R u+w "$new"
  rm -rf "$target" "$target.made-from"
  mv "$new" "$target"
  echo "$made_from" >"$target.made-from"
  say "repository $version: made"
}

# Prints the path of NAME in KUBEBUILDER_ASSETS, the folder that other Kubernetes test tools share; fails if NAME does
# not come from there.
find_asset() { # find_asset NAME
  [ -n "${KUBEBUILDER_ASSETS:-}" ] || return 1
  case $1 in etcd | kube-apiserver) echo "$KUBEBUILDER_ASSETS/$1" ;; *) return 1 ;; esac
}

ensure_built() { # ensure_built NAME
  local asset
  if asset=$(find_asset "$1"); then
    [ -x "$asset" ] || fail "KUBEBUILDER_ASSETS is set, but \`$asset\` is no program" "unset KUBEBUILDER_ASSETS to build it here"
    say "$1 comes from KUBEBUILDER_ASSETS"
    target=$asset
    return
  fi
  find_recipe "$1"
  case $1 in
    repository) build_repository ;;
    *) build_binary "$1" ;;
  esac
}

case ${1:-} in -h | --help) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- && exit ;; esac
[ $# -gt 0 ] || set -- "${everything[@]}"
for name; do find_recipe "$name"; done
ensure_tools
mkdir -p "$cache"
exec 9>"$cache/.lock"
if ! flock --nonblock 9; then
  say "another build is running, waiting for it"
  flock 9
fi
for name; do
  if [ "$name" = repository ]; then # kubectl is what renders it
    ensure_built kubectl
    kubectl=$target
  fi
  ensure_built "$name"
  echo "$target"
done
