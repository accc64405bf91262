//! The tags that a phrase can mean, with their counts in the snapshot, best first.

use terrapin_engine::Engine;
use terrapin_osm::{ElementType, Ordinal};

use super::lexicon::{LANGUAGES, LanguageLexicon, Lexicon, PhraseRole, lexicon};
use super::request::{ElementTypes, Filter};
use super::tables::{KEYS, KINDS, MAIN_KEYS, THINGS};
use super::text::fold;

/// Tags that a phrase can mean.
#[derive(Debug, Clone, PartialEq)]
pub struct TagChoice {
    /// Keys with values; `*` stands for any value.
    pub tags: Vec<(String, String)>,
    pub types: ElementTypes,
    pub label: String,
    /// Number of elements with all tags.
    pub count: u64,
    score: f64,
}

impl TagChoice {
    /// Returns the words that mean exactly these tags.
    pub fn words(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(|(key, value)| tag_words(key, value)).collect();
        tags.join(" and ")
    }

    /// Returns the conditions of the tags.
    pub fn filters(&self) -> Vec<Filter> {
        let of = |(key, value): &(String, String)| match value.as_str() {
            "*" => Filter::Has(key.clone()),
            _ => Filter::Is(key.clone(), value.clone()),
        };
        self.tags.iter().map(of).collect()
    }
}

