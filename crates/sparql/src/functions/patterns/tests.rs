//! The expected values come from the examples of the standard (F&O 3.1, sections 5.6.1 to 5.6.4), from the W3C's test
//! suite for XPath and XQuery (QT3: `fn/matches.xml`, `fn/matches.re.xml`, `fn/replace.xml`, named at the cases) and,
//! for Java's constructs, from OpenJDK 17.

use super::*;

fn matches(text: &str, pattern: &str, flags: &str) -> Option<bool> {
    CompiledPattern::compile(pattern, flags).ok().map(|pattern| pattern.matches(text).unwrap())
}

/// Evaluates REPLACE; returns `None` if that is an error.
fn replace(text: &str, pattern: &str, replacement: &str, flags: &str) -> Option<String> {
    let pattern = CompiledPattern::compile(pattern, flags).ok().filter(|pattern| !pattern.matches_empty())?;
    let replacement = pattern.replacement(replacement).ok()?;
    Some(pattern.replace(text, &replacement).unwrap().unwrap_or_else(|| text.to_owned()))
}

/// The poem of F&O 5.6.3.
const POEM: &str = "Kaum hat dies der Hahn gesehen,\nFängt er auch schon an zu krähen:\nKikeriki! Kikikerikih!!\nTak, \
                    tak, tak! - da kommen sie.\n";

#[test]
fn examples_of_the_standard() {
    for (text, pattern, flags, expected) in [
        ("abracadabra", "bra", "", true),
        ("abracadabra", "^a.*a$", "", true),
        ("abracadabra", "^bra", "", false),
        (POEM, "Kaum.*krähen", "", false),
        (POEM, "Kaum.*krähen", "s", true),
        (POEM, "^Kaum.*gesehen,$", "m", true),
        (POEM, "^Kaum.*gesehen,$", "", false),
        (POEM, "kiki", "i", true),
        ("helloworld", "hello world", "x", true),
        ("helloworld", "hello[ ]world", "x", false),
        ("hello world", "hello\\ sworld", "x", true),
        ("hello world", "hello world", "x", false),
        ("abcd\\.*[", "abcd\\.*[", "q", true),
        ("Mr. B. Obama", "B. OBAMA", "iq", true),
        // Section 5.6.1: case and classes.
        ("Z", "[A-Z]", "i", true),
        ("q", "[A-Z-[OI]]", "i", true),
        ("o", "[A-Z-[OI]]", "i", false),
        ("a", "\\p{Lu}", "i", false),
        ("a", "[\\p{Lu}]", "i", false),
        ("\u{212A}", "k", "i", true),
        ("x", "[^Y]", "i", true),
        ("y", "[^Y]", "i", false),
        // Back references.
        ("'a'", "('|\").*\\1", "", true),
        ("'a\"", "^('|\").*\\1$", "", false),
        ("abcc", "^([ab]){2}\\1*.*$", "", true),
        // A back reference to a group that did not match is empty.
        ("b", "^(a)?b\\1$", "", true),
        ("ABab", "^(ab)\\1$", "i", true),
        // Further digits belong to a back reference only if the pattern has that many groups.
        ("aa1", "^(a)\\11$", "", true),
    ] {
        assert_eq!(matches(text, pattern, flags), Some(expected), "{pattern} {flags:?} on {text:?}");
    }
}

