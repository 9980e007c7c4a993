#!/usr/bin/env bash
# Measures `capictl run-local` (release build) with many MailgunClusters and a Mailgun that answers in 50 ms: seconds until
# all mails are sent, resident memory, requests to the API server per object, processor time when there is nothing to do.
#
# usage: benches/run-local.sh [COUNT [CONCURRENCY]]     default 1000 32
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=${1:-1000} concurrency=${2:-32}
tests/testbed/build.sh >/dev/null
cargo build --quiet --release --bin capictl
cargo build --quiet --example testbed --example mailgun
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
capictl=$target/release/capictl
work=$(mktemp -d "${TMPDIR:-/tmp}/capictl-bench.XXXXXX")
started=()
clean_up() {
  kill "${started[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

mkfifo "$work/ready" "$work/mailgun" "$work/open"
exec 9<>"$work/open" # standard input that does not end
"$target/debug/examples/testbed" up --dir "$work/cluster" >"$work/ready" 2>"$work/testbed.log" <&9 &
started+=($!)
read -r KUBECONFIG <"$work/ready"
"$target/debug/examples/mailgun" --domain mail.example --key bench-key --delay 50 >"$work/mailgun" 2>&1 <&9 &
started+=($!)
exec 8<"$work/mailgun"
read -r MAILGUN_API_BASE <&8
cat <&8 >/dev/null & # a line for each mail
started+=($!)
export KUBECONFIG MAILGUN_API_BASE MAILGUN_DOMAIN=mail.example MAILGUN_API_KEY=bench-key MAIL_RECIPIENT=to@mail.example
command -v kubectl >/dev/null || PATH=$PATH:$(dirname "$(tests/testbed/build.sh kubectl 2>/dev/null)")

"$capictl" generate provider --infrastructure mailgun >"$work/components.yaml"
awk 'BEGIN { RS = "---\n" } /kind: (CustomResourceDefinition|Namespace)\n/ { print "---\n" $0 }' "$work/components.yaml" |
  kubectl apply --filename - >/dev/null
kubectl wait --for=condition=Established crd/mailgunclusters.infrastructure.cluster.x-k8s.io >/dev/null
for ((i = 0; i < count; i++)); do
  printf -- '---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: MailgunCluster\nmetadata: {name: m-%d, namespace: default}\nspec: {priority: Urgent, request: "number %d", requester: mail.example}\n' $i $i
done | kubectl create --filename - >/dev/null

port=$((20000 + RANDOM % 20000))
from=$(date +%s%N)
"$capictl" run-local --allow-orphan --concurrency "$concurrency" --metrics-bind-address "127.0.0.1:$port" \
  --health-probe-bind-address 0 >"$work/log" 2>&1 &
manager=$!
started+=($manager)
metric() { curl -sf --noproxy '*' "http://127.0.0.1:$port/metrics" | awk -v name="$1" 'index($0, name) == 1 { sum += $NF } END { print sum + 0 }'; }
until [ "$(metric 'capictl_mailgun_outbox_objects{state="sent"}')" = "$count" ]; do
  kill -0 $manager || { tail -n 5 "$work/log"; exit 1; }
  sleep 0.2 # asking all the time would take the processor from those who work
done
awk -v ns=$(($(date +%s%N) - from)) -v count="$count" -v workers="$concurrency" \
  'BEGIN { printf "%d mails sent and recorded in %.1f s with --concurrency %d\n", count, ns / 1e9, workers }'
awk '/^VmRSS/ { printf "resident memory %.1f MB\n", $2 / 1000 }' "/proc/$manager/status"
for method in GET PATCH POST; do
  echo "$method requests per object: $(awk -v n="$(curl -sf --noproxy '*' "http://127.0.0.1:$port/metrics" |
    awk -v m="method=\"$method\"" '/^rest_client_requests_total/ && index($0, m) { sum += $NF } END { print sum + 0 }')" -v c="$count" 'BEGIN { printf "%.2f", n / c }')"
done
ticks() { awk '{ print $14 + $15 }' "/proc/$manager/stat"; }
before=$(ticks)
sleep 30
awk -v ticks=$(($(ticks) - before)) 'BEGIN { printf "idle: %.2f %% of one processor over 30 s\n", ticks / 30 }'
