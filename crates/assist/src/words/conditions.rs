//! Conditions in words: keys that are there or missing, values, comparisons, names, users and dates.

use super::WordsChoice;
use super::WordsPartKind;
use super::read::Reader;
use super::request::{Comparison, ElementTypes, Filter};
use super::tables::{AT_LEAST, AT_MOST, COMPARATIVES, FACTORS, NAMED, OVER, UNDER, UNITS, WITH, WITHOUT};
use super::text::TokenKind;

/// The most words of a key.
const WORDS_OF_KEY: usize = 4;
const LEADS: &[&str] = &["a", "an", "the", "any", "attribute", "attributes", "tag", "tags", "key", "attribute called"];
/// Words between a key and its value.
const VALUED: &[&str] = &[
    "having a value",
    "having the value",
    "having value",
    "with a value",
    "with value",
    "with the value",
    "with values",
    "set to",
    "equal to",
    "value",
    "values",
    "is",
    "as",
    ":",
    "of",
    "being",
];

/// A key with its alternatives.
type KeyAt = (usize, Vec<(String, u64)>);

impl Reader<'_> {
    fn skip(&self, mut at: usize, table: &[&str]) -> usize {
        while let Some(count) = self.phrase(at, table) {
            at += count;
        }
        at
    }

    /// Returns the longest key at a position.
    fn key_at(&self, from: usize) -> Option<KeyAt> {
        if self.token(from)?.kind == TokenKind::Quoted {
            let key = self.token(from)?.text.clone();
            let count = self.chooser.engine.tags().key_counts(&key).all();
            return (count > 0).then(|| (from + 1, vec![(key, count)]));
        }
        let end = self.phrase_end(from, WORDS_OF_KEY);
        (from + 1..=end).rev().find_map(|to| {
            let found = self.chooser.keys(&self.folded_of(from, to));
            (!found.is_empty()).then_some((to, found))
        })
    }

    fn key_choices(
        &self,
        found: &[(String, u64)],
        words: impl Fn(&str) -> String,
        label: impl Fn(&str) -> String,
    ) -> Vec<WordsChoice> {
        let choice = |(key, count): &(String, u64)| WordsChoice {
            label: label(key),
            words: words(key),
            tags: Some(key.clone()),
            id: None,
            count: Some(*count),
        };
        found.iter().map(choice).collect()
    }

    /// `without KEY`.
    pub(super) fn without(&mut self) -> bool {
        let from = self.at;
        let Some(count) = self.phrase(from, WITHOUT) else { return false };
        let start = self.skip(from + count, LEADS);
        let Some((to, found)) = self.key_at(start) else { return self.unknown_clause(from, start) };
        let Some((key, _)) = found.first() else { return false };
        self.request.filters.push(Filter::Lacks(key.clone()));
        let text = self.text_of(start, to);
        self.property(&text, None, false);
        let choices = self.key_choices(&found, |key| format!("{key} is null"), |key| format!("without {key}"));
        self.add(WordsPartKind::Condition, from, from, to, choices);
        self.at = to;
        true
    }

    /// Reports a clause whose words have no meaning.
    fn unknown_clause(&mut self, from: usize, start: usize) -> bool {
        if self.token(start).is_none() {
            return false;
        }
        let to = self.phrase_end(start, 3).max(start + 1);
        self.unknown_part(from, to, "this snapshot has no key with this name");
        self.at = to;
        true
    }

    /// `with KEY`, `with KEY VALUE`, `with more than 4 KEYS`.
    pub(super) fn with(&mut self) -> bool {
        let from = self.at;
        let Some(count) = self.phrase(from, WITH) else { return false };
        let start = self.skip(from + count, LEADS);
        self.at = start;
        if self.named() || self.edits() || self.comparison() || self.key_condition() {
            return true;
        }
        if self.phrase(from, WITHOUT).is_some() {
            self.at = from;
            return false;
        }
        let Some((to, found)) = self.key_at(start) else {
            // The words after `with` may name something else: `with id 5`, adjectives.
            let has_more = self.token(start).is_some();
            self.at = if has_more { start } else { from };
            return has_more;
        };
        let Some((key, _)) = found.first().cloned() else { return false };
        let text = self.folded_of(start, to);
        let has_yes =
            self.chooser.is_check(&text, &key) && self.chooser.engine.tags().tag_counts(&key, "yes").all() > 0;
        self.request.filters.push(if has_yes { Filter::Is(key.clone(), "yes".to_owned()) } else { Filter::Has(key) });
        self.property(&text, None, true);
        let words = |key: &str| if has_yes { format!("{key}=yes") } else { format!("{key}=*") };
        let choices =
            self.key_choices(&found, words, |key| if has_yes { format!("{key}=yes") } else { format!("with {key}") });
        self.add(WordsPartKind::Condition, from, from, to, choices);
        self.at = to;
        true
    }

    /// Adds a condition on a property of items, if the text names a class and this is the name of a property.
    fn property(&mut self, text: &str, compare: Option<(Comparison, f64)>, is_there: bool) -> Option<WordsChoice> {
        let found = self.items.as_ref()?.properties(text).into_iter().next()?;
        let id = found.id.clone()?;
        let items = self.request.items.as_mut()?;
        match compare {
            Some((comparison, value)) => items.compare.push((id, comparison, value)),
            None => items.exists.push((id, is_there)),
        }
        Some(found)
    }

    /// `KEY VALUE` with a number or a text in quotation marks: `admin level 8`, `highway having a value trunk`.
    pub(super) fn key_condition(&mut self) -> bool {
        let from = self.at;
        let Some((to, found)) = self.key_at(from) else { return false };
        let valued = self.phrase(to, VALUED);
        let mut at = to + valued.unwrap_or(0);
        at = self.skip(at, &["the", "value", "values"]);
        if let Some((pattern, next)) = self.matching(to) {
            let Some((key, _)) = found.first() else { return false };
            let filter = Filter::Matches { key: key.clone(), pattern, is_negated: false, ignores_case: true };
            self.request.filters.push(filter);
            self.add_plain(WordsPartKind::Condition, from, next, format!("{key} {}", self.text_of(to, next)));
            self.at = next;
            return true;
        }
        let Some(token) = self.token(at) else { return false };
        let is_value = match token.kind {
            TokenKind::Quoted => true,
            TokenKind::Number => !UNITS.iter().any(|(unit, _)| self.folded(at + 1) == *unit),
            TokenKind::Word => valued.is_some_and(|_| self.text_of(to, at).contains("value")) || is_code(&token.text),
            _ => false,
        };
        if !is_value {
            return false;
        }
        let Some((key, _)) = found.first().cloned() else { return false };
        let mut values = vec![token.text.clone()];
        let mut end = at + 1;
        loop {
            let step = match (self.folded(end), self.folded(end + 1)) {
                (",", "or" | "and") => 2,
                ("," | "or" | "and", _) => 1,
                _ => break,
            };
            let Some(next) = self.token(end + step).filter(|next| next.kind == self.tokens[at].kind) else { break };
            if self.tokens[at].kind == TokenKind::Word {
                break;
            }
            values.push(next.text.clone());
            end += step + 1;
        }
        if key == "admin_level" && self.request.groups.is_empty() && self.request.types.is_none() {
            self.request.types = Some(ElementTypes::Relations);
        }
        let words = values.iter().map(|value| super::choices::tag_words(&key, value)).collect::<Vec<_>>().join(" or ");
        let count = values.iter().map(|value| self.chooser.engine.tags().tag_counts(&key, value).all()).sum();
        self.request.filters.push(match &values[..] {
            [value] => Filter::Is(key.clone(), value.clone()),
            all => {
                let all: Vec<String> = all.iter().map(|value| escaped(value)).collect();
                let pattern = format!("^({})$", all.join("|"));
                Filter::Matches { key: key.clone(), pattern, is_negated: false, ignores_case: false }
            }
        });
        let choice =
            WordsChoice { label: words.clone(), words: words.clone(), tags: Some(words), id: None, count: Some(count) };
        self.add(WordsPartKind::Condition, from, from, end, vec![choice]);
        self.at = end;
        true
    }

    /// `containing X`, `starting with X`, `ending with X`. Returns the pattern and the next position.
    fn matching(&self, at: usize) -> Option<(String, usize)> {
        let forms: [(&[&str], &str, &str); 3] = [
            (&["contains", "containing", "contain", "that contains", "like"], "", ""),
            (&["starts with", "starting with", "begins with", "beginning with", "start with"], "^", ""),
            (&["ends with", "ending with", "end with"], "", "$"),
        ];
        let (count, before, after) =
            forms.iter().find_map(|(table, before, after)| Some((self.phrase(at, table)?, before, after)))?;
        let token = self.token(at + count)?;
        Some((format!("{before}{}{after}", escaped(&token.text)), at + count + 1))
    }

    /// `named X`.
    pub(super) fn named(&mut self) -> bool {
        let from = self.at;
        let count = self.phrase(from, NAMED).or_else(|| {
            let is_name = self.folded(from) == "name"
                && self.token(from + 1).is_some_and(|next| next.kind == TokenKind::Quoted || next.is_capital());
            is_name.then_some(1)
        });
        let Some(count) = count else { return false };
        let start = from + count;
        let stops = ["in", "and", "or", "that", "which"];
        let end = match self.token(start) {
            Some(token) if token.kind == TokenKind::Quoted => start + 1,
            // `with a name in Valletta` has no name.
            Some(token) if stops.contains(&token.text.as_str()) => return false,
            Some(_) => {
                let mut end = self.phrase_end(start, 8);
                while self.folded(end) == "&" && self.token(end + 1).is_some_and(|next| next.is_word()) {
                    end = self.phrase_end(end + 1, 8);
                }
                (start + 1..end).find(|at| stops.contains(&self.folded(*at))).unwrap_or(end)
            }
            None => return false,
        };
        if end <= start {
            return false;
        }
        let text = self.text_of(start, end);
        let exact = self.chooser.engine.tags().tag_counts("name", &text).all();
        let filter = match exact {
            0 => Filter::Matches {
                key: "name".to_owned(),
                pattern: escaped(&text),
                is_negated: false,
                ignores_case: true,
            },
            _ => Filter::Is("name".to_owned(), text.clone()),
        };
        self.request.filters.push(filter);
        let label = if exact > 0 { format!("name is {text}") } else { format!("name contains {text}") };
        let count = (exact > 0).then_some(exact);
        let words = self.text_of(from, end);
        let other = WordsChoice {
            label: format!("name contains {text}"),
            words: format!("name~{}", super::choices::in_marks(&escaped(&text))),
            tags: None,
            id: None,
            count: None,
        };
        let mut choices = vec![WordsChoice { label, words, tags: None, id: None, count }];
        choices.extend((exact > 0).then_some(other));
        self.add(WordsPartKind::Condition, from, from, end, choices);
        self.at = end;
        true
    }

    /// Returns the comparison at a position and the next position.
    fn comparison_at(&self, at: usize) -> Option<(Comparison, usize)> {
        let at = at + self.phrase(at, &["is", "of", "being"]).unwrap_or(0);
        let tables = [
            (AT_LEAST, Comparison::AtLeast),
            (AT_MOST, Comparison::AtMost),
            (OVER, Comparison::Over),
            (UNDER, Comparison::Under),
        ];
        tables.iter().find_map(|(table, comparison)| Some((*comparison, at + self.phrase(at, table)?)))
    }

    /// Returns the number at a position with its factor or unit, and the next position.
    fn number_at(&self, at: usize) -> Option<(f64, usize)> {
        let value = self.token(at)?.number()?;
        let next = self.folded(at + 1);
        if let Some((_, factor)) = FACTORS.iter().find(|(word, _)| next == *word) {
            return Some((value * factor, at + 2));
        }
        if let Some((_, factor)) = UNITS.iter().find(|(unit, _)| next == *unit) {
            return Some((value * factor, at + 2));
        }
        let has_unit = ["km/h", "mph", "kmh", "inhabitants", "people", "%"].contains(&next) && next != "inhabitants";
        Some((value, at + 1 + usize::from(has_unit)))
    }

    /// `population over 500000`, `taller than 50 m`, `more than 4 lanes`.
    pub(super) fn comparison(&mut self) -> bool {
        let from = self.at;
        for (words, key, is_over) in COMPARATIVES {
            let Some(count) = self.phrase(from, &[words]) else { continue };
            let Some((value, to)) = self.number_at(from + count) else { continue };
            let comparison = if *is_over { Comparison::Over } else { Comparison::Under };
            let filter = match *key {
                "#" => Filter::Length(comparison, value),
                key => Filter::Compare(key.to_owned(), comparison, value),
            };
            let name = if *key == "#" { "length in metres" } else { key };
            self.request.filters.push(filter);
            self.add_plain(
                WordsPartKind::Condition,
                from,
                to,
                format!("{name} {} {}", comparison.sign(), super::overpass::number(value)),
            );
            if *key != "#" {
                self.property(key, Some((comparison, value)), true);
            }
            self.at = to;
            return true;
        }
        // `more than 4 lanes`
        if let Some((comparison, next)) = self.comparison_at(from)
            && let Some((value, start)) = self.number_at(next)
            && let Some((to, found)) = self.key_or_property(start)
        {
            self.compare(from, to, found, (start, to), comparison, value);
            return true;
        }
        // `population over 500000`
        let end = self.phrase_end(from, WORDS_OF_KEY + 1);
        for key_end in from + 1..=end {
            let Some((comparison, next)) = self.comparison_at(key_end) else { continue };
            let Some((value, to)) = self.number_at(next) else { continue };
            let Some((found_to, found)) = self.key_or_property(from).filter(|(found_to, _)| *found_to <= key_end)
            else {
                continue;
            };
            self.compare(from, to, found, (from, found_to), comparison, value);
            return true;
        }
        false
    }

    fn key_or_property(&self, from: usize) -> Option<KeyAt> {
        self.key_at(from).or_else(|| {
            let end = self.phrase_end(from, WORDS_OF_KEY);
            let items = self.items.as_ref()?;
            let is_property = |to: &usize| !items.properties(&self.text_of(from, *to)).is_empty();
            (from + 1..=end).rev().find(is_property).map(|to| (to, Vec::new()))
        })
    }

    fn compare(
        &mut self,
        from: usize,
        to: usize,
        found: Vec<(String, u64)>,
        named: (usize, usize),
        comparison: Comparison,
        value: f64,
    ) {
        let text = self.text_of(named.0, named.1);
        let property = self.property(&text, Some((comparison, value)), true);
        let sign = comparison.sign();
        let number = super::overpass::number(value);
        let mut choices =
            self.key_choices(&found, |key| format!("{key}{sign}{number}"), |key| format!("{key} {sign} {number}"));
        match (found.first(), &property) {
            (Some((key, _)), _) => self.request.filters.push(Filter::Compare(key.clone(), comparison, value)),
            (None, Some(_)) => self.items_first = true,
            (None, None) => {}
        }
        // Items that have the property are far more than elements with the key.
        let count = |choice: Option<&WordsChoice>| choice.and_then(|choice| choice.count).unwrap_or(0);
        self.items_first |= self.request.items.is_some() && count(property.as_ref()) > count(choices.first());
        choices.extend(property.map(|property| WordsChoice {
            label: format!("{} {sign} {number}", property.label),
            words: self.text_of(from, to),
            ..property
        }));
        if choices.is_empty() {
            self.unknown_part(from, to, "this snapshot has no key or property with this name");
        }
        self.add(WordsPartKind::Condition, from, from, to, choices);
        self.at = to;
    }

    /// `with the ids 1, 2 and 3`, `by user X`, `uid 5`, `between DATE and DATE`, `newer than DATE`.
    pub(super) fn edits(&mut self) -> bool {
        let from = self.at;
        let verb = self.skip(
            from,
            &[
                "edited",
                "changed",
                "modified",
                "created",
                "made",
                "that were",
                "which were",
                "changes",
                "changes made",
                "were",
                "was",
                "been",
                "last",
            ],
        );
        let by = self.skip(verb, &["by", "the", "with"]);
        if let Some((to, filter)) = self.user_at(by).or_else(|| self.ids_at(by)) {
            let label = match &filter {
                Filter::Uid(id) => format!("last edited by user {id}"),
                Filter::User(name) => format!("last edited by {name}"),
                _ => "these ids".to_owned(),
            };
            self.request.filters.push(filter);
            self.add_plain(WordsPartKind::Condition, from, to, label);
            self.at = to;
            return true;
        }
        if let Some((to, since, until)) = self.period_at(verb) {
            let label = format!("changed between {since} and {until}");
            self.request.filters.push(Filter::Changed(since, Some(until)));
            self.add_plain(WordsPartKind::Condition, from, to, label);
            self.at = to;
            return true;
        }
        if let Some(count) = self.phrase(verb, &["newer than", "since", "after"])
            && let Some(since) = self.token(verb + count).and_then(|token| timestamp(&token.text, "00:00:00"))
        {
            self.request.filters.push(Filter::Newer(since.clone()));
            self.add_plain(WordsPartKind::Condition, from, verb + count + 1, format!("newer than {since}"));
            self.at = verb + count + 1;
            return true;
        }
        if verb > from
            && self.phrase(verb, super::tables::IN).is_none()
            && self.request.types.is_some()
            && self.token(verb).is_some()
        {
            // `ways edited on ...` whose rest is not understood: the words are reported one by one.
            self.pending.extend(from..verb);
            self.at = verb;
            return true;
        }
        false
    }

    fn user_at(&self, at: usize) -> Option<(usize, Filter)> {
        let number = |at: usize| self.token(at)?.text.parse::<i64>().ok();
        if self.folded(at) == "uid" {
            let at = at + 1 + usize::from([":", "of"].contains(&self.folded(at + 1)));
            return Some((at + 1, Filter::Uid(number(at)?)));
        }
        let user = at + self.phrase(at, &["user", "users"])?;
        let with = self.skip(user, &["with", "the", "user", "id", "uid", "number"]);
        if with > user {
            return Some((with + 1, Filter::Uid(number(with)?)));
        }
        let token = self.token(user).filter(|token| token.is_word() || token.kind == TokenKind::Quoted)?;
        Some((user + 1, Filter::User(token.text.clone())))
    }

    fn ids_at(&self, at: usize) -> Option<(usize, Filter)> {
        let mut at = at + self.phrase(at, &["ids", "id", "osm id", "osm ids"])?;
        let mut ids = Vec::new();
        while let Some(id) = self.token(at).and_then(|token| token.text.parse::<i64>().ok()).filter(|id| *id > 0) {
            ids.push(id);
            at += 1;
            let step = match (self.folded(at), self.folded(at + 1)) {
                (",", "and" | "or") => 2,
                ("," | "and" | "or" | ";", _) => 1,
                _ => break,
            };
            if self.token(at + step).is_none_or(|token| token.text.parse::<i64>().is_err()) {
                break;
            }
            at += step;
        }
        (!ids.is_empty()).then_some((at, Filter::Ids(ids)))
    }

    /// Returns the next position, the start and the end of a period.
    fn period_at(&self, at: usize) -> Option<(usize, String, String)> {
        let text = |at: usize| self.token(at).map_or("", |token| token.text.as_str());
        let pair = |at: usize| {
            let count = self.phrase(at, &["between", "from"])?;
            let joins = ["and", "to", "until"].contains(&self.folded(at + count + 1));
            joins.then(|| (text(at + count), text(at + count + 2), at + count + 3))
        };
        if self.folded(at) == "on" {
            let day = text(at + 1);
            return match pair(at + 2) {
                Some((since, until, to)) if is_time(since) && is_time(until) => {
                    Some((to, timestamp(day, since)?, timestamp(day, until)?))
                }
                _ => Some((at + 2, timestamp(day, "00:00:00")?, timestamp(day, "23:59:59")?)),
            };
        }
        let (since, until, to) = pair(at)?;
        if is_time(since) && self.folded(to) == "on" {
            let day = text(to + 1);
            return Some((to + 2, timestamp(day, since)?, timestamp(day, until)?));
        }
        Some((to, timestamp(since, "00:00:00")?, timestamp(until, "00:00:00")?))
    }
}

fn is_time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    parts.len() == 3 && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns a date, with `time` if it has none, as OverpassQL writes it.
fn timestamp(text: &str, time: &str) -> Option<String> {
    let is_date = |text: &str| {
        text.len() == 10
            && text.bytes().enumerate().all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() })
    };
    let text = text.to_uppercase();
    match text.split_once('T') {
        Some((day, rest)) if is_date(day) && is_time(rest.trim_end_matches('Z')) => {
            Some(format!("{day}T{}Z", rest.trim_end_matches('Z')))
        }
        None if is_date(&text) => Some(format!("{text}T{time}Z")),
        _ => None,
    }
}

/// Returns whether a value is a code such as `A4`.
fn is_code(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(|c| c.is_ascii_uppercase()) && text.len() <= 8
}

/// Escapes a text for a regular expression of POSIX.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if ".*+?()[]{}|^$\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
