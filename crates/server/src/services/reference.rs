//! The reference of the HTTP interface in `docs/reference/http-reference.md`, made of the table of routes. A test
//! compares the page with the table; `TERRAPIN_WRITE=1` writes it.

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use crate::route::{Access, ParameterLocation, Routes, Schema};
    use crate::services::ROUTES;

    fn values(schema: Schema) -> String {
        match schema {
            Schema::Text | Schema::Pattern(_) => "text".to_owned(),
            Schema::OneOf(values) => values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "),
            Schema::Integer(i64::MIN, i64::MAX, _) => "integer".to_owned(),
            Schema::Integer(least, i64::MAX, _) => format!("integer from {least}"),
            Schema::Integer(least, most, _) => format!("integer, {least} to {most}"),
            Schema::Number(least, most) => format!("number, {least} to {most}"),
            Schema::AnyNumber => "number".to_owned(),
            Schema::Iri => "IRI".to_owned(),
        }
    }

    fn reference() -> String {
        let mut page = String::from(
            "# Reference: HTTP\n\n\
             Made of the table of routes by `make reference`. `/openapi.json` has the same for programs. [http.md](http.md) is \
             the introduction.\n",
        );
        for route in Routes::new(ROUTES).all().filter(|route| !route.is_hidden) {
            let methods = route.methods.names().join(", ").to_uppercase();
            let paths: Vec<String> = route.aliases.iter().map(|path| format!("`{path}`")).collect();
            let _ = write!(page, "\n## `{}`\n\n{}. {methods}", route.shown_path(), route.summary);
            if !paths.is_empty() {
                let _ = write!(page, "; also at {}", paths.join(", "));
            }
            let _ = writeln!(page, ".");
            if !route.details.is_empty() {
                let _ = writeln!(page, "\n{}", route.details.replace('<', "\\<"));
            }
            if route.needs_model {
                let _ = writeln!(page, "\nOnly if a language model is configured.");
            }
            if route.needs_annotation {
                let _ = writeln!(page, "\nOnly with `--annotate` ([annotate.md](../guides/annotate.md)).");
            }
            if route.access == Access::Operator {
                let _ = writeln!(page, "\nAt the address of `--metrics-bind`, if there is one.");
            }
            if let Some(path) = route.described_at {
                let _ = writeln!(page, "\n`{path}` describes the paths.");
            }
            if route.parameters().next().is_some() {
                let _ = writeln!(page, "\n| parameter | values | meaning |\n|---|---|---|");
                for parameter in route.parameters() {
                    let place = if parameter.place == ParameterLocation::Path { " (path)" } else { "" };
                    let required = if parameter.is_required && place.is_empty() { " (required)" } else { "" };
                    let (name, values) = (parameter.name, values(parameter.schema));
                    let text = parameter.text.replace('|', "\\|");
                    let _ = writeln!(page, "| `{name}`{place}{required} | {values} | {text} |");
                }
            }
            if !route.bodies.is_empty() {
                let bodies: Vec<String> = route.bodies.iter().map(|media| format!("`{}`", media.name)).collect();
                let _ = writeln!(page, "\nBody of a POST: {}.", bodies.join(" or "));
            }
            let answers: Vec<String> = route.answers.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(page, "\nAnswers: {}.", answers.join(", "));
        }
        page
    }

    #[test]
    fn the_reference_lists_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/http-reference.md");
        let expected = reference();
        if std::env::var_os("TERRAPIN_WRITE").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(page == expected, "docs/reference/http-reference.md is not what the table says: run `make reference`");
    }

    #[test]
    fn every_path_is_in_the_table_once() {
        let mut paths: Vec<&str> = Routes::new(ROUTES).all().flat_map(|route| route.paths()).collect();
        let count = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), count);
    }
}
