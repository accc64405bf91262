//! Checks that no query text makes the front end panic, recurse without limit, or take longer than 5 seconds per
//! mebibyte. Used by the fuzz target, and by the test that runs the fuzzer's corpus.

use std::fmt::Write;
use std::time::{Duration, Instant};

use terrapin::geocoder::PlaceTable;
use terrapin::osm::BoundingBox;
use terrapin::overpass::convert::{ConversionForm, convert};
use terrapin::overpass::turbo::{self, ShortcutValues};
use terrapin::overpass::{OverpassFailure, parse};

/// The time that any text may take: a machine also has other work.
const ALLOWANCE: Duration = Duration::from_millis(100);
/// The additional time per mebibyte, in any build and on a busy machine. It detects time that grows faster than the
/// text. A release build takes less than a second.
const PER_MEBIBYTE: Duration = Duration::from_secs(5);
/// The length to which a small text is repeated, to detect time that grows faster than the text.
const REPEATED: usize = 64 << 10;

/// Passes a text through every part of the front end.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    pass(&text);
    // Repeating is expensive, and a fuzzer creates many similar texts. Therefore only some are repeated.
    if !text.is_empty() && text.len() < 2048 && hash(bytes).is_multiple_of(32) {
        pass(&text.repeat(REPEATED / text.len()));
        nest(&text);
    }
}

/// Nests a text in itself: brackets that open in its first half and close in its second are nested deep.
fn nest(text: &str) {
    let middle = (text.len() / 2..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    let (before, after) = text.split_at(middle);
    let times = REPEATED / text.len();
    pass(&format!("{}{}", before.repeat(times), after.repeat(times)));
}

fn pass(text: &str) {
    let allowed = ALLOWANCE + PER_MEBIBYTE.mul_f64(text.len() as f64 / f64::from(1 << 20));
    timed("parse", text, allowed, || {
        if let Err(failure) = parse(text) {
            show(&failure, text);
        }
    });
    for form in [ConversionForm::Xml, ConversionForm::Compact, ConversionForm::Pretty] {
        timed("convert", text, allowed, || {
            if let Ok(converted) = convert(text, form) {
                converted.problems.iter().for_each(|failure| show(failure, text));
            }
        });
    }
    if let Ok(converted) = convert(text, ConversionForm::Xml)
        && let Ok(back) = convert(&converted.text, ConversionForm::Pretty)
    {
        let _ = parse(&back.text);
        let _ = parse(&converted.text);
    }
    timed("shortcuts", text, allowed, || shortcuts(text));
}

fn shortcuts(text: &str) {
    let bbox = Some(BoundingBox { south: 0, west: 0, north: 10_000_000, east: 10_000_000 });
    let places = PlaceTable::default();
    let _ = turbo::expand(text, &ShortcutValues { bbox, now: 1_600_000_000, places: &places });
}

/// Prints a failure and checks its positions.
fn show(failure: &OverpassFailure, text: &str) {
    let mut out = String::new();
    let _ = write!(out, "{failure}");
    for diagnostic in &failure.diagnostics {
        if let Some(span) = diagnostic.span {
            assert!(span.start <= span.end && span.end <= text.len() + 1, "{span:?} of {}", text.len());
        }
    }
}

/// Runs a part and checks its time. If it seems to take too long, it is measured again, in processor time if the system
/// reports it, because a machine also has other work.
fn timed(what: &str, text: &str, allowed: Duration, part: impl Fn()) {
    let start = Instant::now();
    part();
    let mut fastest = start.elapsed();
    for _ in 0..3 {
        if fastest <= allowed {
            return;
        }
        let (start, busy) = (Instant::now(), busy());
        part();
        let taken = self::busy().zip(busy).map_or(start.elapsed(), |(after, before)| after.saturating_sub(before));
        fastest = fastest.min(taken);
    }
    assert!(fastest <= allowed, "{what} takes {fastest:?} for {} bytes", text.len());
}

/// Returns the processor time of this thread; available on Linux only.
fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns the FNV-1a hash, which is the same on every machine.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Pieces of queries.
pub const WORDS: &[&str] = &[
    "[out:json]",
    "[timeout:25]",
    "[bbox:1,2,3,4]",
    "[date:\"2020-01-01T00:00:00Z\"]",
    "node",
    "way",
    "nwr",
    "area",
    "rel",
    "(around:10)",
    "(if:t[\"a\"]>1)",
    "[~\"a\"~\"b\",i]",
    "(poly:\"1 2 3 4 5 6\")",
    "(bn)",
    "->.a",
    ".a",
    "out",
    "geom",
    "foreach",
    "for(t[\"a\"])",
    "complete(3)",
    "if(",
    "else",
    "is_in",
    "make x",
    "convert x",
    "::geom=",
    "set(",
    "hull(",
    "lrs_in(",
    "number(",
    "{{bbox}}",
    "{{geocodeArea:x}}",
    "/*",
    "*/",
    "//",
    "\\u0041",
    "<osm-script>",
    "<query type=\"node\">",
    "<has-kv k=\"a\" v=\"b\"/>",
    "<print/>",
    ";",
    "(",
    ")",
    "{",
    "}",
];
