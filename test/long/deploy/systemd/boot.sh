#!/bin/sh
# Boots a systemd beside this machine's processes: it has control groups, processes, mounts, devices, a name and a network of its own,
# and writes into FOLDER alone. sh boot.sh FOLDER TRUSTFLOW NODE PROGRAM: PROGRAM is systemd, or one that says whether it could start.
set -eu
if [ $$ != 1 ]; then
  for kind in pids memory devices systemd unified; do
    group=/sys/fs/cgroup/$kind/$(basename "$1")
    mkdir -p "$group"
    echo $$ > "$group/cgroup.procs"
  done
  exec unshare --cgroup --net --pid --mount --uts --ipc --fork --kill-child sh "$0" "$@"
fi

root=$1/root
mkdir -p "$root"
mount -t tmpfs tmpfs "$root"
mkdir "$root/changes" "$root/work" "$root/all"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/changes,workdir=$root/work" "$root/all"
root=$root/all
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
for kind in pids memory devices; do
  mkdir "$root/sys/fs/cgroup/$kind"
  mount -t cgroup -o $kind cgroup "$root/sys/fs/cgroup/$kind"
done
mkdir "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
mount -t cgroup -o none,name=systemd systemd "$root/sys/fs/cgroup/systemd"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir -p "$root/srv/page" "$root/opt/trustflow" "$1/page"
mount --bind "$1/page" "$root/srv/page"
mount --bind "$2" "$root/opt/trustflow"
rm -f "$root/usr/local/bin/node"
cp "$3" "$root/usr/local/bin/node"
# Of this machine's own services none.
rm -rf "$root"/etc/systemd/system/*.wants "$root"/usr/lib/systemd/system/*.wants
cd "$root"
mkdir before
pivot_root . before
cd /
umount -l /before
mount --make-rshared /
[ "$4" = systemd ] || exec "$4"
export container=unshare
exec /lib/systemd/systemd --system --unit=basic.target
