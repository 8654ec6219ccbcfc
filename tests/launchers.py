"""Programs that stand in for those of a cluster: they start real ranks, on this machine alone."""

from __future__ import annotations

#: ``srun``: as many local ranks as ``--ntasks`` or the job says, told who they are as SLURM does.
_SRUN = """#!/bin/sh
tasks=$SLURM_NTASKS
while :; do
  case "$1" in
    --ntasks) tasks=$2; shift 2 ;;
    --*=*) shift ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
echo "srun $tasks"
rank=0 ranks=
while [ "$rank" -lt "$tasks" ]; do
  SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_NTASKS=$tasks "$@" &
  ranks="$ranks $!" rank=$((rank + 1))
done
status=0
for one in $ranks; do wait "$one" || status=$?; done
exit "$status"
"""
#: The one host of a SLURM job.
_SCONTROL = "#!/bin/sh\necho 127.0.0.1\n"
#: ``ssh HOST hostname -I`` says where this machine is; anything else only shows that the host can be reached.
_SSH = '#!/bin/sh\nfor last; do :; done\n[ "$last" != -I ] || echo 127.0.0.1\n'
#: ``pdsh -S -f N -w HOSTS COMMAND``: on every host, which are all this one, with ``%n`` its number. It ends nobody.
_PDSH = """#!/bin/sh
shift 4
hosts=$(echo "$1" | tr , " ")
shift
case "$*" in pkill*) exit 0 ;; esac
node=0 nodes=
for host in $hosts; do
  echo "$host is node $node"
  sh -c "$(echo "$*" | sed "s/%n/$node/")" &
  nodes="$nodes $!" node=$((node + 1))
done
status=0
for one in $nodes; do wait "$one" || status=$?; done
exit "$status"
"""
PROGRAMS = {"srun": _SRUN, "scontrol": _SCONTROL, "ssh": _SSH, "pdsh": _PDSH}


def cluster(folder, environment):
    """The environment with these programs first on its PATH."""
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {**environment, "PATH": f"{folder}:{environment['PATH']}"}
