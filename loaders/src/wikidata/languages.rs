//! Language codes: maps those of JSON to those of RDF.

/// Codes that RDF replaces in texts and for sites: MediaWiki's deprecated codes, and the two of sites that are no
/// codes of languages, `no` and `simple`.
///
/// Other codes that are not BCP 47 (`cbk-zam`, `crh`, `eml`, `map-bms`, `mo`, `nrm`, `roa-tara`, `sr-ec`, `zh-cn`, ...)
/// are left unchanged, as in the Turtle that Wikidata serves. Only the attributes of its HTML pages replace them.
const REPLACED: [(&str, &str); 11] = [
    ("als", "gsw"),
    ("bat-smg", "sgs"),
    ("be-x-old", "be-tarask"),
    ("bh", "bho"),
    ("fiu-vro", "vro"),
    ("no", "nb"),
    ("roa-rup", "rup"),
    ("simple", "en-simple"),
    ("zh-classical", "lzh"),
    ("zh-min-nan", "nan"),
    ("zh-yue", "yue"),
];

/// Returns the code that RDF has for a code of JSON.
pub(super) fn canonical(code: &str) -> &str {
    REPLACED.iter().find(|(from, _)| *from == code).map_or(code, |(_, to)| to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 14 labels in `simple` of real entities in JSON, all are `en-simple` in Wikidata's RDF of the same entities;
    /// labels in the codes below have the same code in both. The other pairs are `schema:inLanguage` of Wikidata's
    /// Turtle of Q42, Q8413 and Q182397.
    #[test]
    fn codes_are_those_of_wikidata_rdf() {
        for (json, rdf) in [
            ("simple", "en-simple"),
            ("als", "gsw"),
            ("bat-smg", "sgs"),
            ("be-x-old", "be-tarask"),
            ("no", "nb"),
            ("zh-classical", "lzh"),
            ("zh-min-nan", "nan"),
            ("zh-yue", "yue"),
        ] {
            assert_eq!(canonical(json), rdf);
        }
        for same in ["cbk-zam", "crh", "en", "eml", "map-bms", "mo", "mul", "nrm", "roa-tara", "sr-ec", "zh-cn"] {
            assert_eq!(canonical(same), same);
        }
    }
}
