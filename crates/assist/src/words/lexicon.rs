//! The phrases for tags: names, aliases and terms of the iD editor's presets, labels of its fields and their options.
//! The data is `data/presets.zst`; `scripts/presets` describes its lines. Phrases of a language are indexed on first use.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use terrapin_budget as budget;

use super::text::{PhraseFolder, fold};

static PACKED: &[u8] = include_bytes!("../../data/presets.zst");
/// Maximum bytes of the unpacked data.
const LONGEST: usize = 16 << 20;

/// The languages of the phrases, in the order in which they are tried.
pub const LANGUAGES: &[&str] = &["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ja", "zh", "ar"];

/// The role of a phrase. Lower is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhraseRole {
    Name,
    Alias,
    Term,
}

/// A preset: a thing with its tags.
#[derive(Debug, Clone)]
pub struct Preset {
    /// Its tags; the value `*` stands for any.
    pub tags: Vec<(&'static str, &'static str)>,
    /// p point, v vertex, l line, a area, r relation.
    pub geometry: &'static str,
    /// Its English name, if there is one.
    pub name: &'static str,
}

/// A field: a key with a label.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub key: &'static str,
    /// Whether its values are yes and no.
    pub is_check: bool,
}

/// The phrases of a language, by their stems.
pub struct LanguageLexicon {
    pub folder: PhraseFolder,
    phrases: FxHashMap<String, Vec<(u32, PhraseRole)>>,
}

impl LanguageLexicon {
    /// Returns the presets with a phrase.
    pub fn presets(&self, phrase: &str) -> &[(u32, PhraseRole)] {
        self.phrases.get(phrase).map_or(&[], Vec::as_slice)
    }
}

/// All presets and fields.
pub struct Lexicon {
    text: &'static str,
    pub presets: Vec<Preset>,
    fields: FxHashMap<String, Vec<Field>>,
    options: FxHashMap<String, Vec<(&'static str, &'static str)>>,
    languages: [OnceLock<LanguageLexicon>; LANGUAGES.len()],
}

/// Returns the lexicon, which the first call unpacks.
pub fn lexicon() -> &'static Lexicon {
    static LEXICON: OnceLock<Lexicon> = OnceLock::new();
    static TEXT: OnceLock<String> = OnceLock::new();
    budget::once(&LEXICON, || {
        let text = budget::once(&TEXT, || {
            let bytes = zstd::bulk::decompress(PACKED, LONGEST).unwrap_or_default();
            String::from_utf8(bytes).unwrap_or_default()
        });
        Lexicon::parse(text)
    })
}

impl Lexicon {
    fn parse(text: &'static str) -> Lexicon {
        let folder = PhraseFolder::new("en");
        let mut presets: Vec<Preset> = Vec::new();
        let mut fields: FxHashMap<String, Vec<Field>> = FxHashMap::default();
        let mut options: FxHashMap<String, Vec<(&str, &str)>> = FxHashMap::default();
        let mut field = "";
        for line in text.lines() {
            let parts: Vec<&'static str> = line.split('\t').collect();
            match parts[..] {
                ["P", tags, geometry] => {
                    let tags = tags.split(';').filter_map(|tag| tag.split_once('=')).collect();
                    presets.push(Preset { tags, geometry, name: "" });
                }
                ["N", "en", name, ..] => {
                    if let Some(preset) = presets.last_mut() {
                        preset.name = name;
                    }
                }
                ["F", key, kind, labels] => {
                    field = key;
                    let is_check = kind.eq_ignore_ascii_case("check") || kind == "defaultCheck";
                    for label in labels.split('|') {
                        fields.entry(folder.phrase(&fold(label))).or_default().push(Field { key, is_check });
                    }
                }
                ["O", value, label] => {
                    for text in [value, label] {
                        let all = options.entry(folder.phrase(&fold(text))).or_default();
                        if !all.contains(&(field, value)) {
                            all.push((field, value));
                        }
                    }
                }
                _ => {}
            }
        }
        Lexicon { text, presets, fields, options, languages: Default::default() }
    }

    /// Returns the phrases of a language, such as `de` or `de-AT`.
    pub fn language(&self, code: &str) -> Option<&LanguageLexicon> {
        let code = code.split(['-', '_']).next().unwrap_or_default();
        let at = LANGUAGES.iter().position(|own| own.eq_ignore_ascii_case(code))?;
        Some(budget::once(self.languages.get(at)?, || self.index(LANGUAGES.get(at).copied().unwrap_or_default())))
    }

