//! Replies of language models: one object, or a stream in whatever pieces, and the mentions and queries in their words.

use terrapin::ask::{Mentions, Written, queries};
use terrapin::chat::{Reply, Stream, whole};

/// Bytes of text that a reply may have here.
const MOST: usize = 4 << 10;

pub const WORDS: &[&str] = &[
    "data: ",
    "\n\n",
    "[DONE]",
    "{\"choices\":[{\"delta\":{\"content\":\"",
    "{\"choices\":[{\"message\":{\"content\":\"",
    "\"}}]}",
    "\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"\",\"arguments\":\"",
    "\"finish_reason\":\"length\"",
    "\"refusal\":\"",
    "```overpassql\\n",
    "```",
    "map: no\\n",
    "no query:",
    "</think>",
    "{\\\"places\\\":[\\\"",
    "node[amenity=cafe];out;",
    "SELECT * {}",
    "\\ud800",
    "\u{e9}",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "{\"choices\":[{\"message\":{\"content\":\"map: yes\\n```overpassql\\nnode[amenity=cafe];out;\\n```\"},\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"places\\\":[\\\"Valletta\\\"]}\"}}]}\n\ndata: [DONE]\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"q\",\"arguments\":\"{\\\"query\\\":\\\"SELECT * {}\\\"}\"}}]}}]}\n\n",
        "{\"error\":{\"message\":\"overloaded\"}}",
    ])
}

pub fn check(input: &[u8]) {
    if let Ok(reply) = whole(input, MOST) {
        said(&reply);
    }
    let in_pieces = |size: usize| {
        let mut stream = Stream::new(MOST);
        for piece in input.chunks(size.max(1)) {
            if stream.take(piece)? {
                break;
            }
        }
        stream.finish()
    };
    let (one, many) = (in_pieces(input.len()), in_pieces(7));
    // Where it is cut, the pieces decide where.
    if let (Ok(one), Ok(many)) = (&one, &many)
        && !one.is_cut
    {
        assert_eq!(one, many);
    }
    if let Ok(reply) = &one {
        said(reply);
    }
    said(&Reply { text: String::from_utf8_lossy(input).into_owned(), ..Reply::default() });
}

fn said(reply: &Reply) {
    let _ = Mentions::read(&reply.text);
    if let Written::Queries(queries, _) = queries(reply, None) {
        assert!((1..=2).contains(&queries.len()) && queries.iter().all(|query| !query.query.is_empty()));
    }
}