#[test]
fn replacements_of_the_standard() {
    for (text, pattern, replacement, flags, expected) in [
        ("abracadabra", "bra", "*", "", Some("a*cada*")),
        ("abracadabra", "a.*a", "*", "", Some("*")),
        ("abracadabra", "a.*?a", "*", "", Some("*c*bra")),
        ("abracadabra", "a", "", "", Some("brcdbr")),
        ("abracadabra", "a(.)", "a$1$1", "", Some("abbraccaddabbra")),
        // The pattern matches the empty text: err:FORX0003.
        ("abracadabra", ".*?", "$1", "", None),
        ("AAAA", "A+", "b", "", Some("b")),
        ("AAAA", "A+?", "b", "", Some("bbbb")),
        ("darted", "^(.*?)d(.*)$", "$1c$2", "", Some("carted")),
        // Section 5.6.4: the digits of a group.
        ("abc", "(b)", "$10", "", Some("ab0c")),
        ("abc", "(b)", "[$0]", "", Some("a[b]c")),
        ("abc", "(b)", "[$2]", "", Some("a[]c")),
        ("abc", "(b)", "$1_x", "", Some("ab_xc")),
        ("abc", "b", "\\$\\\\", "", Some("a$\\c")),
        ("abc", "b", "$", "", None),
        ("abc", "b", "\\n", "", None),
        ("a\\b", "\\", "\\", "q", Some("a\\b")),
        ("a.b", ".", "$1", "q", Some("a$1b")),
        // A call in Instruct-to-SPARQL.
        ("408055", "80(..)(..)", "A0$1$2", "", Some("408055")),
        ("408055", "(..)80(..)", "$1A0$2", "", Some("40A055")),
        // QT3: fn-replace-28 and others with groups that did not match.
        ("abcd", "(a)|(b)", "[$1|$2]", "", Some("[a|][|b]cd")),
        ("aBc", "b", "x", "i", Some("axc")),
    ] {
        let expected = expected.map(str::to_owned);
        assert_eq!(replace(text, pattern, replacement, flags), expected, "{pattern} -> {replacement} on {text:?}");
    }
}

#[test]
fn classes_are_those_of_xml_schema() {
    for (text, pattern, expected) in [
        ("é", "^\\p{IsBasicLatin}$", false),
        ("e", "^\\p{IsBasicLatin}$", true),
        ("é", "^\\p{IsLatin-1Supplement}$", true),
        ("é", "^\\P{IsBasicLatin}$", true),
        ("α", "^\\p{IsGreek}$", true),
        ("_", "^\\i$", true),
        (":", "^\\i$", true),
        ("-", "^\\i$", false),
        ("-", "^\\c$", true),
        ("é", "^\\i\\c*$", true),
        (" ", "^\\I$", true),
        // Punctuation is not a word character, not even "_"; symbols are.
        ("_", "\\w", false),
        ("+", "\\w", true),
        ("ß", "\\w", true),
        ("\u{A0}", "\\s", false),
        ("٣", "^\\d$", true),
        ("\r", ".", false),
        ("\u{85}", ".", true),
        ("b", "^[a-z-[aeiou]]$", true),
        ("e", "^[a-z-[aeiou]]$", false),
        ("e", "^[^a-z-[0-9]]$", false),
        ("5", "^[^a-z-[0-9]]$", false),
        ("é", "^[^a-z-[0-9]]$", true),
        // A nested subtraction restores characters that the outer one removes.
        ("e", "^[a-z-[a-f-[e]]]$", true),
        ("a", "^[a-z-[a-f-[e]]]$", false),
        ("-", "^[a-]$", true),
        ("-", "^[-a]$", true),
        ("^", "^[a^]$", true),
        ("\t", "^[\\s-[ ]]$", true),
        ("&", "^[a&&b]$", true),
    ] {
        assert_eq!(matches(text, pattern, ""), Some(expected), "{pattern} on {text:?}");
    }
}

#[test]
fn lines_end_before_a_line_feed() {
    for (text, pattern, expected) in [
        ("a\nb", "^b$", true),
        ("a\n", "^$", false),
        ("a\n\n", "^$", true),
        ("", "^$", true),
        ("a\r\nb", "a$", false),
        ("a\nb", "a$", true),
    ] {
        assert_eq!(matches(text, pattern, "m"), Some(expected), "{pattern} on {text:?}");
    }
    // Without the flag, `$` matches only at the end of the text, not before a final line feed as in Java.
    assert_eq!(matches("a\n", "a$", ""), Some(false));
}

