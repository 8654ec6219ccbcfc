#!/usr/bin/env bash
# On every machine: DATA=folder OUT=run NODES=2 NODE=0 MASTER=host GPUS=8 bash torchrun.sh (NODE counts from 0).
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
exec torchrun --nnodes "${NODES:-1}" --node_rank "${NODE:-0}" --nproc_per_node "${GPUS:-1}" \
  --master_addr "${MASTER:-127.0.0.1}" --master_port "${PORT:-29500}" -m "recommit.train.$verb" \
  --recipe "${RECIPE:-paper-sliding}" "${what[@]}" --out "${OUT:?the folder of the run}" "$@"