    /// Returns the names of all presets: the number of the preset, and the language, the name, the aliases and the terms.
    fn names(&self) -> impl Iterator<Item = (u32, [&'static str; 4])> {
        let mut presets = 0_u32;
        self.text.lines().filter_map(move |line| {
            presets += u32::from(line.starts_with("P\t"));
            let mut parts = line.strip_prefix("N\t")?.split('\t');
            let names = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
            Some((presets.checked_sub(1)?, names))
        })
    }

    fn index(&self, language: &str) -> LanguageLexicon {
        let folder = PhraseFolder::new(language);
        let mut phrases: FxHashMap<String, Vec<(u32, PhraseRole)>> = FxHashMap::default();
        let mut add = |preset: u32, role: PhraseRole, text: &str| {
            let phrase = folder.phrase(&fold(text));
            let all = phrases.entry(phrase).or_default();
            if !all.iter().any(|(own, _)| *own == preset) {
                all.push((preset, role));
            }
        };
        for (preset, [_, name, aliases, terms]) in self.names().filter(|(_, [own, ..])| *own == language) {
            let lists = [(PhraseRole::Name, name), (PhraseRole::Alias, aliases), (PhraseRole::Term, terms)];
            for (role, list) in lists {
                list.split('|').filter(|text| !text.is_empty()).for_each(|text| add(preset, role, text));
            }
        }
        phrases.remove("");
        LanguageLexicon { folder, phrases }
    }

    /// Returns the presets with a name, alias or term in English or a language that begins with a folded text, or has a
    /// word that does; names first.
    pub fn beginning(&self, typed: &str, language: &str) -> Vec<(String, &Preset)> {
        let own = language.split('-').next().unwrap_or_default();
        let mut found: Vec<(u8, String, u32)> = Vec::new();
        for (preset, [code, name, aliases, terms]) in self.names() {
            if code != own && code != "en" || name.is_empty() {
                continue;
            }
            let rank = |text: &str| {
                let folded = fold(text);
                if folded.starts_with(typed) {
                    Some(0)
                } else {
                    folded.split([' ', '-']).any(|word| word.starts_with(typed)).then_some(1)
                }
            };
            let best =
                rank(name).or_else(|| aliases.split('|').chain(terms.split('|')).find_map(rank).map(|rank| rank + 2));
            found.extend(best.map(|best| (best, name.to_owned(), preset)));
        }
        found.sort();
        found.into_iter().filter_map(|(_, name, at)| Some((name, self.presets.get(at as usize)?))).collect()
    }

    /// Returns the fields with a label, in English.
    pub fn fields(&self, phrase: &str) -> &[Field] {
        self.fields.get(phrase).map_or(&[], Vec::as_slice)
    }

    /// Returns the options of fields with a label, as keys and values.
    pub fn options(&self, phrase: &str) -> &[(&'static str, &'static str)] {
        self.options.get(phrase).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(language: &str, text: &str) -> Vec<Vec<(&'static str, &'static str)>> {
        let lexicon = lexicon();
        let own = lexicon.language(language).unwrap();
        let found = own.presets(&own.folder.phrase(&fold(text)));
        found.iter().map(|(preset, _)| lexicon.presets[*preset as usize].tags.clone()).collect()
    }

    /// The names are those of iD's presets in each language.
    #[test]
    fn presets_have_names_in_several_languages() {
        for (language, text) in [("en", "cafes"), ("de", "Café"), ("fr", "Cafés"), ("ja", "カフェ")] {
            assert!(tags(language, text).contains(&vec![("amenity", "cafe")]), "{language} {text}");
        }
        assert!(tags("de", "Apotheken").contains(&vec![("amenity", "pharmacy")]));
        assert!(lexicon().presets.len() > 1500);
    }

    #[test]
    fn fields_have_labels_and_options() {
        let folder = PhraseFolder::new("en");
        let lexicon = lexicon();
        assert!(lexicon.fields(&folder.phrase("wheelchair access")).iter().any(|field| field.key == "wheelchair"));
        assert!(lexicon.options(&folder.phrase("italian")).contains(&("cuisine", "italian")));
    }
}
