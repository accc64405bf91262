//! Parses the blocks of `[out:popup("title";[key=value];"key";)...]`.

use super::diagnostics::Diagnostics;
use super::reader::TokenReader;
use super::token::QlTokens;
use super::tree::{PopupBlock, PopupTest, PopupValue, Regex};

/// Returns the blocks of a text. If it has errors, returns the blocks that can be parsed, like the reference for the
/// XML form.
pub(super) fn popup(config: &str) -> Vec<PopupBlock> {
    if config.is_empty() {
        return Vec::new();
    }
    TokenReader { tokens: &mut QlTokens::new(config), diagnostics: &mut Diagnostics::default() }.popup()
}

impl TokenReader<'_, '_> {
    /// Parses all blocks.
    pub fn popup(&mut self) -> Vec<PopupBlock> {
        let mut blocks = Vec::new();
        self.skip_to(&["(", "]"]);
        while self.tokens.is("(") && self.goes_on() {
            self.tokens.advance();
            blocks.push(self.popup_block());
        }
        blocks
    }

    /// Parses `"title";[key=value][key];...;"key";)`.
    fn popup_block(&mut self) -> PopupBlock {
        let title = self.text("title");
        self.expect(&[";", ")"]);
        let mut tests = Vec::new();
        while self.tokens.is("[") && self.goes_on() {
            while self.tokens.is("[") && self.goes_on() {
                self.tokens.advance();
                tests.push(self.popup_test());
            }
            self.expect(&[";"]);
        }
        let mut title_key = String::new();
        if self.tokens.text() != ")" {
            title_key = self.text("title key");
            self.expect(&[";"]);
        }
        self.expect(&[")"]);
        PopupBlock { title, tests, title_key }
    }

    /// Parses `key=value]`.
    fn popup_test(&mut self) -> PopupTest {
        let key = self.text("Key");
        self.skip_to(&["!", "~", "=", "!=", "]"]);
        let mut negated = false;
        if self.tokens.is("!") {
            negated = true;
            self.tokens.advance();
            self.skip_to(&["~", "=", "]"]);
        }
        let value = match self.tokens.text() {
            operator @ ("=" | "!=") => {
                // If there is a blank in the operator, the reference ignores the exclamation mark.
                negated = operator == "!=";
                self.tokens.advance();
                PopupValue::Equal(self.text("Value"))
            }
            "~" => {
                self.tokens.advance();
                PopupValue::Matching(Regex { pattern: self.text("Value"), ignore_case: false })
            }
            _ => PopupValue::Any,
        };
        self.expect(&["]"]);
        PopupTest { key, value, negated }
    }
}
