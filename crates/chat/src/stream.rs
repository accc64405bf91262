//! A streamed reply. It is read up to its end, its limits, or the point where it is complete.

use crate::events::EventLineReader;
use crate::reply::ReplyBuilder;
use crate::{ChatError, ChatErrorKind, Reply, Request};

/// Maximum number of stream bytes for each byte of text: the JSON around a piece of a word.
const AROUND: usize = 256;
/// Maximum number of pieces to read after a reply is complete. A model that stops there ends its reply within them, and
/// the server reports its tokens; otherwise the connection is closed.
const PIECES_AFTER: u64 = 4;
/// A reply is checked for completeness each time it has grown by this fraction of its length, so that all checks
/// together take linear time.
const GROWTH: usize = 64;

/// A stream of server-sent events.
pub struct EventStream<'a> {
    request: &'a Request<'a>,
    lines: EventLineReader,
    reply: ReplyBuilder,
    /// Number of bytes received, and its maximum.
    received: usize,
    most: usize,
    /// Maximum number of pieces.
    pieces: u64,
    /// Length of the text at the next check.
    next_check: usize,
    /// Number of pieces when the reply was complete.
    complete_at: Option<u64>,
    /// Whether the server sent the end of the stream.
    is_done: bool,
    /// Whether reading ended before the end of the stream.
    is_left: bool,
}

impl<'a> EventStream<'a> {
    /// Creates a stream with a text of at most `bytes` bytes and `tokens` tokens.
    pub fn new(request: &'a Request<'a>, bytes: usize, tokens: u32) -> EventStream<'a> {
        EventStream {
            request,
            lines: EventLineReader::default(),
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

    /// Returns whether all needed text was received, although the stream may go on.
    pub fn is_complete(&self) -> bool {
        self.complete_at.is_some()
    }

    /// Takes received bytes. Returns whether reading ends: at the end of the stream, at a limit, or after a complete
    /// reply. Later events are ignored, independent of packet boundaries.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a valid stream of a reply.
    pub fn take(&mut self, bytes: &[u8]) -> Result<bool, ChatError> {
        self.received = self.received.saturating_add(bytes.len());
        let events = self
            .lines
            .take(bytes)
            .map_err(|_| ChatError::new(ChatErrorKind::Broken, "a line of its reply has no end"))?;
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
            return Err(ChatError::new(
                ChatErrorKind::Broken,
                format!("it sent {} KiB and did not end", self.received >> 10),
            ));
        }
        Ok(false)
    }

    /// Stops reading a complete reply without waiting for its end.
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
        // Some servers ignore the limit of the request.
        if self.reply.pieces() > self.pieces {
            self.reply.cut();
            return true;
        }
        false
    }

    /// Returns the reply, after reading has ended.
    ///
    /// # Errors
    /// Returns an error if the stream was interrupted, or its reply is empty.
    pub fn finish(mut self) -> Result<Reply, ChatError> {
        let is_enough = self.is_done || self.is_left;
        // The last line may lack its end.
        let last = if is_enough { None } else { self.lines.last() };
        if let Some(event) = last.as_ref().filter(|event| *event != "[DONE]") {
            self.reply.take(event.as_bytes())?;
        } else if last.is_some() {
            self.is_done = true;
        }
        // An interrupted query may still parse, so the reply must not be used.
        if !is_enough && !self.is_done && !self.reply.is_ended() && !self.reply.is_full() {
            return Err(ChatError::new(ChatErrorKind::Unreachable, "its reply broke off before it ended"));
        }
        self.reply.finish(true)
    }
}

/// Parses a reply that is not streamed, with a text of at most `bytes` bytes.
///
/// # Errors
/// Returns an error if the object is not a reply, or the reply is empty.
pub fn whole(object: &[u8], bytes: usize) -> Result<Reply, ChatError> {
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
            let mut stream = EventStream::new(&request, 100, 4096);
            stream.take(text.as_bytes()).and_then(|_| stream.finish())
        };
        for end in ["data: [DONE]\n\n", "data: [DONE]", ended, &format!("{ended}\n\n")] {
            assert_eq!(read(&format!("{text}{end}")).unwrap().text, "node;out;", "{end}");
        }
        for end in ["", ": still there\n\n", "data: {\"choices\": []}\n\n"] {
            assert_eq!(read(&format!("{text}{end}")).unwrap_err().kind, ChatErrorKind::Unreachable, "{end}");
        }
        // A reply over its limit is cut, not an error.
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
            // If a model runs on, reading stops after four more pieces.
            (piece(" and so on").repeat(50), "{\"a\": 1}", estimate),
            // If it stops, its tokens are reported, and a limit that it reaches there does not count.
            (end.to_owned(), "{\"a\": 1}", counted),
        ] {
            let bytes = format!("{}{}{}{after}", piece("{\"a\""), piece(": "), piece("1}"));
            for size in [1, 7, bytes.len()] {
                let mut stream = EventStream::new(&request, 1000, 4096);
                let read = bytes.as_bytes().chunks(size).any(|bytes| stream.take(bytes).unwrap());
                assert!(read && stream.is_complete());
                let reply = stream.finish().unwrap();
                assert_eq!((reply.text.as_str(), reply.is_cut, reply.tokens), (text, false, tokens));
            }
        }
        // A broken connection is an error; a stalled one is closed.
        let mut stream = EventStream::new(&request, 1000, 4096);
        assert!(!stream.take(piece("{}").as_bytes()).unwrap() && stream.is_complete());
        stream.leave();
        assert_eq!(stream.finish().unwrap().text, "{}");
        let mut stream = EventStream::new(&request, 1000, 4096);
        assert!(!stream.take(piece("{}").as_bytes()).unwrap());
        assert_eq!(stream.finish().unwrap_err().kind, ChatErrorKind::Unreachable);
        // Thoughts are not part of the reply.
        let thought = format!("{}{}", piece("<think>{}"), piece(" hm"));
        let mut stream = EventStream::new(&request, 1000, 4096);
        assert!(!stream.take(thought.as_bytes()).unwrap() && !stream.is_complete());
    }

    #[test]
    fn a_server_that_ignores_the_limit_of_tokens_is_cut() {
        let request = Request::new("text", &[]);
        let mut stream = EventStream::new(&request, 1000, 5);
        assert!(stream.take(piece("a").repeat(50).as_bytes()).unwrap());
        let reply = stream.finish().unwrap();
        assert_eq!((reply.text.as_str(), reply.is_cut), ("aaaaaa", true));
    }
}