/// Returns a text in quotation marks, as the tokens of a text read it.
pub fn in_marks(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns a tag as a condition of the wizard's syntax.
pub fn tag_words(key: &str, value: &str) -> String {
    let quote = |text: &str| {
        let is_plain = text.chars().all(|c| c.is_alphanumeric() || "_:".contains(c)) && !text.is_empty();
        if is_plain || text == "*" { text.to_owned() } else { in_marks(text) }
    };
    format!("{}={}", quote(key), quote(value))
}

/// Finds tags for phrases.
pub struct TagChooser<'a> {
    pub engine: &'a Engine,
    pub lexicon: &'static Lexicon,
    /// The phrases by language, with the points that a match in it loses.
    languages: Vec<(&'static LanguageLexicon, f64)>,
    english: &'static LanguageLexicon,
}

/// The most alternatives of a phrase.
const ALTERNATIVES: usize = 8;

impl<'a> TagChooser<'a> {
    /// Creates a chooser. Phrases in `language` count as much as English ones.
    ///
    /// Returns `None` if the built-in data is damaged.
    pub fn new(engine: &'a Engine, language: &str) -> Option<TagChooser<'a>> {
        let lexicon = lexicon();
        let english = lexicon.language("en")?;
        let own = language.split('-').next().unwrap_or_default();
        let languages = LANGUAGES.iter().filter_map(|code| {
            let loss = if *code == "en" || *code == own { 0.0 } else { 12.0 };
            Some((lexicon.language(code)?, loss))
        });
        Some(TagChooser { engine, lexicon, languages: languages.collect(), english })
    }

    /// Returns the English stems of a folded text.
    pub fn stems(&self, folded: &str) -> String {
        self.english.folder.phrase(folded)
    }

    /// Returns the number of elements with all tags.
    pub fn count(&self, tags: &[(String, String)]) -> u64 {
        if let [(key, value)] = tags {
            let all = self.engine.tags();
            return if value == "*" { all.key_counts(key).all() } else { all.tag_counts(key, value).all() };
        }
        [ElementType::Node, ElementType::Way, ElementType::Relation]
            .into_iter()
            .map(|kind| self.with_all(kind, tags).map_or(0, |all| all.len() as u64))
            .sum()
    }

    fn with_all(&self, kind: ElementType, tags: &[(String, String)]) -> Option<Vec<Ordinal>> {
        let osm = self.engine.osm();
        let mut lists = Vec::new();
        for (key, value) in tags {
            lists.push(match value.as_str() {
                "*" => osm.key_postings(kind, osm.key(key)?),
                _ => osm.postings(kind, osm.pair(key, value)?),
            });
        }
        lists.sort_by_key(|list| list.len());
        let (first, rest) = lists.split_first()?;
        let mut found = first.all().to_vec();
        for list in rest {
            if found.is_empty() {
                break;
            }
            found = list.among(&found, true);
        }
        Some(found)
    }

    /// Returns the meaning of tags with a name.
    pub fn named(&self, tags: Vec<(String, String)>, label: &str) -> TagChoice {
        self.choice(tags, ElementTypes::All, label.to_owned(), 0.0)
    }

    /// Returns the tags that a search finds for a folded text, best first; empty if the best has none of its words.
    pub fn searched(&self, folded: &str) -> Vec<TagChoice> {
        let phrase = self.stems(folded);
        let found = self.engine.tags().search(folded, ALTERNATIVES).tags.into_iter();
        let choices: Vec<TagChoice> = found
            .map(|found| {
                let label = found.tag.value.replace('_', " ");
                self.choice(vec![(found.tag.key, found.tag.value)], ElementTypes::All, label, found.score)
            })
            .collect();
        let fits = choices.first().is_some_and(|best| {
            let value = best.tags.iter().map(|(_, value)| self.stems(&fold(value))).collect::<Vec<_>>().join(" ");
            phrase.split(' ').any(|word| value.split(' ').any(|own| own == word))
        });
        if fits { choices } else { Vec::new() }
    }

    fn choice(&self, tags: Vec<(String, String)>, types: ElementTypes, label: String, points: f64) -> TagChoice {
        let count = self.count(&tags);
        let found = if count == 0 { -45.0 } else { 3.0 * libm::log10(count as f64 + 1.0) };
        let is_part = tags.first().is_some_and(|(key, _)| ["building", "sport", "cuisine"].contains(&key.as_str()));
        let score = points + found - if is_part { 6.0 } else { 0.0 };
        TagChoice { tags, types, label, count, score }
    }

    /// Returns the things that a folded phrase can mean, best first.
    pub fn things(&self, folded: &str) -> Vec<TagChoice> {
        let mut found: Vec<TagChoice> = Vec::new();
        self.by_preset(folded, &mut found);
        let phrase = self.stems(folded);
        for (name, tags, types) in THINGS {
            if self.stems(&fold(name)) == phrase {
                let tags = tags.split(';').filter_map(|tag| tag.split_once('='));
                let tags: Vec<_> = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
                let types = ElementTypes::named(types).unwrap_or_default();
                found.push(self.choice(tags, types, (*name).to_owned(), 101.0));
            }
        }
        for (value, points) in [(folded.replace([' ', '-'], "_"), 98.0), (phrase.replace(' ', "_"), 97.0)] {
            self.by_value(&value, points, &mut found);
        }
        if let Some(single) = folded.strip_suffix('s') {
            self.by_value(&single.replace([' ', '-'], "_"), 98.0, &mut found);
        }
        self.by_kind(folded, &mut found);
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tags.cmp(&b.tags)));
        let mut once: Vec<TagChoice> = Vec::new();
        for choice in found {
            if !once.iter().any(|other| other.tags == choice.tags) {
                once.push(choice);
            }
        }
        once.truncate(ALTERNATIVES);
        once
    }

    fn by_preset(&self, folded: &str, found: &mut Vec<TagChoice>) {
        for (language, loss) in &self.languages {
            for (at, role) in language.presets(&language.folder.phrase(folded)) {
                let Some(preset) = self.lexicon.presets.get(*at as usize) else { continue };
                // Terms of other languages are too often words of another meaning.
                if *role == PhraseRole::Term && *loss > 0.0 {
                    continue;
                }
                let points = match role {
                    PhraseRole::Name => 100.0,
                    PhraseRole::Alias => 96.0,
                    PhraseRole::Term => 72.0,
                };
                let tags = preset.tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
                let types = match preset.geometry {
                    "l" | "lv" => ElementTypes::Ways,
                    "r" => ElementTypes::Relations,
                    _ => ElementTypes::All,
                };
                found.push(self.choice(tags, types, preset.name.to_owned(), points - loss));
            }
        }
    }

    /// Adds the tags with a value.
    fn by_value(&self, value: &str, points: f64, found: &mut Vec<TagChoice>) {
        if value.len() < 2 {
            return;
        }
        for (place, key) in MAIN_KEYS.iter().enumerate() {
            if self.engine.tags().tag_counts(key, value).all() > 0 {
                let types = if *key == "highway" && !is_point_of_highway(value) {
                    ElementTypes::Ways
                } else {
                    ElementTypes::All
                };
                let tags = vec![((*key).to_owned(), value.to_owned())];
                found.push(self.choice(tags, types, value.replace('_', " "), points - place as f64 * 0.4));
            }
        }
    }

    /// Adds the tags of phrases such as `shoe shop` and `primary roads`.
    fn by_kind(&self, folded: &str, found: &mut Vec<TagChoice>) {
        let Some((rest, last)) = folded.rsplit_once(' ') else { return };
        let last = self.stems(last);
        for (word, key, types) in KINDS {
            if self.stems(word) != last {
                continue;
            }
            let plain = rest.replace([' ', '-'], "_");
            let values = [plain.clone(), format!("{plain}s"), plain.trim_end_matches('s').to_owned()];
            for value in values {
                if self.engine.tags().tag_counts(key, &value).all() > 0 {
                    let mut tags = vec![((*key).to_owned(), value.clone())];
                    if *key == "cuisine" {
                        tags.insert(0, ("amenity".to_owned(), "restaurant".to_owned()));
                    }
                    let types = ElementTypes::named(types).unwrap_or_default();
                    found.push(self.choice(tags, types, folded.to_owned(), 99.0));
                    break;
                }
            }
        }
    }

    /// Returns the keys that a folded phrase can mean with their counts, best first.
    pub fn keys(&self, folded: &str) -> Vec<(String, u64)> {
        let mut found: Vec<(String, u64, f64)> = Vec::new();
        let tags = self.engine.tags();
        let phrase = self.stems(folded);
        let mut add = |key: &str, points: f64| {
            let count = tags.key_counts(key).all();
            if count > 0 && !found.iter().any(|(own, ..)| own == key) {
                found.push((key.to_owned(), count, points + libm::log10(count as f64)));
            }
        };
        KEYS.iter().filter(|(name, _)| self.stems(name) == phrase).for_each(|(_, key)| add(key, 102.0));
        for join in ["_", ":"] {
            add(&folded.replace([' ', '-'], join), 101.0);
        }
        add(folded.trim_end_matches('s'), 100.0);
        self.lexicon.fields(&phrase).iter().for_each(|field| add(field.key, 95.0));
        found.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        found.truncate(ALTERNATIVES);
        found.into_iter().map(|(key, count, _)| (key, count)).collect()
    }

    /// Returns whether the values of a key are yes and no.
    pub fn is_check(&self, folded: &str, key: &str) -> bool {
        self.lexicon.fields(&self.stems(folded)).iter().any(|field| field.key == key && field.is_check)
    }

    /// Returns the tags that a folded adjective can mean for things with `tags`, most frequent first.
    pub fn adjectives(&self, folded: &str, tags: &[(String, String)]) -> Vec<TagChoice> {
        let mut found: Vec<TagChoice> = Vec::new();
        let phrase = self.stems(folded);
        let mut pairs: Vec<(String, String)> = self
            .lexicon
            .options(&phrase)
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .filter(|(_, value)| value != "yes" && value != "no")
            .collect();
        let plain = folded.replace([' ', '-'], "_");
        for key in [
            "access",
            "surface",
            "operator:type",
            "religion",
            "denomination",
            "service",
            "usage",
            "brand",
            "operator",
            "sport",
            "cuisine",
        ] {
            pairs.push((key.to_owned(), plain.clone()));
        }
        for key in [plain.clone(), format!("diet:{plain}"), format!("{plain}_access")] {
            pairs.push((key, "yes".to_owned()));
        }
        for pair in pairs {
            let mut all = tags.to_vec();
            all.push(pair.clone());
            let count = self.count(&all);
            if count > 0 && !found.iter().any(|other| other.tags[..] == [pair.clone()]) {
                let label = folded.to_owned();
                found.push(TagChoice { tags: vec![pair], types: ElementTypes::All, label, count, score: count as f64 });
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tags.cmp(&b.tags)));
        found.truncate(ALTERNATIVES);
        found
    }
}

/// Returns whether a value of `highway` is of points.
fn is_point_of_highway(value: &str) -> bool {
    const POINTS: &[&str] = &[
        "bus_stop",
        "crossing",
        "traffic_signals",
        "street_lamp",
        "turning_circle",
        "give_way",
        "stop",
        "speed_camera",
        "motorway_junction",
        "mini_roundabout",
        "elevator",
        "rest_area",
        "services",
        "milestone",
        "passing_place",
        "turning_loop",
        "platform",
    ];
    POINTS.contains(&value)
}

#[cfg(test)]
mod tests {
    use super::super::text::tokens;
    use super::*;

    /// The words of a choice replace a part of the text: they must be read as the same value.
    #[test]
    fn the_words_of_a_tag_are_read_as_the_tag() {
        for value in ["a \"b\" \\ c", "\u{301}x y", "\u{200b}", "it's", ""] {
            let words = tag_words("name", value);
            assert_eq!(tokens(&words).last().map(|token| token.text.clone()).as_deref(), Some(value), "{words}");
        }
    }
}
