//! Parses `[out:...]`, up to its closing bracket.

use super::QlParser;
use crate::code::OverpassCode;

impl QlParser<'_> {
    /// Parses the format and returns it with its parameters, as in the XML form. The parameters of an unknown format
    /// are `None`.
    pub(super) fn output(&mut self) -> (String, Option<String>) {
        let format = self.text("Value");
        let config = match format.as_str() {
            "xml" | "json" | "custom" => Some(String::new()),
            "csv" => Some(self.csv()),
            "popup" => Some(self.popup_config()),
            _ => {
                self.error(OverpassCode::UnknownOutputFormat, format!("Unknown output format: {format}"));
                let known = ["xml", "json", "csv", "custom", "popup"];
                let help = super::super::suggest::nearest(&format, known.into_iter());
                self.builder.diagnostics.help(help);
                None
            }
        };
        self.expect(&["]"]);
        (format, config)
    }

    /// Parses `("name",::id;true;",")`.
    fn csv(&mut self) -> String {
        let mut config = String::from("(");
        self.skip_to(&["("]);
        if !self.tokens.good() {
            return String::new();
        }
        self.tokens.advance();
        loop {
            if self.tokens.is("::") {
                config.push_str("::");
                self.tokens.advance();
                let name = self.text("CSV format specification");
                // The reference's converter drops the quotation marks.
                config.push_str(&if self.builder.converting { name } else { plain(&name) });
            } else {
                config.push_str(&quote(&self.text("CSV format specification")));
            }
            self.skip_to(&[",", ";", ")"]);
            if !self.goes_on() || !self.tokens.is(",") {
                break;
            }
            config.push(',');
            self.tokens.advance();
        }
        if self.tokens.is(";") {
            self.tokens.advance();
            config.push(';');
            config.push_str(&self.text("CSV output header line (true or false)"));
            self.skip_to(&[";", ")"]);
            // As in the reference, also if it is the last token of the text.
            if self.tokens.text() == ";" {
                self.tokens.advance();
                config.push(';');
                config.push_str(&quote(&self.text("CSV separator character")));
            }
        }
        config.push(')');
        self.expect(&[")"]);
        config
    }

    /// Returns the blocks as written. The reference's converter drops them.
    fn popup_config(&mut self) -> String {
        let start = self.tokens.current().start;
        self.reader().popup();
        let text = self.tokens.between(start, self.tokens.end_of_last());
        if self.builder.converting { String::new() } else { text.to_owned() }
    }
}

/// Returns the name of a special field. If it is not a plain word, it keeps its quotation marks.
fn plain(name: &str) -> String {
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') { name.to_owned() } else { quote(name) }
}

/// Returns a string in quotation marks, with the escapes that the language requires.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
