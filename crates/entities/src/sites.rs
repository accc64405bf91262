//! The sites that items link to: their ids, from their addresses, and back.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is written otherwise in the addresses of pages.
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

/// Sites with a name of their own, and their hosts.
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
/// Groups of sites in many languages: their domain, and what their ids end with.
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

/// The id of the site at an address such as `https://en.wikipedia.org/`: `enwiki`.
pub(super) fn site(address: &str) -> Option<String> {
    let host = address.strip_prefix("https://")?.trim_end_matches('/');
    if let Some((_, id)) = SINGLE.iter().find(|(single, _)| *single == host) {
        return Some((*id).to_owned());
    }
    let (language, end) = GROUPS.iter().find_map(|(domain, end)| Some((host.strip_suffix(domain)?, end)))?;
    Some(format!("{}{end}", language.replace('-', "_")))
}

/// The address of the page with a title at a site.
pub(super) fn page(site: &str, title: &str) -> Option<String> {
    let host = match SINGLE.iter().find(|(_, id)| *id == site) {
        Some((host, _)) => (*host).to_owned(),
        None => {
            // `wiki` is the end of some of the others.
            let longest = GROUPS.iter().filter(|(_, end)| site.ends_with(end)).max_by_key(|(_, end)| end.len());
            let (domain, end) = longest?;
            let language = site.strip_suffix(end).filter(|language| !language.is_empty())?;
            format!("{}{domain}", language.replace('_', "-"))
        }
    };
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
    }
}
