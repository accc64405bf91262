//! Finds names in a question and replaces them.

use terrapin_geocoder::territory_names;

/// Words before a place.
const PREPOSITIONS: [&str; 12] =
    ["in", "of", "within", "inside", "near", "around", "at", "from", "for", "to", "throughout", "across"];
/// Maximum words of a place.
const WORDS: usize = 6;

/// Words of a question that may be a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionSpan {
    /// The first word, and the one after the last.
    pub start: usize,
    /// The word after the last.
    pub end: usize,
    /// The words, without marks around them.
    pub text: String,
    /// Whether every word begins with a capital.
    pub is_name: bool,
    /// Whether they follow a preposition.
    pub follows_preposition: bool,
}

/// Returns the words that may be a place, the most probable first: those after a preposition, then those with a capital,
/// longer before shorter.
pub fn spans(question: &str) -> Vec<QuestionSpan> {
    let spaced = question.replace(',', ", ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let is_capital = |word: &str| word.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase);
    let span = |start: usize, end: usize, follows_preposition: bool| {
        let part = words.get(start..end)?;
        // A name does not go on after a comma.
        if part.iter().rev().skip(1).any(|word| word.ends_with([',', ';', '.', ':', '?'])) {
            return None;
        }
        let text = part.iter().map(|word| word.trim_matches(['"', '(', ')'])).collect::<Vec<_>>().join(" ");
        let text = text.trim_end_matches([',', ';', '.', ':', '?', '!']).to_owned();
        let is_name = part.iter().all(|word| is_capital(word));
        (!text.is_empty()).then_some(QuestionSpan { start, end, text, is_name, follows_preposition })
    };
    let from =
        |start: usize, follows: bool| (1..=WORDS).rev().filter_map(move |count| span(start, start + count, follows));
    let mut spans: Vec<QuestionSpan> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if PREPOSITIONS.contains(&bare(word).to_lowercase().as_str()) {
            let has_article = words.get(index + 1).is_some_and(|next| next.eq_ignore_ascii_case("the"));
            spans.extend(from(index + 1, true));
            if has_article {
                spans.extend(from(index + 2, true));
            }
        }
    }
    for (index, word) in words.iter().enumerate() {
        if is_capital(word) {
            spans.extend(from(index, false).filter(|span| span.is_name));
        }
    }
    spans
}

/// Replaces every occurrence of a text that is not a part of a longer word, in any case. Returns `None` if there is none.
pub(crate) fn replaced(question: &str, old: &str, new: &str) -> Option<String> {
    let found = occurrences(question, old);
    if found.is_empty() {
        return None;
    }
    let (mut text, mut end) = (String::with_capacity(question.len()), 0);
    for range in found {
        text.push_str(question.get(end..range.start)?);
        text.push_str(new);
        end = range.end;
    }
    text.push_str(question.get(end..)?);
    Some(text)
}

