//! Abbreviations: `St` for `Street` and for `Saint`. Queries shorten words that the map has in full, and the other way
//! round. The table has only words that are common in addresses and names of places.

/// Abbreviations and their words; each matches in both directions.
const WORDS: &[(&str, &[&str])] = &[
    // English
    ("st", &["street", "saint"]),
    ("ave", &["avenue"]),
    ("blvd", &["boulevard"]),
    ("rd", &["road"]),
    ("dr", &["drive"]),
    ("ln", &["lane"]),
    ("ct", &["court"]),
    ("pl", &["place", "plaza", "placa", "platz"]),
    ("sq", &["square"]),
    ("hwy", &["highway"]),
    ("pkwy", &["parkway"]),
    ("expy", &["expressway"]),
    ("ter", &["terrace"]),
    ("cres", &["crescent"]),
    ("cir", &["circle"]),
    ("bldg", &["building"]),
    ("mt", &["mount"]),
    ("ft", &["fort"]),
    ("intl", &["international"]),
    ("natl", &["national"]),
    ("univ", &["university"]),
    ("stn", &["station"]),
    ("n", &["north"]),
    ("s", &["south"]),
    ("e", &["east"]),
    ("w", &["west"]),
    // French, Italian, Spanish, Catalan, Portuguese
    ("ste", &["sainte"]),
    ("bd", &["boulevard"]),
    ("av", &["avenue", "avenida", "avinguda"]),
    ("avda", &["avenida", "avinguda"]),
    ("rte", &["route"]),
    ("ch", &["chemin"]),
    ("pza", &["piazza", "plaza"]),
    ("pca", &["praca", "placa"]),
    ("ctra", &["carretera"]),
    ("c", &["calle", "carrer"]),
    ("r", &["rua", "rue"]),
    ("sta", &["santa"]),
    ("sto", &["santo"]),
    // German
    ("str", &["strasse"]),
    ("hbf", &["hauptbahnhof"]),
    ("bhf", &["bahnhof"]),
    ("skt", &["sankt"]),
    // Malay
    ("jln", &["jalan"]),
    ("jl", &["jalan"]),
    ("tmn", &["taman"]),
    ("kg", &["kampung"]),
];

/// Abbreviated endings, as in German `Hauptstr.`
const ENDS: &[(&str, &str)] = &[("str", "strasse")];

const UMLAUTS: &[(&str, &str)] = &[("ae", "a"), ("oe", "o"), ("ue", "u")];

/// Returns other spellings of a word.
pub fn variants(word: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (short, longs) in WORDS {
        if *short == word {
            all.extend(longs.iter().map(|long| (*long).to_owned()));
        } else if longs.contains(&word) {
            all.push((*short).to_owned());
        }
    }
    // Umlauts as two letters: `Muenster` is `munster` in the index.
    let plain = UMLAUTS.iter().fold(word.to_owned(), |word, (long, short)| word.replace(long, short));
    if plain != word {
        all.push(plain);
    }
    for (short, long) in ENDS {
        for (from, to) in [(long, short), (short, long)] {
            if let Some(front) = word.strip_suffix(from).filter(|front| front.chars().count() >= 3) {
                all.push(format!("{front}{to}"));
                break;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long() {
        assert_eq!(variants("st"), ["street", "saint"]);
        assert_eq!(variants("saint"), ["st"]);
        assert_eq!(variants("boulevard"), ["blvd", "bd"]);
        assert_eq!(variants("hauptstr"), ["hauptstrasse"]);
        assert_eq!(variants("hauptstrasse"), ["hauptstr"]);
        assert_eq!([variants("muenster"), variants("koeln")], [["munster"], ["koln"]]);
        assert!(variants("malta").is_empty() && variants("astr").is_empty());
    }

    #[test]
    fn each_is_there_once_and_folded() {
        let shorts: std::collections::BTreeSet<_> = WORDS.iter().map(|(short, _)| short).collect();
        assert_eq!(shorts.len(), WORDS.len());
        for text in WORDS.iter().flat_map(|(short, longs)| [&[*short][..], longs].concat()) {
            assert_eq!(terrapin_osm::names::words(text), [text]);
        }
    }
}
