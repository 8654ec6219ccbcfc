#!/usr/bin/env bash
# One machine: DATA=folder OUT=run bash deepspeed.sh. Several: HOSTFILE=hostfile besides, the same folders on all of them.
# CPUs: GPUS=2 starts two ranks.
# VERB: sft (with DATA; DATA=one:other mixes two data sets) or grpo (with INIT). RECIPE: a name or file; paper-sliding if not
# said. Engine: ZERO=0..3, or DEEPSPEED=zero1, zero2, zero3, these with -offload, or a JSON file. More flags of
# `recommit train` follow the script's name.
set -euo pipefail
verb="${VERB:-sft}"
if [ "$verb" = grpo ]; then
  what=(--init "${INIT:?the run to start from}")
else
  IFS=: read -r -a sets <<< "${DATA:?the folder of a data set}"
  what=(--data "${sets[@]}")
fi
if [ -n "${DEEPSPEED:-}" ]; then
  what+=(--deepspeed "$DEEPSPEED")
else
  what+=(--zero "${ZERO:-2}")
fi
hosts=()
[ -z "${HOSTFILE:-}" ] || hosts=(--hostfile "$HOSTFILE")
[ -z "${GPUS:-}" ] || hosts+=(--num_gpus "$GPUS")
exec deepspeed ${hosts[@]+"${hosts[@]}"} --master_port "${PORT:-29500}" --module "recommit.train.$verb" \
  --recipe "${RECIPE:-paper-sliding}" "${what[@]}" --out "${OUT:?the folder of the run}" "$@"
