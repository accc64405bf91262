//! The file of `serve --page`: the operator's identity on the page, as TOML. Every text is plain; links in it are written
//! `[text](https://example.org)`. The logo is a file next to it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde::Deserialize;
use terrapin_base::untrusted::steers;
use toml::Spanned;

use super::CommandError;
use crate::server::{DefaultQuery, Logo, PageIdentity, TextPart};

/// The keys of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PageFile {
    name: Option<Spanned<String>>,
    logo: Option<Spanned<PathBuf>>,
    notice: Option<Spanned<String>>,
    attribution: Option<Spanned<String>>,
    language: Option<Spanned<String>>,
    query: Option<Spanned<String>>,
    query_language: Option<Spanned<String>>,
}

/// Maximum lengths in characters.
const NAME: usize = 60;
const NOTICE: usize = 600;
const ATTRIBUTION: usize = 300;
const QUERY: usize = 20_000;
/// Maximum size of the logo in bytes.
const LOGO: u64 = 256 << 10;
/// Languages of the page.
const LANGUAGES: [&str; 9] = ["en", "de", "fr", "es", "it", "pt", "ja", "zh", "ar"];

/// Reads the file.
///
/// # Errors
/// Returns an error with file and line if the file or its logo cannot be read or a value is not allowed.
pub fn read(path: &Path) -> Result<PageIdentity, CommandError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| CommandError::input("page", format!("cannot read the page's file {shown}: {e}")))?;
    let line = |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let wrong = |at: usize, message: String| CommandError::usage(format!("{shown}:{}: {message}", line(at)));
    let file: PageFile =
        toml::from_str(&text).map_err(|e| wrong(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
    let checked = |value: Option<Spanned<String>>, key: &str, most: usize| {
        value
            .map(|value| plain(value.get_ref(), key, most).map_err(|message| wrong(value.span().start, message)))
            .transpose()
    };
    let parts = |value: Option<Spanned<String>>, key: &str, most: usize| {
        let at = value.as_ref().map_or(0, |value| value.span().start);
        let text = checked(value, key, most)?.unwrap_or_default();
        linked(&text).map_err(|message| wrong(at, format!("`{key}`: {message}")))
    };
    let language = match file.language {
        Some(tag) if !LANGUAGES.contains(&tag.get_ref().as_str()) => {
            let message = format!("`language` is `{}`: use one of {}", tag.get_ref(), LANGUAGES.join(", "));
            return Err(wrong(tag.span().start, message));
        }
        other => other.map(Spanned::into_inner),
    };
    let logo = match file.logo {
        Some(logo) => {
            let file = path.parent().unwrap_or(Path::new("")).join(logo.get_ref());
            let message = |why: String| wrong(logo.span().start, format!("logo {}: {why}", file.display()));
            Some(picture(&file).map_err(message)?)
        }
        None => None,
    };
    let query_language = match file.query_language.as_ref().map(|name| (name.get_ref().as_str(), name.span().start)) {
        None | Some(("overpassql", _)) => "overpassql",
        Some(("sparql", _)) => "sparql",
        Some((other, at)) => {
            return Err(wrong(at, format!("`query-language` is `{other}`: use overpassql or sparql")));
        }
    };
    if let (Some(name), None) = (&file.query_language, &file.query) {
        return Err(wrong(name.span().start, "`query-language` without `query`: add the query".to_owned()));
    }
    let query = checked_query(file.query, wrong)?.map(|text| DefaultQuery { language: query_language, text });
    Ok(PageIdentity {
        name: checked(file.name, "name", NAME)?,
        logo,
        notice: parts(file.notice, "notice", NOTICE)?,
        attribution: parts(file.attribution, "attribution", ATTRIBUTION)?,
        query,
        language,
    })
}

/// Returns a text of one line: trimmed, not empty, not too long, without characters that hide or reorder others.
fn plain(text: &str, key: &str, most: usize) -> Result<String, String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    if text.is_empty() {
        return Err(format!("`{key}` is empty: write a text, or remove the key"));
    }
    if length > most {
        return Err(format!("`{key}` has {length} characters: shorten it to at most {most}"));
    }
    match text.chars().find(|c| is_hidden(*c)) {
        Some(c) => Err(format!("`{key}` contains the invisible character U+{:04X}: remove it", u32::from(c))),
        None => Ok(text),
    }
}

/// Returns whether a character controls the display of others, or has no width and is not part of a word.
fn is_hidden(c: char) -> bool {
    steers(c) || matches!(c, '\u{200B}' | '\u{2060}'..='\u{2065}')
}

