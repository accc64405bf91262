//! A streamed reply. It is read up to its end, its limits, or the point where it is complete.

use crate::events::Lines;
use crate::reply::ReplyBuilder;
use crate::{Error, Kind, Reply, Request};

/// Bytes of a stream for each byte of text: names and numbers around a piece of a word.
const AROUND: usize = 256;
/// Pieces that are read after a reply is complete. A model that stops there ends its reply within them, and the server reports
/// its tokens; one that goes on is left.
const PIECES_AFTER: u64 = 4;
/// A reply is checked for completeness when it has grown by this part of its length, so that all checks together take time
/// proportional to the length.
const GROWTH: usize = 64;

/// A stream of server-sent events, read as it comes.
pub struct Stream<'a> {
    request: &'a Request<'a>,
    lines: Lines,
    reply: ReplyBuilder,
    /// Bytes received, and their maximum.
    received: usize,
    most: usize,
    /// Maximum pieces.
    pieces: u64,
    /// Length of the text at which it is checked next.
    next_check: usize,
    /// Number of pieces when the reply was complete.
    complete_at: Option<u64>,
    /// Whether the server sent the end of the stream.
    is_done: bool,
    /// Whether reading ended before the end of the stream.
    is_left: bool,
}

impl<'a> Stream<'a> {
    /// Returns a stream whose text has at most so many bytes and tokens.
    pub fn new(request: &'a Request<'a>, bytes: usize, tokens: u32) -> Stream<'a> {
        Stream {
            request,
            lines: Lines::default(),
            reply: ReplyBuilder::new(bytes),
            received: 0,
            most: bytes.saturating_mul(AROUND),
            pieces: u64::from(tokens),
            next_check: 0,
            complete_at: None,
            is_done: false,
            is_left: false,
        }
    }

    /// Returns the number of pieces so far.
    pub fn pieces(&self) -> u64 {
        self.reply.pieces()
    }

    /// Returns whether everything that is needed was received, though the stream may go on.
    pub fn is_complete(&self) -> bool {
        self.complete_at.is_some()
    }

    /// Takes received bytes and returns whether reading ends: the stream is at its end, a limit is reached, or the reply is
    /// complete. Events after that point are ignored, however the bytes were cut into packets.
    ///
    /// # Errors
    /// The bytes are no stream of a reply.
    pub fn take(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        self.received = self.received.saturating_add(bytes.len());
        let events = self.lines.take(bytes).map_err(|_| Error::new(Kind::Broken, "a line of its reply has no end"))?;
        for event in events {
            if event == "[DONE]" {
                self.is_done = true;
                return Ok(true);
            }
            self.reply.take(event.as_bytes())?;
            self.is_left = self.is_enough();
            if self.is_left {
                return Ok(true);
            }
        }
        if self.received > self.most {
            return Err(Error::new(Kind::Broken, format!("it sent {} KiB and did not end", self.received >> 10)));
        }
        Ok(false)
    }

    /// Ends reading of a complete reply whose end does not come.
    pub fn leave(&mut self) {
        self.is_left = self.is_complete();
    }

    fn is_enough(&mut self) -> bool {
        if self.reply.is_full() {
            return true;
        }
        if let Some(complete) = self.complete_at {
            return self.reply.pieces() > complete + PIECES_AFTER;
        }
        let text = self.reply.text();
        if let Some(is_complete) = self.request.is_complete
            && text.len() >= self.next_check
        {
            self.next_check = text.len() + text.len() / GROWTH + 1;
            if is_complete(&terrapin_reply::answer(text)) {
                self.complete_at = Some(self.reply.pieces());
                self.reply.close();
                return false;
            }
        }
        // Servers that ignore the limit of the request.
        if self.reply.pieces() > self.pieces {
            self.reply.cut();
            return true;
        }
        false
    }

    /// Returns the reply, once there is no more or enough.
    ///
    /// # Errors
    /// The stream broke off, or its reply is empty.
    pub fn finish(mut self) -> Result<Reply, Error> {
        let is_enough = self.is_done || self.is_left;
        // The last line may lack its end.
        let last = if is_enough { None } else { self.lines.last() };
        if let Some(event) = last.as_ref().filter(|event| *event != "[DONE]") {
            self.reply.take(event.as_bytes())?;
        } else if last.is_some() {
            self.is_done = true;
        }
        // A part of a query may parse as a query.
        if !is_enough && !self.is_done && !self.reply.is_ended() && !self.reply.is_full() {
            return Err(Error::new(Kind::Unreachable, "its reply broke off before it ended"));
        }
        self.reply.finish(true)
    }
}

