#!/usr/bin/env bash
# Shows capictl's main job on a real, throw-away management cluster: install Cluster API, render a cluster, watch it
# come up; then the Mailgun provider, run on this machine against a stand-in of Mailgun. Prints each command before it
# runs it, so that you could have typed it.
#
# usage: tests/demo.sh [--keep]
#   --keep   leaves the management cluster running, and prints the KUBECONFIG to use and how to end it
#
# The first run builds the control plane and the Cluster API managers from their Go modules (about 7 minutes on two
# cores) and capictl itself; later ones take about two minutes. Nothing is left outside the cache and temporary folders.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "demo.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

keep=
case ${1:-} in
  '') ;;
  --keep) keep=yes ;;
  -h | --help) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- && exit ;;
  *) fail "unknown option \`$1\`" "tests/demo.sh [--keep]" ;;
esac

title() { printf '\n# %s\n' "$*"; }
say() { printf '$ %s\n' "$*"; }
run() { # prints the command as one would type it, then runs it
  say "$@"
  "$@"
}
seconds() { awk -v ns=$(($(date +%s%N) - $1)) 'BEGIN { printf "%.1f s", ns / 1e9 }'; }

# Ends what was started, whatever ends the script.
clean_up() {
  local status=$?
  trap - EXIT
  trap '' INT TERM
  local process
  for process in "${watcher:-}" "${manager:-}" "${mailgun:-}" "${testbed:-}"; do
    [ -n "$process" ] || continue
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  [ -z "${work:-}" ] || rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

command -v cargo >/dev/null || fail "\`cargo\` is not on PATH, capictl is built with it" "install Rust from https://rustup.rs"
title "Building the test-bed and capictl, what is missing of them"
tests/testbed/build.sh >/dev/null
cargo build --quiet --bin capictl --example testbed --example mailgun
programs=$(cd "${CARGO_TARGET_DIR:-target}/debug" && pwd)

started=$(date +%s%N)
work=$(mktemp -d "${TMPDIR:-/tmp}/capictl-demo.XXXXXX")
title "Starting a management cluster: etcd, kube-apiserver, and the Cluster API managers once they are installed"
mkfifo "$work/ready"
setsid "$programs/examples/testbed" up --dir "$work/cluster" --run core,kubeadm-bootstrap,kubeadm-control-plane,capd \
  >"$work/ready" 2>"$work/testbed.log" </dev/null &
testbed=$!
read -r kubeconfig <"$work/ready" || fail "the management cluster did not start: $(tail -n 1 "$work/testbed.log")" \
  "its logs are gone with it; run \`cargo run --example testbed -- up --dir DIR\` to keep them"
mkdir -p "$work/config/cluster-api"
mv "$work/cluster/clusterctl.yaml" "$work/config/cluster-api/"
export KUBECONFIG=$kubeconfig XDG_CONFIG_HOME=$work/config
say export KUBECONFIG="$KUBECONFIG"
say export XDG_CONFIG_HOME="$XDG_CONFIG_HOME" "  # its cluster-api/clusterctl.yaml names a local provider repository"
export CLUSTER_TOPOLOGY=true # a variable of Cluster API's components: allow ClusterClasses
say export CLUSTER_TOPOLOGY=true
PATH=$programs:$PATH
command -v kubectl >/dev/null || PATH=$PATH:$(dirname "$(tests/testbed/build.sh kubectl 2>/dev/null)")

title "Starting a stand-in of Mailgun, which takes mails and sends none on"
mkfifo "$work/mailgun"
setsid "$programs/examples/mailgun" --domain mail.example --key demo-key >"$work/mailgun" 2>&1 </dev/null &
mailgun=$!
exec 8<"$work/mailgun"
read -r MAILGUN_API_BASE <&8
MAILGUN_API_BASE=${MAILGUN_API_BASE##* }
export MAILGUN_API_BASE MAILGUN_DOMAIN=mail.example MAILGUN_API_KEY=demo-key MAIL_RECIPIENT=you@mail.example
for name in MAILGUN_API_BASE MAILGUN_DOMAIN MAILGUN_API_KEY MAIL_RECIPIENT; do say export "$name=${!name}"; done

title "Installing Cluster API, with the in-memory provider and the Mailgun provider"
run capictl init --infrastructure docker,mailgun --wait-providers

title "Rendering a cluster whose machines exist in memory only, and creating it"
say "capictl generate cluster demo --infrastructure docker --flavor in-memory --kubernetes-version v1.33.0 --worker-machine-count 2 >cluster.yaml"
cd "$work"
capictl generate cluster demo --infrastructure docker --flavor in-memory --kubernetes-version v1.33.0 --worker-machine-count 2 >cluster.yaml
run kubectl apply -f cluster.yaml

title "Following it"
columns=custom-columns=MACHINE:.metadata.name,PHASE:.status.phase
say "kubectl get machines --watch --output $columns | awk '!seen[\$0]++ { print; fflush() }' &"
kubectl get machines --watch --output "$columns" 2>/dev/null > >(awk '!seen[$0]++ { print; fflush() }') &
watcher=$!
run kubectl wait --for=condition=Available cluster/demo --timeout=240s
kill "$watcher" 2>/dev/null || true
wait "$watcher" 2>/dev/null || true
watcher=
run kubectl get clusters,machines

title "Asking a person for a cluster: one MailgunCluster, one mail"
say "capictl run-local &"
capictl run-local --metrics-bind-address 0 --health-probe-bind-address 0 >"$work/run-local.log" 2>&1 &
manager=$!
export MAILGUN_PRIORITY=ExtremelyUrgent MAILGUN_REQUESTER=mail.example MAILGUN_REQUEST="Please make me a cluster, with sugar on top?"
say "capictl generate cluster hello-mailgun --infrastructure mailgun | kubectl apply -f -"
capictl generate cluster hello-mailgun --infrastructure mailgun | kubectl apply -f -
run kubectl wait --for=condition=InfrastructureReady cluster/hello-mailgun --timeout=120s
run kubectl get mailguncluster hello-mailgun --output wide
run kubectl get mailguncluster hello-mailgun --output "jsonpath={.status.response}{'\n'}"
say "# what the stand-in of Mailgun received:"
read -r -t 10 mail <&8 && echo "$mail"
kill -INT "$manager" && wait "$manager" 2>/dev/null || true
manager=
run kubectl get providers.clusterctl.cluster.x-k8s.io --all-namespaces
title "Done in $(seconds "$started")"

if [ -n "$keep" ]; then
  cat <<K

The management cluster goes on running. To use it:
  export KUBECONFIG=$KUBECONFIG XDG_CONFIG_HOME=$XDG_CONFIG_HOME PATH=$programs:\$PATH
To end it:
  kill $testbed && rm -rf $work
K
  testbed='' work='' # kept
fi