/// Returns the query, which keeps its lines.
fn checked_query(
    query: Option<Spanned<String>>,
    wrong: impl Fn(usize, String) -> CommandError,
) -> Result<Option<String>, CommandError> {
    let Some(query) = query else { return Ok(None) };
    let at = query.span().start;
    let text = query.into_inner();
    if text.trim().is_empty() {
        return Err(wrong(at, "`query` is empty: write a query, or remove the key".to_owned()));
    }
    let length = text.chars().count();
    if length > QUERY {
        return Err(wrong(at, format!("`query` has {length} characters: shorten it to at most {QUERY}")));
    }
    if let Some(c) = text.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t' | '\r')) {
        return Err(wrong(at, format!("`query` contains the invisible character U+{:04X}: remove it", u32::from(c))));
    }
    Ok(Some(text))
}

/// Cuts a text at its links, `[text](address)`. A `[` without such a link is text.
fn linked(text: &str) -> Result<Vec<TextPart>, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open + 1..].split_once("](").and_then(|(name, after)| {
            let (address, after) = after.split_once(')')?;
            (!name.is_empty() && !name.contains(['[', ']'])).then_some((name, address, after))
        });
        let Some((name, address, after)) = link else {
            plain.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        };
        let known = ["https://", "http://", "mailto:"];
        let is_allowed = known.iter().any(|scheme| address.len() > scheme.len() && address.starts_with(scheme));
        if !is_allowed || address.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '\\' | '(')) {
            return Err(format!(
                "the link `{name}` leads to `{address}`: use an address that begins with https://, http:// or mailto:, \
                 and write %28 and %29 for its parentheses"
            ));
        }
        plain.push_str(&rest[..open]);
        if !plain.is_empty() {
            parts.push(TextPart { text: std::mem::take(&mut plain), href: None });
        }
        parts.push(TextPart { text: name.to_owned(), href: Some(address.to_owned()) });
        rest = after;
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(TextPart { text: plain, href: None });
    }
    Ok(parts)
}

/// Reads a picture and finds its type by its first bytes.
fn picture(path: &Path) -> Result<Logo, String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(|e| e.to_string())?.take(LOGO + 1);
    file.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > LOGO {
        return Err(format!("has more than {LOGO} bytes: make it smaller"));
    }
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Ok(Logo::new("image/png", bytes));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Ok(Logo::new("image/webp", bytes));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) if text.contains("<svg") => harmless(text).map(|()| Logo::new("image/svg+xml", bytes)),
        _ => Err("is neither PNG, SVG nor WebP: convert it to one of these".to_owned()),
    }
}

/// Checks that an SVG is well-formed and has nothing that runs or that loads something else.
fn harmless(svg: &str) -> Result<(), String> {
    let mut reader = Reader::from_str(svg);
    let mut root = true;
    loop {
        let event = reader.read_event().map_err(|e| format!("is not well-formed: {e}"))?;
        match event {
            Event::Eof => return if root { Err("has no element <svg>".to_owned()) } else { Ok(()) },
            Event::DocType(_) => return Err("has a document type declaration: remove it".to_owned()),
            Event::PI(_) => return Err("has a processing instruction (`<?...?>`): remove it".to_owned()),
            Event::Text(text) => loads_nothing(text.as_ref())?,
            Event::CData(text) => loads_nothing(text.as_ref())?,
            Event::Start(element) | Event::Empty(element) => {
                if std::mem::take(&mut root) && element.local_name().as_ref() != "svg" {
                    return Err("does not begin with <svg>".to_owned());
                }
                harmless_element(&element)?;
            }
            _ => {}
        }
    }
}

/// Checks an element of an SVG.
fn harmless_element(element: &BytesStart<'_>) -> Result<(), String> {
    let name = element.local_name().as_ref().to_ascii_lowercase();
    if matches!(name.as_str(), "script" | "foreignobject" | "iframe" | "handler" | "listener") {
        return Err(format!("contains <{name}>: remove it"));
    }
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|e| format!("is not well-formed: {e}"))?;
        let key = attribute.key.local_name().as_ref().to_ascii_lowercase();
        if key.starts_with("on") {
            return Err(format!("contains the event handler `{key}`: remove it"));
        }
        let value = attribute.value.as_ref();
        loads_nothing(value)?;
        if key == "attributename" && value.to_ascii_lowercase().contains("href") {
            return Err("animates a link: remove it".to_owned());
        }
        let is_local =
            value.starts_with('#') || value.starts_with("data:image/png") || value.starts_with("data:image/webp");
        if key == "href" && !is_local {
            return Err("contains a link: remove it, or point it to a part of the same file (`#name`)".to_owned());
        }
    }
    Ok(())
}

