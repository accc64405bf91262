//! Conditions in the syntax of Overpass Turbo's wizard (<https://wiki.openstreetmap.org/wiki/Overpass_turbo/Wizard>):
//! `amenity=cafe and name~"x"`, `type:node`, `newer:"1 day"`, `user:x`, `key is not null`, brackets, `and`, `or`.

use super::request::{Comparison, ElementGroup, ElementTypes, Filter};
use super::text::{Token, TokenKind};

/// The most alternatives of a text.
const ALTERNATIVES: usize = 64;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum WizardCondition {
    Filter(Filter),
    Types(ElementTypes),
}

/// A condition with the tokens that it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionSpan {
    pub from: usize,
    pub to: usize,
    pub condition: WizardCondition,
}

/// Alternatives, each a list of conditions that hold together.
type Alternatives = Vec<Vec<WizardCondition>>;

/// Reads conditions.
pub struct WizardReader<'t> {
    tokens: &'t [Token],
    at: usize,
    pub spans: Vec<ConditionSpan>,
}

impl<'t> WizardReader<'t> {
    pub fn new(tokens: &'t [Token], at: usize) -> WizardReader<'t> {
        WizardReader { tokens, at, spans: Vec::new() }
    }

    /// Returns the position after the conditions.
    pub fn at(&self) -> usize {
        self.at
    }

    fn folded(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.folded.as_str())
    }

    fn takes(&mut self, words: &[&str]) -> bool {
        let is_quoted = self.tokens.get(self.at).is_some_and(|token| token.kind == TokenKind::Quoted);
        let fits = !is_quoted && words.contains(&self.folded(self.at));
        if fits {
            self.at += 1;
        }
        fits
    }

