//! Finds the memory limit of this process: that of its container, its resource limits or the machine.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the number of bytes that this process may use: the minimum of the limits of its control groups, its limit of
/// address space, and the machine's memory. Returns `None` if none of these is known.
pub fn memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of_groups =
        group_files(&groups).into_iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    of_groups.chain(address_space(&limits)).chain(total(&machine)).min()
}

/// Returns the files that may contain a limit of the control groups in `/proc/self/cgroup`: those of each group and of
/// its ancestors, for versions 1 and 2. In a container, where only a part of the tree is visible, those of its root are
/// included.
fn group_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            controllers if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        files.extend(path.ancestors().map(|part| Path::new(root).join(part).join(name)));
    }
    files
}

/// Returns the soft limit of address space in `/proc/self/limits`.
fn address_space(limits: &str) -> Option<u64> {
    let rest = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the machine's memory in `/proc/meminfo`.
fn total(machine: &str) -> Option<u64> {
    let rest = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = rest.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_found_where_linux_has_them() {
        let files = group_files("12:cpu,cpuacct:/\n4:memory:/docker/1\n0::/user.slice/app\n");
        let files: Vec<_> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        assert_eq!(
            files,
            [
                "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/user.slice/app/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space         1048576     unlimited   bytes\n";
        assert_eq!(address_space(limits), Some(1 << 20));
        assert_eq!(address_space("Max address space         unlimited            unlimited            bytes"), None);
        assert_eq!(total("MemTotal:       24576000 kB\nMemFree: 1 kB\n"), Some(24_576_000 * 1024));
    }
}
