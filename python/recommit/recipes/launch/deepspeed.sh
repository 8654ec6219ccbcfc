#!/usr/bin/env bash
# One machine: DATA=folder OUT=run bash deepspeed.sh. Several: HOSTFILE=hostfile besides. CPUs: GPUS=2 starts two ranks.
set -euo pipefail
: "${DATA:?the folder of a data set}" "${OUT:?the folder of the run}"
hosts=()
[ -z "${HOSTFILE:-}" ] || hosts=(--hostfile "$HOSTFILE")
[ -z "${GPUS:-}" ] || hosts+=(--num_gpus "$GPUS")
exec deepspeed "${hosts[@]}" --module recommit.train.sft \
  --recipe "${RECIPE:-qwen2.5-vl-7b}" --data "$DATA" --out "$OUT" --zero "${ZERO:-2}" "$@"
