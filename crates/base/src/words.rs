//! Splits texts into normalized words: lower case, without the accents of Latin and Greek letters, without punctuation.
//! Other scripts are unchanged.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Maximum number of characters of a text that are read.
const TEXT: usize = 1000;
/// Words of a text that count.
pub const WORDS: usize = 31;
/// Characters of a word that count.
const WORD: usize = 48;

/// Returns the words of a text, in their order.
pub fn words(text: &str) -> Vec<String> {
    let end = text.char_indices().nth(TEXT).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    if text.is_ascii() { split(text.chars()) } else { split(plain(text).chars()) }
}

/// Removes accents and apostrophes.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !is_apostrophe(*c)).collect();
    let mut out = String::with_capacity(text.len());
    // Whether the marks that follow are accents.
    let mut accents = false;
    for c in DecomposingNormalizerBorrowed::new_nfkd().normalize(&text).chars() {
        if ('\u{300}'..='\u{36f}').contains(&c) {
            if !accents {
                out.push(c);
            }
            continue;
        }
        // Latin, Greek.
        accents =
            matches!(c, 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}');
        out.push(c);
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(&out).into_owned()
}

/// Returns whether a character within words is ignored because users often omit it, such as an apostrophe.
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '`' | '\u{b4}' | '\u{2b9}'..='\u{2bf}' | '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}')
}

fn split(text: impl Iterator<Item = char>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut letters) = (String::new(), 0);
    let mut end = |word: &mut String, letters: &mut usize| {
        if !word.is_empty() && words.len() < WORDS {
            words.push(std::mem::take(word));
        }
        word.clear();
        *letters = 0;
    };
    for c in text {
        if is_apostrophe(c) {
            continue;
        }
        if is_between(c) {
            end(&mut word, &mut letters);
        } else if stands_alone(c) {
            end(&mut word, &mut letters);
            word.push(c);
            end(&mut word, &mut letters);
        } else if letters < WORD {
            letters += 1;
            match c {
                'ß' | 'ẞ' => word.push_str("ss"),
                'æ' | 'Æ' => word.push_str("ae"),
                'œ' | 'Œ' => word.push_str("oe"),
                'þ' | 'Þ' => word.push_str("th"),
                'ø' | 'Ø' => word.push('o'),
                'đ' | 'Đ' | 'ð' | 'Ð' => word.push('d'),
                'ħ' | 'Ħ' => word.push('h'),
                'ł' | 'Ł' => word.push('l'),
                'ŧ' | 'Ŧ' => word.push('t'),
                'ı' => word.push('i'),
                'ς' => word.push('σ'),
                c => word.extend(c.to_lowercase()),
            }
        }
    }
    end(&mut word, &mut letters);
    words
}

/// Spaces and punctuation. Marks of scripts that have them are no letters either, and stay.
fn is_between(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_alphanumeric();
    }
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{a0}'..='\u{bf}' | '×' | '÷') && !c.is_alphanumeric()
        || matches!(c, '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}')
        || matches!(c, '\u{fe10}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}')
        || matches!(c, '\u{60c}' | '\u{61b}' | '\u{61f}' | '\u{6d4}' | '\u{964}' | '\u{965}' | '\u{30fb}')
}

/// Chinese characters and Japanese syllables, which no spaces part: each is a word.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(c, '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        words(text).join(" ")
    }

    #[test]
    fn case_and_accents() {
        assert_eq!(folded("Triq ir-Repubblika"), "triq ir repubblika");
        assert_eq!(folded("Żurrieq, Ħal-Għaxaq"), "zurrieq hal ghaxaq");
        assert_eq!(folded("São Paulo / ŁÓDŹ / Tromsø"), "sao paulo lodz tromso");
        assert_eq!(folded("Straße STRASSE Ærø"), "strasse strasse aero");
        assert_eq!(folded("Saint Paul's Ta’ Xbiex"), "saint pauls ta xbiex");
        assert_eq!(folded("Αθήνα ΑΘΉΝΑΣ"), "αθηνα αθηνασ");
        assert_eq!(folded("İstanbul"), "istanbul");
    }

    #[test]
    fn other_scripts_stay_as_they_are() {
        assert_eq!(folded("Киёв Йошкар-Ола"), "киёв йошкар ола");
        assert_eq!(folded("東京都"), "東 京 都");
        assert_eq!(folded("がっこう"), "が っ こ う");
        assert_eq!(folded("서울 특별시"), "서울 특별시");
        assert_eq!(folded("नई दिल्ली"), "नई दिल्ली");
        assert_eq!(folded("مالطا، فاليتا"), "مالطا فاليتا");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!(words(&"x ".repeat(5000)).len(), WORDS);
        assert_eq!(words(&"é".repeat(5000))[0].chars().count(), WORD);
        assert!(words(" ,;- ").is_empty() && words("").is_empty());
    }
}
