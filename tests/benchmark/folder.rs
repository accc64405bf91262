//! A folder with a town and files of pairs, in which commands of benchmarks are run.

use serde_json::Value;

use crate::common::{Town, terrapin};

/// A folder with the snapshot `town.terrapin`.
pub struct BenchmarkFolder(pub Town);

impl BenchmarkFolder {
    /// Creates the folder; the snapshot has elements and triples.
    pub fn with_triples() -> BenchmarkFolder {
        BenchmarkFolder(Town::with_triples())
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path(name), text).unwrap();
    }

    /// Writes values as JSON lines.
    pub fn lines(&self, name: &str, rows: &[Value]) {
        self.write(name, &rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    }

    /// Returns the text of a file.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path(name)).unwrap()
    }

    /// Returns the values of a file of JSON lines.
    pub fn rows(&self, name: &str) -> Vec<Value> {
        self.text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs the program. Returns its status, standard output and standard error.
    pub fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let done = terrapin().current_dir(self.0.path("")).args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    }

    /// Runs the program. Returns its status and its standard output.
    pub fn report(&self, args: &[&str]) -> (Option<i32>, Value) {
        let (status, out, said) = self.run(args);
        (status, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{said}")))
    }

    /// Runs the program, which succeeds. Returns its standard output.
    pub fn json(&self, args: &[&str]) -> Value {
        let (status, report) = self.report(args);
        assert_eq!(status, Some(0), "{report}");
        report
    }
}
