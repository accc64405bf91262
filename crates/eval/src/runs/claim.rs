//! Checks whether a folder is free for a run, since a second run would destroy the first.

use std::path::Path;

use super::folder::{ABOUT, read_json_lines, read_object};
use crate::about::About;
use crate::record::Instance;

/// Returns how the run in `folder`, finished or not, differs from this one; `None` if it is the same or missing. A
/// different version of the engine does not count, since scoring again means replacing the numbers.
pub fn other_run(folder: &Path, about: &About, instances: &[Instance]) -> Option<String> {
    for path in [folder.join(ABOUT), folder.join("journal").join(ABOUT)] {
        if !path.exists() {
            continue;
        }
        let Ok(there) = read_object::<About>(&path) else {
            return Some(format!("{} is not that of a run", path.display()));
        };
        if let Some(difference) = difference(&there, about) {
            return Some(difference);
        }
    }
    let path = folder.join("instances.jsonl");
    let known = || read_json_lines::<Instance>(&path).ok();
    // The same files, parsed in another way.
    (path.exists() && known().is_none_or(|known| known != instances)).then(|| "its instances are others".to_owned())
}

fn difference(there: &About, about: &About) -> Option<String> {
    if there.benchmark != about.benchmark {
        return Some(format!("its benchmark is {}", there.benchmark));
    }
    if there.snapshot != about.snapshot {
        return Some(format!("its snapshot is {}", there.snapshot.as_deref().unwrap_or("none")));
    }
    if there.suite != about.suite {
        let listed = if there.suite.is_empty() { "empty".to_owned() } else { there.suite.join(", ") };
        return Some(format!("its suite is {listed}"));
    }
    if there.dialect != about.dialect {
        return Some(format!("its dialect is {}", there.dialect.as_deref().unwrap_or("auto")));
    }
    if there.shard != about.shard {
        return Some(match there.shard {
            Some(shard) => format!("it is the shard {}/{}", shard.number, shard.of),
            None => "it is a run over all instances".to_owned(),
        });
    }
    let names = there.inputs.keys().chain(about.inputs.keys());
    let mut other: Vec<&str> =
        names.filter(|name| there.inputs.get(*name) != about.inputs.get(*name)).map(String::as_str).collect();
    other.sort_unstable();
    other.dedup();
    match other.as_slice() {
        [] => None,
        [one] => Some(format!("its input `{one}` is another")),
        several => Some(format!("its inputs `{}` are others", several.join("`, `"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::Shard;
    use crate::files;
    use crate::runs::RunJournal;

    #[test]
    fn a_folder_is_another_runs_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = [("gold", "a"), ("pred", "b")].map(|(name, digest)| (name.to_owned(), digest.to_owned())).into();
        let about = About { benchmark: "x".to_owned(), engine: "1".to_owned(), inputs, ..About::default() };
        let instances = [Instance { line: 1, pred: "p".to_owned(), ..Instance::default() }];
        let other = |about: &About, instances: &[Instance]| other_run(folder.path(), about, instances);
        assert_eq!(other(&about, &instances), None, "nothing is there");
        let mut pred = about.clone();
        pred.inputs.insert("pred".to_owned(), "c".to_owned());
        // A killed run only has a journal.
        let journal = RunJournal::open(&folder.path().join("journal"), &about, &instances).unwrap();
        assert_eq!(other(&pred, &instances).as_deref(), Some("its input `pred` is another"));
        assert_eq!(other(&about, &instances), None);
        journal.remove().unwrap();
        files::write_object(&folder.path().join(ABOUT), &about).unwrap();
        files::write_lines(&folder.path().join("instances.jsonl"), &instances).unwrap();
        assert_eq!(other(&About { engine: "2".to_owned(), ..about.clone() }, &instances), None);
        for (wrong, says) in [
            (pred, "its input `pred` is another"),
            (About { inputs: Default::default(), ..about.clone() }, "its inputs `gold`, `pred` are others"),
            (About { snapshot: Some("s".to_owned()), ..about.clone() }, "its snapshot is none"),
            (About { dialect: Some("qlever".to_owned()), ..about.clone() }, "its dialect is auto"),
            (About { benchmark: "y".to_owned(), ..about.clone() }, "its benchmark is x"),
            (About { shard: Some(Shard { number: 1, of: 2 }), ..about.clone() }, "it is a run over all instances"),
        ] {
            assert_eq!(other(&wrong, &instances).as_deref(), Some(says));
        }
        assert_eq!(other(&about, &[]).as_deref(), Some("its instances are others"));
    }
}
