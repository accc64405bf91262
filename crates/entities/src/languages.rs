//! Fallbacks of languages.

/// Fallbacks of languages by MediaWiki's codes, nearest first.
const STAND_INS: &[(&str, &[&str])] = &[
    ("be-tarask", &["be"]),
    ("de-at", &["de"]),
    ("de-ch", &["de"]),
    ("gsw", &["de"]),
    ("lb", &["de"]),
    ("nds", &["de"]),
    ("en-ca", &["en"]),
    ("en-gb", &["en"]),
    ("simple", &["en"]),
    ("gl", &["pt"]),
    ("nb", &["no", "nn"]),
    ("nn", &["nb", "no"]),
    ("no", &["nb", "nn"]),
    ("pt", &["pt-br"]),
    ("pt-br", &["pt"]),
    ("sh", &["sh-latn", "sr-el", "bs", "hr"]),
    ("sr", &["sr-ec", "sr-cyrl", "sr-el", "sr-latn"]),
    ("sr-ec", &["sr-cyrl", "sr"]),
    ("sr-el", &["sr-latn", "sr"]),
    ("uk", &["ru"]),
    ("yue", &["zh-hk", "zh-hant", "zh"]),
    ("zh", &["zh-hans", "zh-hant", "zh-cn", "zh-tw", "zh-hk"]),
    ("zh-cn", &["zh-hans", "zh"]),
    ("zh-hans", &["zh-cn", "zh", "zh-hant"]),
    ("zh-hant", &["zh-tw", "zh-hk", "zh", "zh-hans"]),
    ("zh-hk", &["zh-hant", "zh-tw", "zh"]),
    ("zh-tw", &["zh-hant", "zh-hk", "zh"]),
];
/// The code for texts in any language.
const MANY: &str = "mul";
const LAST: &str = "en";

/// Returns whether a text has the form of a language code of Wikidata: a code of two or three letters, or `simple`,
/// then variants behind dashes.
pub fn is_language_code(code: &str) -> bool {
    let is_plain = code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let (language, variant) = code.split_once('-').unwrap_or((code, "x"));
    let is_known = matches!(language.len(), 2 | 3) && language.bytes().all(|b| b.is_ascii_alphabetic());
    let is_variant = code.len() <= 32 && variant.split('-').all(|part| !part.is_empty());
    is_plain && is_variant && (is_known || language.eq_ignore_ascii_case("simple"))
}

/// Returns a language, then its fallbacks: the nearest ones, the language without its variant, `mul`, English.
pub fn chain(language: &str) -> Vec<String> {
    let language = language.to_ascii_lowercase();
    let near = STAND_INS.iter().find(|(code, _)| *code == language).map_or(&[][..], |(_, near)| near);
    let plain = language.split('-').next().filter(|plain| *plain != language).map(str::to_owned);
    let near = near.iter().map(|near| (*near).to_owned()).chain(plain);
    let mut all = vec![language.clone()];
    for other in near.chain([MANY.to_owned(), LAST.to_owned()]) {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// Returns several languages by preference, each followed by its nearest fallbacks, then `mul` and English.
pub fn chain_of<'a>(languages: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let languages: Vec<String> = languages.into_iter().map(str::to_ascii_lowercase).collect();
    let mut all: Vec<String> = Vec::new();
    let stand_in = |other: &str| other == MANY || other == LAST;
    let own =
        |language: &String| chain(language).into_iter().filter(|other| other == language || !stand_in(other)).collect();
    let near = languages.iter().flat_map::<Vec<String>, _>(own);
    for other in near.chain([MANY.to_owned(), LAST.to_owned()]) {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_languages_the_last_is_english() {
        assert_eq!(chain_of(["de-AT", "fr"]), ["de-at", "de", "fr", "mul", "en"]);
        assert_eq!(chain_of(["en", "mt"]), ["en", "mt", "mul"]);
        assert_eq!(chain_of([]), ["mul", "en"]);
    }

    /// Codes of the list of Wikidata's languages, and texts that are none.
    #[test]
    fn codes_have_a_form() {
        for code in ["en", "mul", "zh-hant", "zh-min-nan", "be-x-old", "simple", "en-simple", "crh-Latn", "de-AT"] {
            assert!(is_language_code(code), "{code}");
        }
        for text in ["", "e", "e n", "english", "en-", "-en", "en--us", "en_us", "42", "é", &"en-x".repeat(20)] {
            assert!(!is_language_code(text), "{text}");
        }
    }

    #[test]
    fn a_language_leads_to_english() {
        assert_eq!(chain("de-AT"), ["de-at", "de", "mul", "en"]);
        assert_eq!(chain("en"), ["en", "mul"]);
        assert_eq!(chain("mt"), ["mt", "mul", "en"]);
        assert_eq!(chain("mul"), ["mul", "en"]);
    }
}
