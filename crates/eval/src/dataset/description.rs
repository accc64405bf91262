//! What a benchmark's makers say of it.

use serde::{Deserialize, Serialize};

/// What a benchmark is called, who made it, and under which terms.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name in addresses: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its version, such as `1.0.0`.
    pub version: String,
    /// What it is about, in Markdown.
    pub description: String,
    /// The licence of questions and queries, as SPDX names it.
    pub license: String,
    /// The languages of the questions, as BCP 47 names them.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Where it is published.
    #[serde(default)]
    pub url: String,
    /// When it was published: a day such as 2026-01-31.
    #[serde(default)]
    pub released: String,
    /// How to cite it, in BibTeX.
    #[serde(default)]
    pub bibtex: String,
    /// What it is found by.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Who made it.
    #[serde(default)]
    pub authors: Vec<Author>,
}

/// Somebody who made a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The ORCID iD, as an address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub orcid: String,
    /// Where they work.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub affiliation: String,
}

impl Description {
    /// What keeps it from being published, in words; nothing where it is whole.
    pub fn lacks(&self) -> Vec<String> {
        let mut lacks = Vec::new();
        let texts = [
            ("title", &self.title),
            ("version", &self.version),
            ("description", &self.description),
            ("license", &self.license),
        ];
        for (name, text) in texts {
            if text.trim().is_empty() {
                lacks.push(format!("`{name}` is empty"));
            }
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || !self.name.chars().all(fits) {
            lacks.push(format!("`name` is {:?}: it has letters, digits, \"-\", \"_\" and \".\" only", self.name));
        }
        if self.authors.iter().all(|author| author.name.trim().is_empty()) {
            lacks.push("there is no author".to_owned());
        }
        if !self.released.is_empty() && self.released.parse::<jiff::civil::Date>().is_err() {
            lacks.push(format!("`released` is {:?}: expected a day such as 2026-01-31", self.released));
        }
        lacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_is_told() {
        let text = |text: &str| text.to_owned();
        let whole = Description {
            name: text("malta-food"),
            title: text("Food"),
            version: text("1.0.0"),
            description: text("x"),
            license: text("CC-BY-4.0"),
            released: text("2026-01-31"),
            authors: vec![Author { name: text("Ann"), ..Author::default() }],
            ..Description::default()
        };
        assert_eq!(whole.lacks(), Vec::<String>::new());
        assert_eq!(Description::default().lacks().len(), 6);
        let wrong = Description { name: text("a b"), released: text("soon"), ..whole };
        assert_eq!(wrong.lacks().len(), 2);
    }
}
