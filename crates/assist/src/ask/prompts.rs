//! Prompts: embedded texts with placeholders. A file of the same name in a folder replaces one.

use std::path::Path;

/// Maximum bytes of a file.
const LONGEST: u64 = 256 << 10;

/// The number of prompts.
const COUNT: usize = 15;

/// An embedded text: its name, its placeholders, and the text.
struct Embedded {
    name: &'static str,
    gaps: &'static [&'static str],
    text: &'static str,
}

const EMBEDDED: [Embedded; COUNT] = [
    Embedded { name: "system", gaps: &["data"], text: include_str!("prompts/system.md") },
    Embedded { name: "mentions", gaps: &["question", "context"], text: include_str!("prompts/mentions.md") },
    Embedded {
        name: "query",
        gaps: &["question", "context", "candidates", "languages", "sheets", "fences"],
        text: include_str!("prompts/query.md"),
    },
    Embedded { name: "repair", gaps: &["feedback", "question"], text: include_str!("prompts/repair.md") },
    Embedded { name: "answer", gaps: &["question", "context", "results"], text: include_str!("prompts/answer.md") },
    Embedded { name: "overpassql", gaps: &[], text: crate::agents::resources::OVERPASSQL },
    Embedded { name: "sparql", gaps: &[], text: crate::agents::resources::SPARQL },
    Embedded { name: "elements", gaps: &[], text: crate::agents::resources::ELEMENTS },
    Embedded {
        name: "overpassnl-5shot",
        gaps: &["examples", "question"],
        text: include_str!("prompts/overpassnl-5shot.md"),
    },
    Embedded {
        name: "overpassnl-example",
        gaps: &["question", "query"],
        text: include_str!("prompts/overpassnl-example.md"),
    },
    Embedded {
        name: "overpassnl-refine",
        gaps: &["examples", "question", "hypothesis", "feedback"],
        text: include_str!("prompts/overpassnl-refine.md"),
    },
    Embedded {
        name: "overpassnl-refine-blind",
        gaps: &["examples", "question", "hypothesis"],
        text: include_str!("prompts/overpassnl-refine-blind.md"),
    },
    Embedded {
        name: "overpassnl-hypothesis",
        gaps: &["question", "hypothesis", "query"],
        text: include_str!("prompts/overpassnl-hypothesis.md"),
    },
    Embedded { name: "instruct-to-sparql", gaps: &["examples"], text: include_str!("prompts/instruct-to-sparql.md") },
    Embedded {
        name: "instruct-to-sparql-example",
        gaps: &["question", "query"],
        text: include_str!("prompts/instruct-to-sparql-example.md"),
    },
];

/// A prompt; its number is its place in [`EMBEDDED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// The system message.
    System,
    /// Asks for the mentions of a question.
    Mentions,
    /// Asks for a query.
    Query,
    /// Asks for a better query.
    Repair,
    /// Asks for the answer as text.
    Answer,
    /// OverpassQL on one page.
    OverpassQl,
    /// SPARQL on one page.
    Sparql,
    /// OpenStreetMap's elements in SPARQL.
    Elements,
    /// OverpassNL's prompt with examples. Staniek et al., "Text-to-OverpassQL", TACL 12 (2024), publish only the prompt
    /// for refinement (figure 8). This is its text without the parts about hypotheses.
    OverpassNl5Shot,
    /// An example in [`Prompt::OverpassNl5Shot`].
    OverpassNlExample,
    /// OverpassNL's prompt for refinement with feedback: figure 8 of Staniek et al., "Text-to-OverpassQL: A Natural
    /// Language Interface for Complex Geodata Querying of OpenStreetMap", TACL 12, 562-575 (2024), CC BY 4.0.
    OverpassNlRefine,
    /// The same without feedback: figure 8 without its paragraph on results.
    OverpassNlRefineBlind,
    /// An example with a hypothesis in both of them, also of figure 8.
    OverpassNlHypothesis,
    /// The system message of Instruct-to-SPARQL's evaluation (`src/dataset.py` of the repository
    /// padas-lab-de/instruct-to-sparql, Apache 2.0), for Ben Amor et al., "Instruct-to-SPARQL", CHIIR 2025.
    InstructToSparql,
    /// An example in it (`src/eval.py` there).
    InstructToSparqlExample,
}

/// All prompts.
#[derive(Debug, Clone)]
pub struct Prompts([String; COUNT]);