/// Checks that a style or a value refers to parts of the same file only.
fn loads_nothing(text: &str) -> Result<(), String> {
    let text = text.to_ascii_lowercase();
    let refers = text.split("url(").skip(1).map(|rest| rest.trim_start_matches(['"', '\'', ' ']));
    match refers.into_iter().find(|rest| !rest.starts_with('#')) {
        Some(_) => {
            Err("refers to another file by `url(...)`: remove it, or point it to a part of the same file".to_owned())
        }
        None if text.contains("@import") => Err("imports a style: remove it".to_owned()),
        // A backslash hides a name from this check.
        None if text.contains('\\') => Err("contains a backslash: remove it".to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_those_of_the_page() {
        let page = include_str!("../../web/src/text/languages.ts");
        for tag in LANGUAGES {
            assert!(page.contains(&format!("  {tag}: {{ name: ")), "{tag}");
        }
        assert_eq!(page.matches("load: async (): Promise<Texts>").count(), LANGUAGES.len());
    }

    fn part(text: &str, href: Option<&str>) -> TextPart {
        TextPart { text: text.to_owned(), href: href.map(str::to_owned) }
    }

    #[test]
    fn links_are_cut_from_the_text_and_markup_stays_text() {
        let cut = linked("Run by [Ann & Co](https://example.org/a?b=c), <b>not</b> [me] [x](").unwrap();
        let wanted = [
            part("Run by ", None),
            part("Ann & Co", Some("https://example.org/a?b=c")),
            part(", <b>not</b> [me] [x](", None),
        ];
        assert_eq!(cut, wanted);
        assert_eq!(linked("[Mail](mailto:a@example.org)").unwrap(), [part("Mail", Some("mailto:a@example.org"))]);
    }

    #[test]
    fn links_lead_to_the_web_or_to_mail_only() {
        for address in [
            "javascript:alert(1",
            "JAVASCRIPT:x",
            "data:text/html,x",
            "//example.org",
            "/services",
            "",
            "https://",
            "https://a\"b",
            "https://a b",
            "https://a/Foo_(bar",
        ] {
            let error = linked(&format!("[a]({address})")).unwrap_err();
            assert!(error.contains("https://, http:// or mailto:"), "{address}: {error}");
        }
    }

    #[test]
    fn an_svg_that_runs_or_loads_something_is_refused() {
        let inner = |content: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{content}</svg>");
        for content in [
            "",
            "<path d='M0 0'/>",
            "<use href='#a'/>",
            "<style>path { fill: red }</style>",
            "<image href='data:image/png;base64,AA=='/>",
            "<path style='fill: url(#a)'/>",
        ] {
            assert_eq!(harmless(&inner(content)), Ok(()), "{content}");
        }
        for (content, why) in [
            ("<script>alert(1)</script>", "<script>"),
            ("<g><SCRIPT href='#a'/></g>", "<script>"),
            ("<x:script xmlns:x='http://www.w3.org/2000/svg'/>", "<script>"),
            ("<foreignObject><p/></foreignObject>", "<foreignobject>"),
            ("<path onclick='alert(1)'/>", "event handler `onclick`"),
            ("<a xlink:href='javascript:alert(1)'/>", "link"),
            ("<image href='https://example.org/a.png'/>", "link"),
            ("<use href='data:image/svg+xml,x'/>", "link"),
            ("<path style=\"fill: url('https://example.org/a')\"/>", "url"),
            ("<path fill='URL(https://example.org/a)'/>", "url"),
            ("<style>@import 'https://example.org/a.css';</style>", "imports"),
            ("<style><![CDATA[@\\69mport 'https://example.org/a.css';]]></style>", "backslash"),
            ("<set attributeName='xlink:href' to='https://example.org/a'/>", "animates"),
            ("<?xml-stylesheet href='https://example.org/a.css'?>", "instruction"),
            ("<g>", "well-formed"),
        ] {
            let error = harmless(&inner(content)).unwrap_err();
            assert!(error.contains(why), "{content}: {error}");
        }
        assert!(harmless("<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>").unwrap_err().contains("document type"));
        assert!(harmless("<html><svg/></html>").unwrap_err().contains("<svg>"));
    }

    #[test]
    fn texts_are_of_one_line_and_hide_nothing() {
        assert_eq!(plain("  a\n b\t c ", "name", 10), Ok("a b c".to_owned()));
        assert!(plain(" ", "name", 10).unwrap_err().contains("empty"));
        assert!(plain("abcdef", "name", 5).unwrap_err().contains("6 characters: shorten it to at most 5"));
        assert!(plain("a\u{202E}b", "name", 10).unwrap_err().contains("U+202E"));
        assert!(plain("a\u{7}b", "name", 10).unwrap_err().contains("U+0007"));
    }
}
