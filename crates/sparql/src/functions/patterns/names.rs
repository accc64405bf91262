//! The names in `\p{...}`: general categories and blocks as XML Schema has them (`Lu`, `IsBasicLatin`), and what Java's
//! `Pattern` has besides (`Alpha`, `InGreek`, `IsHan`, `script=Han`).

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use unicode_blocks::UnicodeBlock;

use super::error::PatternError;
use terrapin_budget as budget;

/// XML Schema's general categories, and Java's `Cs`, which no text of SPARQL has.
const CATEGORIES: [&str; 37] = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi",
    "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf", "Co", "Cn", "Cs",
];

/// Names of blocks in XML Schema 1.0 that Unicode has renamed since.
const RENAMED: [(&str, &str); 3] = [
    ("Greek", "GreekandCoptic"),
    ("CombiningMarksforSymbols", "CombiningDiacriticalMarksforSymbols"),
    ("PrivateUse", "PrivateUseArea"),
];

/// Java's classes with names of POSIX: ASCII only.
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

/// The set of these ranges.
pub(super) fn ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(from, to)| ClassUnicodeRange::new(from, to)))
}

/// The characters of a property's name.
///
/// # Errors
/// No property has this name.
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
            // Java's short form of a script or category needs a prefix; what is left has none.
            _ => None,
        },
    };
    found.ok_or_else(unknown)
}

/// A set that the engine knows by name.
fn unicode(name: &str) -> Option<ClassUnicode> {
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' ' | b'=')) {
        return None;
    }
    // Surrogates are no characters.
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

/// The characters of a block, whose name is compared in a form of both.
fn block(name: &str, form: fn(&str) -> String) -> Option<ClassUnicode> {
    /// All blocks: the library finds them by a character, and they begin at multiples of 16.
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

/// XML Schema's form of a block's name: without blanks.
fn exactly(name: &str) -> String {
    name.replace(' ', "")
}

/// Java's: also without regard to case, hyphens and underscores.
fn loosely(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}