impl Default for Prompts {
    fn default() -> Prompts {
        Prompts(EMBEDDED.map(|embedded| embedded.text.to_owned()))
    }
}

impl Prompts {
    /// Reads the texts of a folder (`system.md`, `mentions.md`, `query.md`, `repair.md`, `answer.md`, `overpassql.md`,
    /// `sparql.md`, `elements.md`, and those of published prompts). Missing ones are the embedded ones.
    ///
    /// # Errors
    /// Returns a message for the user if a file cannot be read or has an unknown placeholder, or if the folder has no
    /// prompt.
    pub fn read(folder: &Path) -> Result<Prompts, String> {
        let mut prompts = Prompts::default();
        let mut found = false;
        for (embedded, text) in EMBEDDED.iter().zip(&mut prompts.0) {
            let path = folder.join(format!("{}.md", embedded.name));
            let shown = path.display();
            match std::fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(format!("{shown}: {error}")),
                Ok(file) if file.len() > LONGEST => return Err(format!("{shown}: longer than {} KiB", LONGEST >> 10)),
                Ok(_) => {}
            }
            let own = std::fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
            if let Some(gap) = gaps(&own).find(|gap| !embedded.gaps.contains(gap)) {
                let known = embedded.gaps.iter().map(|gap| format!("{{{{{gap}}}}}")).collect::<Vec<_>>().join(", ");
                let known = if known.is_empty() { "has none".to_owned() } else { format!("has {known}") };
                return Err(format!("{shown}: nothing fills {{{{{gap}}}}}; it {known}"));
            }
            *text = own;
            found = true;
        }
        if found {
            Ok(prompts)
        } else {
            Err(format!("{}: there is no prompt in it, such as query.md", folder.display()))
        }
    }

    /// Returns a text with its placeholders unfilled.
    pub fn text(&self, prompt: Prompt) -> &str {
        &self.0[prompt as usize]
    }

    /// Returns a text with its placeholders filled. Placeholders in the values stay.
    pub fn fill(&self, prompt: Prompt, values: &[(&str, &str)]) -> String {
        let mut rest = self.0[prompt as usize].as_str();
        let mut out = String::new();
        while let Some((before, gap, after)) = next_gap(rest) {
            out.push_str(before);
            out.push_str(values.iter().find(|(name, _)| *name == gap).map_or("", |(_, value)| value));
            rest = after;
        }
        out.push_str(rest);
        out.trim().to_owned()
    }
}

fn gaps(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, gap, after) = next_gap(rest)?;
        rest = after;
        Some(gap)
    })
}

/// Returns the text before the next placeholder, its name, and the text after it. A placeholder is a word of lower-case
/// letters between double braces. `{{geocodeArea:...}}` and `{{bbox}}` in a sheet are not placeholders.
fn next_gap(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| at + from) {
        let inside = &text[start + 2..];
        let end = inside.find("}}")?;
        let gap = &inside[..end];
        if !gap.is_empty() && gap.bytes().all(|byte| byte.is_ascii_lowercase()) && !SHORTCUTS.contains(&gap) {
            return Some((&text[..start], gap, &inside[end + 2..]));
        }
        from = start + 2;
    }
    None
}

/// Shortcuts of Overpass Turbo that look like placeholders.
const SHORTCUTS: [&str; 3] = ["bbox", "center", "date"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_gap_is_known() {
        for embedded in &EMBEDDED {
            for gap in gaps(embedded.text) {
                assert!(embedded.gaps.contains(&gap), "{}: {gap}", embedded.name);
            }
        }
    }

    #[test]
    fn files_replace_texts_and_what_fills_them_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Prompts::read(folder.path()).unwrap_err().contains("no prompt"));
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("query.md", "{{question}} in {{bbox}}: {{candidates}}");
        let prompts = Prompts::read(folder.path()).unwrap();
        let filled = prompts.fill(Prompt::Query, &[("question", "Where is {{candidates}}?"), ("candidates", "a")]);
        assert_eq!(filled, "Where is {{candidates}}? in {{bbox}}: a");
        assert_eq!(prompts.fill(Prompt::Repair, &[]), Prompts::default().fill(Prompt::Repair, &[]));
        write("repair.md", "{{anwser}}");
        let error = Prompts::read(folder.path()).unwrap_err();
        assert!(error.contains("repair.md: nothing fills {{anwser}}; it has {{feedback}}"), "{error}");
    }
}