#[test]
fn what_is_an_error_of_the_standard_and_of_java_is_one() {
    for pattern in [
        "(",
        ")",
        "a)",
        "[",
        "[]",
        "[a",
        "[z-a]",
        "[a-\\d]",
        "*",
        "a**",
        "a{2",
        "a{x}",
        "a{3,2}",
        "{2}",
        "+a",
        "?",
        "\\",
        "\\y",
        "\\p{Xx}",
        "\\p{IsNothing}",
        "\\p{",
        "\\p",
        "\\1",
        "(a\\1)",
        "(a)\\2",
        "\\0",
        "[\\1]",
        "(?a)",
        "(?<1>a)",
        "(?<a>b)(?<a>c)",
        "\\k<a>",
        "\\u12",
        "\\x{110000}",
        "a{99999999999}",
        "[a-[b]c]",
    ] {
        assert_eq!(matches("a", pattern, ""), None, "{pattern}");
    }
    assert_eq!(matches("a", "a", "g"), None);
    for pattern in ["\\G", "\\X", "(?x)a", "\\p{javaMirrored}"] {
        let error = CompiledPattern::compile(pattern, "").unwrap_err();
        assert!(error.unsupported, "{pattern}: {error}");
    }
}

#[test]
fn java_decides_where_the_standard_has_an_error() {
    for (text, pattern, expected) in [
        ("Jan van Eyck", "(?<! [Vv]an) Eyck", false),
        ("Jan Eyck", "(?<! [Vv]an) Eyck", true),
        ("foobar", "foo(?=bar)", true),
        ("foobar", "foo(?!bar)", false),
        ("price: 5", "(?<=: )\\d", true),
        ("a cat", "\\bcat\\b", true),
        ("concat", "\\bcat\\b", false),
        ("a.b", "\\Qa.b\\E", true),
        ("axb", "\\Qa.b\\E", false),
        ("aaa", "a++a", false),
        ("aaab", "(?>a+)b", true),
        ("ABC", "a(?i)bc", false),
        ("aBC", "a(?i)bc", true),
        ("aBc", "a(?i:b)c", true),
        ("2001-2001", "(?<year>\\d{4})-\\k<year>", true),
        ("é", "\\u00E9", true),
        ("é", "\\x{e9}", true),
        ("a/b", "a\\/b", true),
        ("d", "^[a-f&&[^ce]]$", true),
        ("e", "^[a-f&&[^ce]]$", false),
        ("x", "^[a-c[x-z]]$", true),
        ("A", "^\\p{Upper}\\p{Alpha}*$", true),
        ("Б", "\\p{InCyrillic}", true),
        ("漢", "\\p{IsHan}", true),
        ("漢", "\\p{script=Han}", true),
        ("漢", "\\pL", true),
        ("a\n", "a\\Z", true),
        ("a\n", "a\\z", false),
        ("x}", "^x}$", true),
    ] {
        assert_eq!(matches(text, pattern, ""), Some(expected), "{pattern} on {text:?}");
    }
    let replaced = replace("2001-02", "(?<y>\\d+)-(?<m>\\d+)", "${m}/${y}", "");
    assert_eq!(replaced.as_deref(), Some("02/2001"));
    // A gold query of Instruct-to-SPARQL: removes the text up to the last blank that is not part of a name's particle.
    let pattern = "^.*(?<! [Vv][ao]n| [Dd][aeiu]| [Dd][e][lns]| [Ll][ae]) (?! *$)";
    assert_eq!(replace("Vincent van Gogh", pattern, "", "").as_deref(), Some("van Gogh"));
}

#[test]
fn patterns_that_never_end_are_stopped() {
    let pattern = CompiledPattern::compile("^(a|aa)+\\1?$", "").unwrap();
    let text = "a".repeat(60) + "b";
    assert!(pattern.matches(&text).is_err());
    assert!(pattern.replace(&text, &ReplacementString::literally("")).is_err());
    // A long text takes several steps for each character; texts over 16 KiB are rejected.
    let long = "ab".repeat(8_000);
    let pattern = CompiledPattern::compile("(?<!b)b$|(.)\\1", "").unwrap();
    assert_eq!(pattern.matches(&long), Ok(true));
    assert_eq!(pattern.matches(&long.repeat(2)), Err(StepLimit::Length));
    // Patterns that need no backtracking have no such limit.
    let pattern = CompiledPattern::compile("^(a|aa)+$", "").unwrap();
    assert_eq!(pattern.matches(&text), Ok(false));
    assert_eq!(pattern.matches(&long), Ok(false));
    assert!(CompiledPattern::compile("((((\\w{100}){100}){100}){100}){100}", "").unwrap_err().unsupported);
    assert!(CompiledPattern::compile("(?=a)((((\\w{100}){100}){100}){100}){100}", "").unwrap_err().unsupported);
}
