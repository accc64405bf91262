//! The description of a benchmark by its authors.

use serde::{Deserialize, Serialize};

/// The name, authors and licence of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name in URLs: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its version, such as `1.0.0`.
    pub version: String,
    /// The description in Markdown.
    pub description: String,
    /// The SPDX licence of questions and queries.
    pub license: String,
    /// The BCP 47 languages of the questions.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The URL of the publication.
    #[serde(default)]
    pub url: String,
    /// The day of publication, such as 2026-01-31.
    #[serde(default)]
    pub released: String,
    /// The citation in BibTeX.
    #[serde(default)]
    pub bibtex: String,
    /// The keywords.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The authors.
    #[serde(default)]
    pub authors: Vec<Author>,
}

/// An author of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The ORCID iD as a URL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub orcid: String,
    /// The affiliation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub affiliation: String,
}

impl Description {
    /// Returns a message for each field that a publication requires and that is missing or invalid.
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
