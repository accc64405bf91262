//! The sites that items link to: determines host, language and group from the id of a site.

use std::borrow::Cow;

use super::languages::canonical;

/// A site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WikiSite<'a> {
    /// Its host.
    pub(super) host: String,
    /// Code of its language in RDF.
    pub(super) language: Cow<'a, str>,
    /// Its group.
    pub(super) group: &'a str,
}

/// Sites without a language in their id: id, host, group. Their language is English.
const SINGLE: &[(&str, &str, &str)] = &[
    ("abstractwiki", "abstract.wikipedia.org", "abstract"),
    ("betawikiversity", "beta.wikiversity.org", "wikiversity"),
    ("commonswiki", "commons.wikimedia.org", "commons"),
    ("foundationwiki", "foundation.wikimedia.org", "foundation"),
    ("incubatorwiki", "incubator.wikimedia.org", "incubator"),
    ("mediawikiwiki", "www.mediawiki.org", "mediawiki"),
    ("metawiki", "meta.wikimedia.org", "meta"),
    ("outreachwiki", "outreach.wikimedia.org", "outreach"),
    ("sourceswiki", "wikisource.org", "sources"),
    ("specieswiki", "species.wikimedia.org", "species"),
    ("wikidatawiki", "www.wikidata.org", "wikidata"),
    ("wikifunctionswiki", "www.wikifunctions.org", "wikifunctions"),
    ("wikimaniawiki", "wikimania.wikimedia.org", "wikimania"),
];

/// Groups of sites in many languages: suffix of their ids, and their group, which is also their domain.
const GROUPS: &[(&str, &str)] = &[
    ("wikibooks", "wikibooks"),
    ("wikinews", "wikinews"),
    ("wikiquote", "wikiquote"),
    ("wikisource", "wikisource"),
    ("wikiversity", "wikiversity"),
    ("wikivoyage", "wikivoyage"),
    ("wiktionary", "wiktionary"),
    ("wiki", "wikipedia"),
];

/// Sites with another language code in RDF, in addition to those of [`canonical`].
const LANGUAGES: &[(&str, &str)] = &[("eml", "egl")];

/// Returns the site of an id, if it is a Wikimedia site.
pub(super) fn site(id: &str) -> Option<WikiSite<'_>> {
    if let Some((_, host, group)) = SINGLE.iter().find(|(single, ..)| *single == id) {
        return Some(WikiSite { host: (*host).to_owned(), language: Cow::Borrowed("en"), group });
    }
    let (code, group) = GROUPS.iter().find_map(|(end, group)| Some((id.strip_suffix(end)?, group)))?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if code.is_empty() || code.starts_with('_') || !code.bytes().all(plain) {
        return None;
    }
    let code = code.replace('_', "-");
    let language = LANGUAGES.iter().find(|(old, _)| *old == code).map(|(_, language)| *language);
    let name = if code == "be-x-old" { "be-tarask" } else { &code };
    let host = format!("{name}.{group}.org");
    let language = match language {
        Some(language) => Cow::Borrowed(language),
        None if canonical(&code) == code => Cow::Owned(code),
        None => Cow::Owned(canonical(&code).to_owned()),
    };
    Some(WikiSite { host, language, group })
}

/// Returns the URL of a page.
pub(super) fn address(host: &str, title: &str) -> String {
    let mut address = format!("https://{host}/wiki/");
    encode(&title.replace(' ', "_"), b"-_.~;@$!*,/:()", &mut address);
    address
}

/// Appends a text with percent-encoding of all bytes except ASCII letters, digits and those in `plain`.
pub(super) fn encode(text: &str, plain: &[u8], into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            for digit in [byte >> 4, byte & 15] {
                into.push(char::from(DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0')));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_of_all_kinds_are_known() {
        let of = |id| site(id).map(|site| (site.host, site.language.into_owned(), site.group.to_owned()));
        let known = |host: &str, language: &str, group: &str| Some((host.into(), language.into(), group.into()));
        assert_eq!(of("enwiki"), known("en.wikipedia.org", "en", "wikipedia"));
        assert_eq!(of("be_x_oldwiki"), known("be-tarask.wikipedia.org", "be-tarask", "wikipedia"));
        assert_eq!(of("zh_min_nanwikisource"), known("zh-min-nan.wikisource.org", "nan", "wikisource"));
        assert_eq!(of("commonswiki"), known("commons.wikimedia.org", "en", "commons"));
        assert_eq!((of("wiki"), of("enwikia"), of("a b/wiki"), of("")), (None, None, None, None));
    }
}
