//! Parses `[out:...]`, up to its closing bracket.

use super::QlParser;
use crate::code::OverpassCode;
use crate::token::quoted;

impl QlParser<'_> {
    /// Parses the format and returns it with its parameters, as in the XML form. The parameters of an unknown format
    /// are `None`.
    pub(super) fn output(&mut self) -> (String, Option<String>) {
        let word = self.tokens.current().span();
        let format = self.text("Value");
        let config = match format.as_str() {
            "xml" | "json" | "custom" => Some(String::new()),
            "csv" => Some(self.csv()),
            "popup" => Some(self.popup_config()),
            _ => {
                self.error(OverpassCode::UnknownOutputFormat, format!("Unknown output format: {format}"));
                let known = ["xml", "json", "csv", "custom", "popup"];
                let meant = super::super::suggest::nearest(&format, known.into_iter());
                self.builder.diagnostics.suggest(meant, Some(word));
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
                config.push_str(&quoted(&self.text("CSV format specification")));
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
                config.push_str(&quoted(&self.text("CSV separator character")));
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
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') { name.to_owned() } else { quoted(name) }
}
