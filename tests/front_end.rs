//! Goes through the texts that fuzzing left (`fuzz/corpus`): none of them may break the front end of the query language.
//!
//! With `TERRAPIN_FUZZ_SECONDS=600` it also tries random changes of them for so long, on any compiler; `make fuzz` is
//! better at it.

#[path = "../fuzz/front_end.rs"]
mod front_end;

use std::path::Path;
use std::time::{Duration, Instant};

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/front_end");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a text")).collect()
}

#[test]
fn nothing_in_the_corpus_breaks_the_front_end() {
    let corpus = corpus();
    assert!(corpus.len() > 20);
    corpus.iter().for_each(|text| front_end::check(text));
    let seconds = std::env::var("TERRAPIN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut random, mut tried) = (Random(88_172_645_463_325_252), 0);
    while Instant::now() < end {
        let text = random.change(&corpus);
        if std::panic::catch_unwind(|| front_end::check(&text)).is_err() {
            panic!("breaks the front end: {:?}", String::from_utf8_lossy(&text));
        }
        tried += 1;
    }
    println!("{} texts, {tried} changed ones", corpus.len());
}

/// Long lists of everything there are lists of: nothing may be looked for in all that came before it.
#[test]
fn long_texts_take_time_in_proportion() {
    const LENGTH: usize = 256 << 10;
    // Before, between, after.
    type Shape = (&'static str, fn(usize) -> String, &'static str);
    let shapes: [Shape; 16] = [
        ("", |i| format!("[a{i}:1]"), ";node(1);out;"),
        ("", |_| "[timeout:1]".to_owned(), ";node(1);out;"),
        ("make x ", |_| "a=1,".to_owned(), "b=2;out;"),
        ("make x ", |i| format!("k{i}={i},"), "b=2;out;"),
        ("node", |i| format!("[a~\"b{{{}}}\"]", i % 30_000), "(1);out;"),
        ("node", |i| format!("[a~\"[[:alpha:]]{{{}}}\",i]", i % 200), "(1);out;"),
        ("", |i| format!("node({i})->.s{i};"), "out;"),
        ("", |_| "out;".to_owned(), ""),
        ("node(id:", |i| format!("{i},"), "1);out;"),
        ("node(poly:\"", |_| "1 2 ".to_owned(), "3 4 5 6\");out;"),
        ("node(user:", |i| format!("\"u{i}\","), "\"a\");out;"),
        ("[out:csv(", |i| format!("\"u{i}\","), "\"a\")];out;"),
        ("", |i| format!("f{i};\n"), ""),
        ("", |i| format!("{{{{k{i}=v}}}}{{{{k{i}}}}}"), ""),
        ("<osm-script", |i| format!(" a{i}=\"b\""), "/>"),
        (
            "<osm-script><make type=\"a\">",
            |_| "<set-prop k=\"k\"><eval-fixed v=\"1\"/></set-prop>".to_owned(),
            "</make></osm-script>",
        ),
    ];
    for (start, item, end) in shapes {
        let mut text = start.to_owned();
        let mut i = 0;
        while text.len() < LENGTH {
            text.push_str(&item(i));
            i += 1;
        }
        text.push_str(end);
        front_end::check(text.as_bytes());
    }
}

/// Xorshift: the same texts every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    /// A text with pieces left out, doubled, put elsewhere or taken from others.
    fn change(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut text = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(6) {
            let start = self.below(text.len() + 1);
            let end = (start + 1 + self.below(12)).min(text.len());
            match self.below(5) {
                0 => drop(text.drain(start..end)),
                1 => {
                    let piece = text[start..end].repeat(1 + self.below(4));
                    text.splice(start..start, piece);
                }
                2 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len() + 1);
                    let to = (from + 1 + self.below(30)).min(other.len());
                    text.splice(start..start, other[from..to].iter().copied());
                }
                3 => {
                    const SIGNS: &[u8] = b"()[]{};:.,->=!~\"'\\<>/*&|?+0a \n\xc3\xa9";
                    text.insert(start, SIGNS[self.below(SIGNS.len())]);
                }
                _ => text.truncate(start.max(1)),
            }
        }
        text
    }
}
