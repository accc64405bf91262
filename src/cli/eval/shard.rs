//! Which part of a run a process scores, said outright or by the scheduler that started it.

use crate::eval::about::Shard;

/// Variables in which schedulers number the processes of a job, each with the variable of the first number, or without
/// where that is always 0: Kubernetes' indexed jobs, Slurm's job arrays.
const SCHEDULERS: [(&str, Option<&str>); 2] =
    [("JOB_COMPLETION_INDEX", None), ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN"))];

/// `2/4`, or `auto/4`: the part whose number the scheduler gives.
pub(super) fn parse(text: &str) -> Result<Shard, String> {
    let Some(of) = text.strip_prefix("auto/") else { return text.parse() };
    format!("{}/{of}", number(|name| std::env::var(name).ok())?).parse()
}

/// The number of this process, from 1.
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
    Err(format!("auto takes the part's number from the job's scheduler, but neither {names} is set"))
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