/// Returns the ranges of a text in a question, in any case, with `_` and white space equal.
fn occurrences(question: &str, wanted: &str) -> Vec<std::ops::Range<usize>> {
    let fold =
        |c: char| -> char { if c == '_' || c.is_whitespace() { ' ' } else { c.to_lowercase().next().unwrap_or(c) } };
    let wanted: Vec<char> = wanted.trim().chars().map(fold).collect();
    let text: Vec<(usize, char)> = question.char_indices().collect();
    let Some(last) = wanted.last().filter(|_| wanted.iter().any(|c| c.is_alphanumeric())) else { return Vec::new() };
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(part) = text.get(at..at + wanted.len()) {
        let is_equal = part.iter().zip(&wanted).all(|((_, c), wanted)| fold(*c) == *wanted);
        let is_free = |c: Option<&(usize, char)>| c.is_none_or(|(_, c)| !c.is_alphanumeric());
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        let after = text.get(at + wanted.len());
        // The mark of a possessive or a plural is not a part of a name.
        let plural = after.is_some_and(|(_, c)| *c == 's') && is_free(text.get(at + wanted.len() + 1));
        let starts = is_free(before) || !wanted.first().is_some_and(|c| c.is_alphanumeric());
        if is_equal && starts && (is_free(after) || plural || !last.is_alphanumeric()) {
            let start = part.first().map_or(0, |(start, _)| *start);
            found.push(start..after.map_or(question.len(), |(end, _)| *end));
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    found
}

/// Removes the country or region after a place: `, France`.
pub(crate) fn without_country(question: &str, place: &str) -> String {
    let Some(end) = question.find(place).map(|start| start + place.len()) else { return question.to_owned() };
    let Some(rest) = question.get(end..).and_then(|rest| rest.strip_prefix(", ")) else { return question.to_owned() };
    let words = rest.split_inclusive(' ').scan(0, |length, word| {
        *length += word.len();
        Some(*length)
    });
    let ends: Vec<usize> = words.take(WORDS).collect();
    for length in ends.into_iter().rev() {
        let name = rest.get(..length).unwrap_or_default().trim_end();
        let country = name.trim_end_matches(['.', '?', '!', ',']);
        if !territory_names(country).is_empty() && country.chars().count() > 1 {
            return format!(
                "{}{}",
                question.get(..end).unwrap_or_default(),
                question.get(end + ", ".len() + country.len()..).unwrap_or_default()
            );
        }
    }
    question.to_owned()
}

/// Returns the only name in a question that is probably a place: words with capitals after a preposition, except those
/// in `others`. Returns `None` if there are several or none.
pub(crate) fn only_place(question: &str, others: &[&str]) -> Option<String> {
    let is_other = |text: &str| others.iter().any(|other| other.eq_ignore_ascii_case(text));
    let mut places: Vec<QuestionSpan> = Vec::new();
    for span in spans(question).into_iter().filter(|span| span.is_name && span.follows_preposition) {
        let overlaps = places.iter().any(|place| span.start < place.end && place.start < span.end);
        if !overlaps && !is_other(&span.text) && span.text.chars().any(char::is_alphabetic) {
            places.push(span);
        }
    }
    match places.as_slice() {
        [only] => Some(only.text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_looked_for_after_prepositions_and_among_names() {
        let first = |question: &str| spans(question).into_iter().map(|span| span.text).collect::<Vec<_>>();
        assert!(first("Bars in the Netherlands with wifi").contains(&"Netherlands".to_owned()));
        assert_eq!(
            first("Places in Digne-les-Bains,France?"),
            ["Digne-les-Bains", "Places", "Digne-les-Bains", "France"]
        );
        assert!(first("cafes in malta that have wifi").contains(&"malta".to_owned()));
        assert!(
            first("Roads in the Democratic Republic of the Congo")
                .contains(&"Democratic Republic of the Congo".to_owned())
        );
        assert!(first("").is_empty() && first("in").is_empty());
    }

    #[test]
    fn whole_words_are_replaced_in_any_case() {
        for (question, old, new, expected) in [
            ("Bars in bonn and Bonnet", "Bonn", "Valletta", Some("Bars in Valletta and Bonnet")),
            ("all fire hydrants", "fire_hydrant", "bus stop", Some("all bus stops")),
            ("Bonn's bars", "Bonn", "Mdina", Some("Mdina's bars")),
            ("Bars in Köln", "KÖLN", "Mdina", Some("Bars in Mdina")),
            ("Bars", "Bonn", "Mdina", None),
            ("Bars", "", "Mdina", None),
            ("Bars", "..", "Mdina", None),
        ] {
            assert_eq!(replaced(question, old, new).as_deref(), expected, "{question}");
        }
    }

    #[test]
    fn the_country_of_the_old_place_is_removed() {
        assert_eq!(without_country("Bars in Mdina, France?", "Mdina"), "Bars in Mdina?");
        assert_eq!(without_country("Bars in Mdina, United Kingdom with wifi", "Mdina"), "Bars in Mdina with wifi");
        assert_eq!(without_country("Bars in Mdina, Ulm", "Mdina"), "Bars in Mdina, Ulm");
        assert_eq!(without_country("Bars", "Mdina"), "Bars");
    }

    #[test]
    fn a_single_name_after_a_preposition_is_a_place() {
        assert_eq!(only_place("Bars in the Netherlands", &[]).as_deref(), Some("Netherlands"));
        assert_eq!(only_place("Bars in Bonn and streets of Ulm", &[]), None);
        assert_eq!(only_place("Shops of Aldi in Bonn", &["aldi"]).as_deref(), Some("Bonn"));
        assert_eq!(only_place("all bars", &[]), None);
    }
}
