//! Replies of language models, as one object or as a stream in packets of any size, and the mentions and queries in
//! them.

use terrapin::ask::{Lang, Mentions, ReplyContent, is_complete, queries};
use terrapin::chat::{EventStream, Reply, Request, whole};

/// The maximum size of a reply's text in bytes, and its maximum number of tokens.
const MOST: usize = 4 << 10;
const TOKENS: u32 = 60;

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
        "data: {\"choices\":[],\"model\":\"m\",\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2},\"timings\":{\"cache_n\":1,\"prompt_n\":2}}\n\n",
    ])
}

pub fn check(input: &[u8]) {
    if let Ok(reply) = whole(input, MOST) {
        read(&reply);
    }
    let has_query = |text: &str| is_complete(text, &[Lang::Overpassql, Lang::Sparql]);
    let request = Request::new("query", &[]);
    for request in [
        request,
        Request { is_complete: Some(&Mentions::is_complete), ..request },
        Request { is_complete: Some(&has_query), ..request },
    ] {
        let in_packets = |size: usize| {
            let mut stream = EventStream::new(&request, MOST, TOKENS);
            for packet in input.chunks(size.max(1)) {
                if stream.take(packet)? {
                    break;
                }
            }
            stream.finish()
        };
        let (one, many) = (in_packets(input.len()), in_packets(7));
        if let (Ok(one), Ok(many)) = (&one, &many) {
            assert_eq!(one, many);
        }
        if let Ok(reply) = &one {
            read(reply);
        }
    }
    read(&Reply { text: String::from_utf8_lossy(input).into_owned(), ..Reply::default() });
}

fn read(reply: &Reply) {
    let _ = Mentions::read(&reply.text);
    if let ReplyContent::Queries(queries, _) = queries(reply, None) {
        assert!((1..=2).contains(&queries.len()) && queries.iter().all(|query| !query.query.is_empty()));
    }
}
