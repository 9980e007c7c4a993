#!/usr/bin/env bash
# Runs the long sweeps whole, of which tests/run.sh runs a sample: `init` killed at every write, faults
# from every write, the Mailgun provider killed sixty times over a hundred objects, downloads that fail or are killed.
# Takes about an hour on two cores. Prints the seed; CAPICTL_SEED repeats a run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests/testbed/build.sh >/dev/null
export CAPICTL_SWEEP=yes CAPICTL_SEED=${CAPICTL_SEED:-$(date +%s)} RUST_BACKTRACE=0
echo "CAPICTL_SEED=$CAPICTL_SEED"
cargo build --quiet --all-targets
cargo test --test repository -- --nocapture cache::
cargo test --test cluster -- --nocapture faults:: mailgun::kills::
