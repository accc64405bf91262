//! Guesses intended words: finds the nearest known word, and returns hints for texts in another language.

/// Returns the known word that is nearest to `word`, if one is near.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A longer text is unlikely to be a misspelt word, and computing its distance would be slow.
    if word.len() > 30 {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let best = known.map(|candidate| (strsim::osa_distance(&lower, candidate), candidate)).min()?;
    let allowed = match word.chars().count() {
        0 | 1 => 0,
        2..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    (best.0 <= allowed).then_some(best.1)
}

/// Returns the advice to write `meant`.
pub(super) fn did_you_mean(meant: &str) -> String {
    format!("did you mean \"{meant}\"?")
}

/// Returns the call in this language for a function of another one.
pub(super) fn function(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "len" | "distance" => "length()",
        "tag" | "tags" | "value" | "get" => "t[\"key\"]",
        "has" | "has_tag" | "exists" => "is_tag(\"key\")",
        "name" => "t[\"name\"]",
        "size" => "count_members()",
        "int" | "float" | "num" | "to_number" => "number(...)",
        "now" | "today" => "date(\"2020-01-31\")",
        "closed" | "isclosed" => "is_closed()",
        "geometry" => "geom()",
        _ => return None,
    })
}

/// Returns a hint for a text that is not OverpassQL at all, or not yet complete.
pub(super) fn language(text: &str) -> Option<String> {
    if text.starts_with('\u{feff}') {
        return Some("the text begins with a byte order mark, which cannot be seen; save it without one".into());
    }
    let trimmed = text.trim_start();
    if text.contains("{{") && text.contains("}}") {
        return Some(
            "{{...}} is a shortcut of overpass turbo, not of the query language; put the value there instead".into(),
        );
    }
    let python = ["import ", "def ", "for x in ", "for i in ", "query = ", "query=", "print("];
    if python.iter().any(|start| trimmed.starts_with(start))
        || (trimmed.starts_with("from ") && text.contains("import "))
    {
        return Some("this looks like Python; a query is only: node[amenity=cafe]; out;".into());
    }
    let first: String = trimmed.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
    match first.to_ascii_uppercase().as_str() {
        "SELECT" | "PREFIX" | "ASK" | "CONSTRUCT" | "DESCRIBE" | "INSERT" | "UPDATE" | "DELETE" | "WITH" => {
            Some(format!("\"{first}\" starts a SQL or SPARQL query; this is OverpassQL: node[amenity=cafe]; out;"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_word() {
        let known = ["node", "way", "relation", "out"];
        assert_eq!(nearest("nod", known.into_iter()), Some("node"));
        assert_eq!(nearest("ouy", known.into_iter()), Some("out"));
        assert_eq!(nearest("realtion", known.into_iter()), Some("relation"));
        assert_eq!(nearest("xyz", known.into_iter()), None);
        assert_eq!(nearest(";", known.into_iter()), None);
    }

    #[test]
    fn knows_other_languages() {
        assert!(language("select * from node").is_some());
        assert!(language("node({{bbox}});out;").is_some());
        assert!(language("node(1);out;").is_none());
    }
}
