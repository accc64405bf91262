//! The sites of Wikimedia that items link to: identifiers from URLs, and back.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::languages::is_language_code;

/// The characters that are escaped in the URLs of pages.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b';')
    .remove(b'@')
    .remove(b'$')
    .remove(b'!')
    .remove(b'*')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b'(')
    .remove(b')');

/// Hosts and identifiers of single sites.
const SINGLE: &[(&str, &str)] = &[
    ("abstract.wikipedia.org", "abstractwiki"),
    ("be-tarask.wikipedia.org", "be_x_oldwiki"),
    ("beta.wikiversity.org", "betawikiversity"),
    ("commons.wikimedia.org", "commonswiki"),
    ("foundation.wikimedia.org", "foundationwiki"),
    ("incubator.wikimedia.org", "incubatorwiki"),
    ("meta.wikimedia.org", "metawiki"),
    ("outreach.wikimedia.org", "outreachwiki"),
    ("species.wikimedia.org", "specieswiki"),
    ("wikimania.wikimedia.org", "wikimaniawiki"),
    ("wikisource.org", "sourceswiki"),
    ("www.mediawiki.org", "mediawikiwiki"),
    ("www.wikidata.org", "wikidatawiki"),
    ("www.wikifunctions.org", "wikifunctionswiki"),
];
/// Groups of sites in many languages: their domain, and the end of their identifiers.
const GROUPS: &[(&str, &str)] = &[
    (".wikibooks.org", "wikibooks"),
    (".wikinews.org", "wikinews"),
    (".wikipedia.org", "wiki"),
    (".wikiquote.org", "wikiquote"),
    (".wikisource.org", "wikisource"),
    (".wikiversity.org", "wikiversity"),
    (".wikivoyage.org", "wikivoyage"),
    (".wiktionary.org", "wiktionary"),
];

/// Returns the identifier of a site, such as `enwiki` for `https://en.wikipedia.org/`.
pub(super) fn site(address: &str) -> Option<String> {
    let host = address.strip_prefix("https://")?.trim_end_matches('/');
    if let Some((_, id)) = SINGLE.iter().find(|(single, _)| *single == host) {
        return Some((*id).to_owned());
    }
    let (language, end) = GROUPS.iter().find_map(|(domain, end)| Some((host.strip_suffix(domain)?, end)))?;
    Some(format!("{}{end}", language.replace('-', "_")))
}

/// Returns the host of a site, or `None` for an identifier that no site of Wikimedia can have.
fn host(site: &str) -> Option<String> {
    if let Some((host, _)) = SINGLE.iter().find(|(_, id)| *id == site) {
        return Some((*host).to_owned());
    }
    // Of two endings the longer one counts.
    let longest = GROUPS.iter().filter(|(_, end)| site.ends_with(end)).max_by_key(|(_, end)| end.len());
    let (domain, end) = longest?;
    let language = site.strip_suffix(end)?.replace('_', "-");
    is_language_code(&language).then(|| format!("{language}{domain}"))
}

/// Returns whether a text can be the identifier of a site: `enwiki`, `commonswiki`.
pub fn is_site(site: &str) -> bool {
    host(site).is_some()
}

/// Returns the URL of the page with a title at a site.
pub(super) fn page(site: &str, title: &str) -> Option<String> {
    let host = host(site)?;
    let title = title.trim().replace(' ', "_");
    Some(format!("https://{host}/wiki/{}", utf8_percent_encode(&title, ENCODED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        assert_eq!(site("https://en.wikipedia.org/").as_deref(), Some("enwiki"));
        assert_eq!(site("https://zh-min-nan.wikisource.org/").as_deref(), Some("zh_min_nanwikisource"));
        assert_eq!(site("https://commons.wikimedia.org/").as_deref(), Some("commonswiki"));
        assert_eq!(site("https://example.org/"), None);
        assert_eq!(page("enwiki", "Douglas Adams").as_deref(), Some("https://en.wikipedia.org/wiki/Douglas_Adams"));
        assert_eq!(page("dewikiquote", "é").as_deref(), Some("https://de.wikiquote.org/wiki/%C3%A9"));
        assert_eq!(page("commonswiki", "A").as_deref(), Some("https://commons.wikimedia.org/wiki/A"));
        assert_eq!((page("wiki", "A"), page("", "A")), (None, None));
        assert!(is_site("zh_min_nanwiki") && is_site("simplewikiquote") && is_site("wikidatawiki"));
        assert!(!is_site("nosuchwiki") && !is_site("enwikipedia") && !is_site("Enwiki/"));
    }
}