/// Returns a reply that is one object, with a text of at most so many bytes.
///
/// # Errors
/// The object is no reply, or an empty one.
pub fn whole(object: &[u8], bytes: usize) -> Result<Reply, Error> {
    let mut reply = ReplyBuilder::new(bytes);
    reply.take(object)?;
    reply.finish(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenCounts;

    fn piece(text: &str) -> String {
        format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"content": text}}]}))
    }

    #[test]
    fn a_stream_that_breaks_off_is_no_reply() {
        let text = piece("node;out;");
        let ended = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}";
        let read = |text: &str| {
            let request = Request::new("query", &[]);
            let mut stream = Stream::new(&request, 100, 4096);
            stream.take(text.as_bytes()).and_then(|_| stream.finish())
        };
        for end in ["data: [DONE]\n\n", "data: [DONE]", ended, &format!("{ended}\n\n")] {
            assert_eq!(read(&format!("{text}{end}")).unwrap().text, "node;out;", "{end}");
        }
        for end in ["", ": still there\n\n", "data: {\"choices\": []}\n\n"] {
            assert_eq!(read(&format!("{text}{end}")).unwrap_err().kind, Kind::Unreachable, "{end}");
        }
        // A reply over its limit is cut, not broken off.
        assert!(read(&text.repeat(20)).unwrap().is_cut);
    }

    #[test]
    fn reading_stops_where_a_reply_is_complete() {
        let is_complete = |text: &str| text.contains('}');
        let request = Request { is_complete: Some(&is_complete), ..Request::new("mentions", &[]) };
        let end = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"length\"}], \"usage\": {\"prompt_tokens\": 9, \"completion_tokens\": 5}}\n\ndata: [DONE]\n\n";
        let estimate = TokenCounts { prompt: None, completion: Some(8), is_estimate: true };
        let counted = TokenCounts { prompt: Some(9), completion: Some(5), is_estimate: false };
        for (after, text, tokens) in [
            // A model that runs on is left after four more pieces.
            (piece(" and so on").repeat(50), "{\"a\": 1}", estimate),
            // One that stops reports its tokens, and a limit that it reaches there does not count.
            (end.to_owned(), "{\"a\": 1}", counted),
        ] {
            let bytes = format!("{}{}{}{after}", piece("{\"a\""), piece(": "), piece("1}"));
            for size in [1, 7, bytes.len()] {
                let mut stream = Stream::new(&request, 1000, 4096);
                let read = bytes.as_bytes().chunks(size).any(|bytes| stream.take(bytes).unwrap());
                assert!(read && stream.is_complete());
                let reply = stream.finish().unwrap();
                assert_eq!((reply.text.as_str(), reply.is_cut, reply.tokens), (text, false, tokens));
            }
        }
        // A connection that breaks is no end, and one that stalls is left.
        let mut stream = Stream::new(&request, 1000, 4096);
        assert!(!stream.take(piece("{}").as_bytes()).unwrap() && stream.is_complete());
        stream.leave();
        assert_eq!(stream.finish().unwrap().text, "{}");
        let mut stream = Stream::new(&request, 1000, 4096);
        assert!(!stream.take(piece("{}").as_bytes()).unwrap());
        assert_eq!(stream.finish().unwrap_err().kind, Kind::Unreachable);
        // What is thought is not the reply.
        let thought = format!("{}{}", piece("<think>{}"), piece(" hm"));
        let mut stream = Stream::new(&request, 1000, 4096);
        assert!(!stream.take(thought.as_bytes()).unwrap() && !stream.is_complete());
    }

    #[test]
    fn a_server_that_ignores_the_limit_of_tokens_is_cut() {
        let request = Request::new("text", &[]);
        let mut stream = Stream::new(&request, 1000, 5);
        assert!(stream.take(piece("a").repeat(50).as_bytes()).unwrap());
        let reply = stream.finish().unwrap();
        assert_eq!((reply.text.as_str(), reply.is_cut), ("aaaaaa", true));
    }
}
