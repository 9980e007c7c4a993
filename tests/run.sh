#!/usr/bin/env bash
# Runs every check and every test: format, clippy, unit tests, the binary alone, and on real control planes.
#
# usage: tests/run.sh
#   CAPICTL_CORPUS, CAPICTL_CONFORMANCE   folders with more provider releases and recorded cases (optional)
#   CAPICTL_SEED                          seed of the random samples; printed, so that a run can be repeated
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "run.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}
step() {
  local started=$SECONDS
  printf '\n== %s\n' "$1"
  shift
  "$@"
  printf '== %s s\n' $((SECONDS - started))
}

command -v cargo >/dev/null || fail "\`cargo\` is not on PATH, capictl is built with it" "install Rust from https://rustup.rs"
for component in fmt clippy; do
  cargo "$component" --version >/dev/null 2>&1 || fail "\`cargo $component\` is missing" "rustup component add ${component/fmt/rustfmt}"
done
# A failing test should be readable; its own message says more than a backtrace.
export RUST_BACKTRACE=0
# The shells that completion is tested in, at a pseudo-terminal.
missing=()
for shell in bash zsh fish; do command -v "$shell" >/dev/null || missing+=("$shell"); done
if ((${#missing[@]})); then
  if command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
    step "list of packages" apt-get update --quiet
    step "install: ${missing[*]}" apt-get install --yes --quiet "${missing[@]}"
  else
    fail "completion is tested in shells that are missing: ${missing[*]}" "sudo apt-get install ${missing[*]}, or brew install ${missing[*]}"
  fi
fi
export CAPICTL_SEED=${CAPICTL_SEED:-$(date +%s)}
echo "CAPICTL_SEED=$CAPICTL_SEED"

step "test-bed: etcd, kube-apiserver, Cluster API managers, clusterctl" tests/testbed/build.sh
step "format" cargo fmt --check
step "clippy" cargo clippy --all-targets --quiet -- -D warnings
step "build" cargo build --all-targets --quiet
step "tests" cargo test --no-fail-fast
