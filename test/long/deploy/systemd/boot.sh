#!/bin/sh
# Becomes a systemd that runs, as process 1 of namespaces of its own, on a copy of this machine's files that nobody else sees:
#   unshare --net --pid --mount --uts --ipc --fork sh boot.sh FOLDER CHECKOUT NODE
# There FOLDER is /srv/page, the checkout /opt/trustflow, and Node a program of everybody's PATH.
set -eu
root=$1/root
mkdir "$root"
mount -t tmpfs tmpfs "$root"
mkdir "$root/changes" "$root/work" "$root/all"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/changes,workdir=$root/work" "$root/all"
root=$root/all
mount -t proc proc "$root/proc"
for shared in sys dev; do mount --rbind "/$shared" "$root/$shared"; done
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/srv/page" "$root/opt/trustflow"
mount --bind "$1/page" "$root/srv/page"
mount --bind "$2" "$root/opt/trustflow"
rm -f "$root/usr/local/bin/node"
cp "$3" "$root/usr/local/bin/node"
# Nothing of this machine's own is started.
rm -rf "$root"/etc/systemd/system/*.wants "$root"/usr/lib/systemd/system/*.wants
cd "$root"
mkdir before
pivot_root . before
cd /
umount -l /before
# As systemd has it on a host: credentials are mounts that the services see too.
mount --make-rshared /
export container=unshare
exec /lib/systemd/systemd --system --unit=basic.target --log-target=console
