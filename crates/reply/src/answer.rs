//! The answer in a reply: without thoughts, special tokens and further turns.

use std::borrow::Cow;

/// Tags around a thought: opening and closing.
const THOUGHTS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>", "<unused95>"),
];

/// Precedes each message of models that write to channels; the answer is the last message to `final`.
const CHANNEL: &str = "<|channel|>";
const FINAL: &str = "<|channel|>final<|message|>";

/// Tokens at the beginning of a reply.
const BEGINS: &[&str] = &[
    "<s>",
    "<bos>",
    "<|begin_of_text|>",
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<start_of_turn>model",
    "<|assistant|>",
    "<|begin_of_solution|>",
    "[/inst]",
];

/// Tokens that end a reply, or begin the next turn.
const ENDS: &[&str] = &[
    "</s>",
    "<eos>",
    "<|eos|>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|im_start|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<|end_of_solution|>",
    "<|end|>",
    "<|return|>",
    "<|user|>",
    "<|start_header_id|>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<|end_of_turn_token|>",
    "[inst]",
    "\n### instruction",
    "\n### user",
    "\n### question",
    "\nuser:",
    "\nhuman:",
];

/// Returns the answer in a reply, up to the next turn: without special tokens and without thoughts (`<think>` and
/// similar tags). An unclosed thought extends to the end; a closing tag without an opening one ends a thought that
/// began with the reply.
pub fn answer(reply: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(reply);
    if text.contains(CHANNEL) {
        text = Cow::Owned(text.rsplit_once(FINAL).map_or("", |(_, last)| last).to_owned());
    }
    for (open, close) in THOUGHTS {
        if let Some(rest) = without(&text, open, close) {
            text = Cow::Owned(rest);
        }
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(without_tokens(text)),
        Cow::Owned(text) => Cow::Owned(without_tokens(&text).to_owned()),
    }
}

/// Removes everything between two tags; `None` if the text has neither.
fn without(text: &str, open: &str, close: &str) -> Option<String> {
    let from = |at: usize, tag: &str| find(&text[at..], tag).map(|found| at + found);
    let (mut begin, mut end) = (from(0, open), from(0, close));
    if begin.is_none() && end.is_none() {
        return None;
    }
    let (mut out, mut at) = (String::new(), 0);
    loop {
        match (begin, end) {
            (None, None) => break,
            (Some(begin), end) if end.is_none_or(|end| begin < end) => {
                // Keep the text before and after separate.
                out.push_str(&text[at..begin]);
                out.push('\n');
            }
            // The opening tag was part of the prompt.
            _ => out.clear(),
        }
        at = end.map_or(text.len(), |end| end + close.len());
        if begin.is_some_and(|begin| begin < at) {
            begin = from(at, open);
        }
        end = from(at, close);
    }
    out.push_str(&text[at..]);
    Some(out)
}

fn without_tokens(text: &str) -> &str {
    let mut text = text.trim_start_matches('\u{feff}').trim();
    while let Some(rest) = BEGINS.iter().find_map(|token| strip(text, token)) {
        text = rest.trim_start();
    }
    let end = ENDS.iter().filter_map(|token| find(text, token)).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// Removes a token from the start of a text, ignoring case.
fn strip<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    let begin = text.get(..token.len())?;
    begin.eq_ignore_ascii_case(token).then(|| &text[token.len()..])
}

/// Returns the first position of a token, ignoring case.
fn find(text: &str, token: &str) -> Option<usize> {
    let first = *token.as_bytes().first()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let bytes = text.as_bytes();
    let is_here = |at: usize| bytes[at..].get(..token.len()).is_some_and(|b| b.eq_ignore_ascii_case(token.as_bytes()));
    (0..bytes.len()).find(|at| (bytes[*at] == lower || bytes[*at] == upper) && is_here(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_and_tokens_are_left_out() {
        for (reply, expected) in [
            ("<think>hm</think> a", "a"),
            ("hm</think> a", "a"),
            ("a <THINK>hm</THINK>", "a"),
            ("<think>for ever", ""),
            ("a<think>b</think>c<think>d</think>e", "a\nc\ne"),
            ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>a<|return|>", "a"),
            ("<|channel|>analysis<|message|>hm", ""),
            ("<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\nb", "a"),
            ("a</s></s>", "a"),
            ("\u{feff}a\nUser: b", "a"),
            ("◁think▷é◁/think▷ü", "ü"),
        ] {
            assert_eq!(answer(reply), expected, "{reply}");
        }
    }
}
