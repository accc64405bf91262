//! The shard of a run, given on the command line or by the scheduler.

use crate::eval::about::Shard;

/// The variables of schedulers with the index of a process: Kubernetes indexed jobs and Slurm array jobs. The second
/// name is the variable of the first index; without one, the first index is 0.
const SCHEDULERS: [(&str, Option<&str>); 2] =
    [("JOB_COMPLETION_INDEX", None), ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN"))];

/// Parses `2/4`, or `auto/4` for the index given by the scheduler.
pub(super) fn parse(text: &str) -> Result<Shard, String> {
    let Some(of) = text.strip_prefix("auto/") else { return text.parse() };
    format!("{}/{of}", number(|name| std::env::var(name).ok())?).parse()
}

/// Returns the index of this process, starting at 1.
fn number(variable: impl Fn(&str) -> Option<String>) -> Result<usize, String> {
    let value = |name: &str| -> Result<Option<usize>, String> {
        let read = |text: String| text.parse().map_err(|_| format!("{name} is {text:?}, not a number"));
        variable(name).map(read).transpose()
    };
    for (name, first) in SCHEDULERS {
        if let Some(number) = value(name)? {
            let first = first.map_or(Ok(None), value)?.unwrap_or(0);
            return number
                .checked_sub(first)
                .map(|index| index + 1)
                .ok_or_else(|| format!("{name} is less than {first}"));
        }
    }
    let names = SCHEDULERS.map(|(name, _)| name).join(" nor ");
    Err(format!("auto takes the shard's number from the job scheduler, but neither {names} is set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_number_their_processes() {
        let of = |set: &[(&str, &str)]| {
            number(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("JOB_COMPLETION_INDEX", "0")]), Ok(1));
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_MIN", "5")]), Ok(3));
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "7")]), Ok(8));
        for wrong in
            [&[][..], &[("JOB_COMPLETION_INDEX", "x")], &[("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_MIN", "2")]]
        {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(parse("2/4"), Ok(Shard { number: 2, of: 4 }));
    }
}
