#!/usr/bin/env bash
# On every machine: DATA=folder OUT=run NODES=2 NODE=0 MASTER=host GPUS=8 bash torchrun.sh (NODE counts from 0).
set -euo pipefail
: "${DATA:?the folder of a data set}" "${OUT:?the folder of the run}"
exec torchrun --nnodes "${NODES:-1}" --node_rank "${NODE:-0}" --nproc_per_node "${GPUS:-1}" \
  --master_addr "${MASTER:-127.0.0.1}" --master_port "${PORT:-29500}" -m recommit.train.sft \
  --recipe "${RECIPE:-qwen2.5-vl-7b}" --data "$DATA" --out "$OUT" --zero "${ZERO:-2}" "$@"