    /// Reads all conditions from the current position on, joined by `and`, `or` and brackets.
    pub fn alternatives(&mut self) -> Result<Alternatives, String> {
        let mut found = self.together()?;
        loop {
            let before = self.at;
            if !self.takes(&["or", "||", "|"]) {
                break;
            }
            match self.together() {
                Ok(more) => found.extend(more),
                Err(_) if before > 0 && !self.is_condition(before + 1) => {
                    self.at = before;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    fn together(&mut self) -> Result<Alternatives, String> {
        let mut found = self.one()?;
        loop {
            let before = self.at;
            if !self.takes(&["and", "&&", "&"]) {
                return Ok(found);
            }
            if !self.is_condition(self.at) {
                self.at = before;
                return Ok(found);
            }
            let more = self.one()?;
            found = found
                .iter()
                .flat_map(|left| more.iter().map(move |right| left.iter().chain(right).cloned().collect()))
                .collect();
            if found.len() > ALTERNATIVES {
                return Err(format!("the conditions have more than {ALTERNATIVES} alternatives"));
            }
        }
    }

    fn one(&mut self) -> Result<Alternatives, String> {
        if self.takes(&["("]) {
            let inner = self.alternatives()?;
            return if self.takes(&[")"]) { Ok(inner) } else { Err("a closing bracket is missing".to_owned()) };
        }
        let from = self.at;
        let condition = self.condition()?;
        self.spans.push(ConditionSpan { from, to: self.at, condition: condition.clone() });
        Ok(vec![vec![condition]])
    }

    /// Returns whether a condition or a bracket with one starts at a position.
    pub fn is_condition(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        if token.folded == "(" && token.kind == TokenKind::Sign {
            return self.is_condition(at + 1);
        }
        if !matches!(token.kind, TokenKind::Word | TokenKind::Quoted) {
            return false;
        }
        let Some(next) = self.tokens.get(at + 1) else { return false };
        match next.kind {
            TokenKind::Sign => {
                is_operator(&next.folded)
                    || next.folded == ":" && is_meta(&token.folded) && token.kind == TokenKind::Word
            }
            TokenKind::Word => {
                next.folded == "like"
                    || next.folded == "is"
                        && matches!((self.folded(at + 2), self.folded(at + 3)), ("null", _) | ("not", "null"))
            }
            _ => false,
        }
    }

    fn next(&mut self, what: &str) -> Result<&'t Token, String> {
        let token = self.tokens.get(self.at).ok_or_else(|| format!("{what} is missing at the end"))?;
        self.at += 1;
        Ok(token)
    }

    /// Reads one condition.
    pub fn condition(&mut self) -> Result<WizardCondition, String> {
        let key = self.next("a condition")?;
        let is_meta_key = key.kind == TokenKind::Word && is_meta(&key.folded);
        if is_meta_key && self.takes(&[":"]) {
            return self.meta(&key.folded);
        }
        let name = key.text.clone();
        if self.takes(&["is"]) {
            let is_not = self.takes(&["not"]);
            if !self.takes(&["null"]) {
                return Err("\"is\" needs \"null\" or \"not null\"".to_owned());
            }
            return Ok(WizardCondition::Filter(if is_not { Filter::Has(name) } else { Filter::Lacks(name) }));
        }
        let operator = self.next("=, !=, ~ or \"is null\"")?;
        let sign = operator.folded.as_str();
        if !is_operator(sign) && sign != "like" {
            return Err(format!(
                "\"{name}\" is followed by \"{}\": write key=value, key=* or key~pattern",
                operator.text
            ));
        }
        let value = self.next("a value")?;
        let is_any = value.kind == TokenKind::Sign && value.text == "*";
        let text = if value.kind == TokenKind::Quoted { value.text.clone() } else { self.value_text(value) };
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        let filter = match (sign, number) {
            ("=" | "==", _) if is_any => Filter::Has(name),
            ("!=", _) if is_any => Filter::Lacks(name),
            ("=" | "==", _) => Filter::Is(name, text),
            ("!=", _) => Filter::IsNot(name, text),
            ("<", Some(number)) => Filter::Compare(name, Comparison::Under, number),
            (">", Some(number)) => Filter::Compare(name, Comparison::Over, number),
            ("<=", Some(number)) => Filter::Compare(name, Comparison::AtMost, number),
            (">=", Some(number)) => Filter::Compare(name, Comparison::AtLeast, number),
            ("<" | ">" | "<=" | ">=", None) => {
                return Err(format!("\"{name}\" is compared with \"{text}\", which is no number"));
            }
            (sign, _) => {
                let pattern = if is_any { ".*".to_owned() } else { text };
                Filter::Matches { key: name, pattern, is_negated: sign == "!~", ignores_case: false }
            }
        };
        Ok(WizardCondition::Filter(filter))
    }

    /// Returns a value with all tokens that follow it without a space.
    fn value_text(&mut self, first: &Token) -> String {
        let mut text = first.text.clone();
        let mut end = first.end;
        while let Some(token) = self.tokens.get(self.at) {
            let is_part = token.start == end && (token.is_word() || ";-.,+/:".contains(token.text.as_str()));
            if !is_part || token.kind == TokenKind::Quoted {
                break;
            }
            text.push_str(&token.text);
            end = token.end;
            self.at += 1;
        }
        text
    }

    fn meta(&mut self, key: &str) -> Result<WizardCondition, String> {
        let value = self.next("a value")?;
        let number =
            || value.text.parse::<i64>().map_err(|_| format!("{key}: expected a number, not \"{}\"", value.text));
        Ok(match key {
            "type" => match ElementTypes::named(&value.folded) {
                Some(types) => WizardCondition::Types(types),
                None => return Err(format!("\"{}\" is not node, way or relation", value.text)),
            },
            "newer" => WizardCondition::Filter(Filter::Newer(value.text.clone())),
            "user" => WizardCondition::Filter(Filter::User(value.text.clone())),
            "uid" => WizardCondition::Filter(Filter::Uid(number()?)),
            _ => WizardCondition::Filter(Filter::Ids(vec![number()?])),
        })
    }
}

fn is_meta(key: &str) -> bool {
    ["type", "newer", "user", "uid", "id"].contains(&key)
}

fn is_operator(sign: &str) -> bool {
    ["=", "==", "!=", "~", "=~", "~=", "!~", "<", ">", "<=", ">="].contains(&sign)
}

/// Converts alternatives to groups of elements.
pub fn groups(alternatives: Alternatives) -> Result<Vec<ElementGroup>, String> {
    alternatives
        .into_iter()
        .map(|all| {
            let mut group = ElementGroup::default();
            let mut named = None;
            for condition in all {
                match condition {
                    WizardCondition::Filter(filter) => group.filters.push(filter),
                    WizardCondition::Types(types) if named.is_some_and(|named| named != types) => {
                        return Err("an element is a node, a way or a relation, never two of these".to_owned());
                    }
                    WizardCondition::Types(types) => {
                        named = Some(types);
                        group.types = types;
                    }
                }
            }
            Ok(group)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::text::tokens;
    use super::*;

    fn read(text: &str) -> Result<Vec<ElementGroup>, String> {
        let tokens = tokens(text);
        groups(WizardReader::new(&tokens, 0).alternatives()?)
    }

    /// The examples are those of the wizard's page in the wiki of OpenStreetMap.
    #[test]
    fn the_wizards_examples() {
        assert_eq!(
            read("amenity=drinking_water").unwrap()[0].filters,
            [Filter::Is("amenity".into(), "drinking_water".into())]
        );
        assert_eq!(read("tourism=museum in Wien").unwrap().len(), 1);
        assert_eq!(
            read("type:node and (highway=bus_stop or railway=halt)").unwrap(),
            ["highway=bus_stop", "railway=halt"].map(|tag| {
                let (key, value) = tag.split_once('=').unwrap();
                ElementGroup { types: ElementTypes::Nodes, filters: vec![Filter::Is(key.into(), value.into())] }
            })
        );
        assert_eq!(
            read("highway=* and name is null").unwrap()[0].filters,
            [Filter::Has("highway".into()), Filter::Lacks("name".into())]
        );
        assert_eq!(
            read("newer:\"1 day\" and user:abc").unwrap()[0].filters,
            [Filter::Newer("1 day".into()), Filter::User("abc".into())]
        );
        assert_eq!(
            read("name~\"^A\" & \"addr:street\"!=*").unwrap()[0].filters,
            [
                Filter::Matches { key: "name".into(), pattern: "^A".into(), is_negated: false, ignores_case: false },
                Filter::Lacks("addr:street".into())
            ]
        );
    }

    #[test]
    fn errors_say_what_is_missing() {
        assert_eq!(read("(amenity=cafe").unwrap_err(), "a closing bracket is missing");
        assert_eq!(
            read("type:node and type:way").unwrap_err(),
            "an element is a node, a way or a relation, never two of these"
        );
        assert_eq!(read("type:area").unwrap_err(), "\"area\" is not node, way or relation");
    }
}
