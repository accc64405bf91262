//! The names in `\p{...}`: general categories and blocks of XML Schema (`Lu`, `IsBasicLatin`), and the additional names
//! of Java's `Pattern` (`Alpha`, `InGreek`, `IsHan`, `script=Han`).

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use unicode_blocks::UnicodeBlock;

use super::error::PatternError;
use terrapin_budget as budget;

/// XML Schema's general categories, and Java's `Cs`, which does not occur in SPARQL strings.
const CATEGORIES: [&str; 37] = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi",
    "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf", "Co", "Cn", "Cs",
];

/// Block names of XML Schema 1.0 that Unicode has renamed since.
const RENAMED: [(&str, &str); 3] = [
    ("Greek", "GreekandCoptic"),
    ("CombiningMarksforSymbols", "CombiningDiacriticalMarksforSymbols"),
    ("PrivateUse", "PrivateUseArea"),
];

/// Java's classes with POSIX names; they contain only ASCII characters.
const POSIX: [(&str, &[(char, char)]); 13] = [
    ("Lower", &[('a', 'z')]),
    ("Upper", &[('A', 'Z')]),
    ("ASCII", &[('\0', '\x7F')]),
    ("Alpha", &[('A', 'Z'), ('a', 'z')]),
    ("Digit", &[('0', '9')]),
    ("Alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("Punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("Graph", &[('!', '~')]),
    ("Print", &[(' ', '~')]),
    ("Blank", &[(' ', ' '), ('\t', '\t')]),
    ("Cntrl", &[('\0', '\x1F'), ('\x7F', '\x7F')]),
    ("XDigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
    ("Space", &[('\t', '\r'), (' ', ' ')]),
];

/// Returns the set of these ranges.
pub(super) fn ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(from, to)| ClassUnicodeRange::new(from, to)))
}

/// Returns the characters of a named property.
///
/// # Errors
/// Returns an error if no property has this name.
pub(super) fn property(name: &str) -> Result<ClassUnicode, PatternError> {
    let unknown = || {
        let message = format!("\\p{{{name}}}: no category, block or script of Unicode has this name");
        PatternError::wrong(message)
    };
    if CATEGORIES.contains(&name) {
        return unicode(name).ok_or_else(unknown);
    }
    if let Some((_, posix)) = POSIX.iter().find(|(posix, _)| *posix == name) {
        return Ok(ranges(posix));
    }
    let found = match name.split_once('=') {
        Some((key, value)) => match key.to_ascii_lowercase().as_str() {
            "block" | "blk" => block(value, loosely),
            "script" | "sc" => unicode(&format!("sc={value}")),
            "general_category" | "gc" => unicode(&format!("gc={value}")),
            _ => None,
        },
        None if name.starts_with("java") => {
            let message = format!("\\p{{{name}}} is not supported: write it as a category such as \\p{{Lu}}");
            return Err(PatternError::unsupported(message));
        }
        None => match (name.strip_prefix("Is"), name.strip_prefix("In")) {
            (Some(is), _) => block(is, exactly).or_else(|| unicode(is)),
            (_, Some(within)) => block(within, loosely),
            // In Java, scripts and blocks need a prefix. Other names without one are unknown.
            _ => None,
        },
    };
    found.ok_or_else(unknown)
}

/// Returns a set that the engine knows by name.
fn unicode(name: &str) -> Option<ClassUnicode> {
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' ' | b'=')) {
        return None;
    }
    // Surrogates are not characters.
    if name == "Cs" {
        return Some(ClassUnicode::empty());
    }
    match regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Literal(literal) => {
            let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
            let only = chars.next().filter(|_| chars.next().is_none())?;
            Some(ranges(&[(only, only)]))
        }
        _ => None,
    }
}

/// Returns the characters of a block. `form` normalises both names before they are compared.
fn block(name: &str, form: fn(&str) -> String) -> Option<ClassUnicode> {
    /// All blocks. The library looks up blocks by character only; all begin at multiples of 16.
    static BLOCKS: LazyLock<Vec<UnicodeBlock>> = LazyLock::new(|| {
        let mut blocks: Vec<UnicodeBlock> =
            ('\0'..=char::MAX).step_by(16).filter_map(unicode_blocks::find_unicode_block).collect();
        blocks.dedup();
        blocks
    });
    let name = RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
    let wanted = form(name);
    let blocks = budget::unwatched(|| &*BLOCKS);
    let block = blocks.iter().find(|block| form(block.name()) == wanted)?;
    Some(ranges(&[(char::from_u32(block.start())?, char::from_u32(block.end())?)]))
}

/// Normalises a block name as in XML Schema: removes blanks.
fn exactly(name: &str) -> String {
    name.replace(' ', "")
}

/// Normalises a block name as in Java: also ignores case, hyphens and underscores.
fn loosely(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}
