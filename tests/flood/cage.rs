//! A memory limit for a process, as in a container: a memory control group of version 2 or 1, or a limit of address
//! space if none can be created.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Cage {
    group: Option<PathBuf>,
    bytes: u64,
}

impl Cage {
    pub fn new(bytes: u64) -> Cage {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut around = Vec::new();
        for line in own.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let (root, limit) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max"),
                "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                _ => continue,
            };
            around.extend([format!("{root}{path}"), root.to_owned()].map(|folder| (folder, limit)));
        }
        let group = around.into_iter().find_map(|(folder, limit)| {
            let group = Path::new(&folder).join(format!("terrapin-flood-{}", std::process::id()));
            fs::create_dir(&group).ok()?;
            // If the file already exists in the new folder, the folder is a control group.
            let made = group.join(limit).exists() && fs::write(group.join(limit), bytes.to_string()).is_ok();
            if !made {
                let _ = fs::remove_dir(&group);
            }
            made.then_some(group)
        });
        Cage { group, bytes }
    }

    /// Returns the kind of limit.
    pub fn kind(&self) -> &'static str {
        if self.group.is_some() { "memory control group" } else { "limit of address space: no control group here" }
    }

    /// Returns a command that runs `inner` within the limit, in the same process.
    pub fn around(&self, inner: &Command) -> Command {
        let mut command = Command::new("sh");
        match &self.group {
            Some(group) => {
                command.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(group.join("cgroup.procs"));
            }
            None => {
                command.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", &(self.bytes >> 10).to_string()]);
            }
        }
        command.arg(inner.get_program()).args(inner.get_args());
        command
    }

    /// Returns the number of processes that were killed because of the limit.
    pub fn kills(&self) -> Option<u64> {
        let group = self.group.as_ref()?;
        ["memory.events", "memory.oom_control"].iter().find_map(|name| {
            let text = fs::read_to_string(group.join(name)).ok()?;
            text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
        })
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            let _ = fs::remove_dir(group);
        }
    }
}
