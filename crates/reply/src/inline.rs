//! Code within a line: between single or double backticks.

/// Returns the code within lines of a text that has no blocks.
pub fn spans(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    text.split("\n\n").for_each(|paragraph| in_paragraph(paragraph, &mut spans));
    spans
}

fn in_paragraph<'a>(text: &'a str, spans: &mut Vec<&'a str>) {
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let inside = rest[at..].trim_start_matches('`');
        let length = rest.len() - at - inside.len();
        match (length <= 2).then(|| end(inside, length)).flatten() {
            Some(end) => {
                spans.push(&inside[..end]);
                rest = &inside[end + length..];
            }
            None => rest = inside,
        }
    }
}

/// Returns the position of the next run of exactly `length` backticks.
fn end(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = text[at..].find('`') {
        let run = text[at + next..].bytes().take_while(|byte| *byte == b'`').count();
        if run == length {
            return Some(at + next);
        }
        at += next + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_found() {
        assert_eq!(spans("`a` and ``b`c`` and `d\n\n`e`"), ["a", "b`c", "e"]);
        assert_eq!(spans("no ` code"), Vec::<&str>::new());
    }
}
