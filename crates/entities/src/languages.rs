//! Which languages stand in for one that a text is not in.

/// Languages that stand in for others, by the codes of MediaWiki, the nearest first.
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
/// What holds for many languages.
const MANY: &str = "mul";
const LAST: &str = "en";

/// A language, then those that stand in for it: the nearest ones, the language without its variant, `mul`, English.
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

/// Several languages, the one that is wanted most first: each with those near to it, and behind all of them those that stand
/// in for any.
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

    #[test]
    fn a_language_leads_to_english() {
        assert_eq!(chain("de-AT"), ["de-at", "de", "mul", "en"]);
        assert_eq!(chain("en"), ["en", "mul"]);
        assert_eq!(chain("mt"), ["mt", "mul", "en"]);
        assert_eq!(chain("mul"), ["mul", "en"]);
    }
}
