#!/usr/bin/env bash
# Builds the image of deploy/Dockerfile where no registry can be reached, and serves an empty site with it.
#
#     tools/image.sh FOLDER
#
# FOLDER is new and has room for 10 GB. Debian's debootstrap makes the base, buildah the image, podman runs it; all three
# and runc are Debian's packages, and root is needed. MIRROR is where Debian comes from, if not from where debootstrap
# looks by itself; MOUNTS are folders and files of this machine that the build may read, such as a mirror of Python
# packages and the pip.conf that names it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?"say in which folder"}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export STORAGE_DRIVER=vfs
storage=(--root "$folder/storage" --runroot "$folder/run")

if ! buildah "${storage[@]}" inspect --type image billboards-base >/dev/null 2>&1; then
  [ -e "$folder/base/usr/bin/python3" ] || debootstrap --variant=minbase \
    --include=python3,python3-venv,python3-dev,ca-certificates bookworm "$folder/base" ${MIRROR:+"$MIRROR"}
  ln -sf python3 "$folder/base/usr/bin/python"
  made=$(buildah "${storage[@]}" from scratch)
  cp -a "$folder/base/." "$(buildah "${storage[@]}" mount "$made")/"
  buildah "${storage[@]}" umount "$made" >/dev/null
  buildah "${storage[@]}" commit --quiet --rm "$made" billboards-base
fi

mounts=()
for place in ${MOUNTS:-}; do mounts+=(--volume "$place:$place:ro"); done
buildah "${storage[@]}" bud --isolation chroot --network host "${mounts[@]}" --build-arg BASE=localhost/billboards-base \
  --file deploy/Dockerfile --ignorefile deploy/Dockerfile.dockerignore --tag billboards .

# As nobody of this machine, without its network: what it is asked is asked inside.
run=(podman --runtime runc --cgroup-manager=cgroupfs "${storage[@]}" run --rm --network none)
run+=(--ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --entrypoint /bin/sh billboards -c)
"${run[@]}" 'billboards --version && id -un'
"${run[@]}" '
  place=$(mktemp -d)
  billboards serve "$place/site" --host 127.0.0.1 --port 8000 >"$place/log" 2>&1 &
  for _ in $(seq 300); do
    python -c "import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:8000/ready\").read().decode())" 2>/dev/null && exit 0
    sleep 1
  done
  cat "$place/log"; exit 1'
