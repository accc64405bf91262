//! Translates the header block of `[out:custom]` answers. In Overpass, a program writes this block for its web server;
//! here it is turned into the response that the web server would make of it.

use std::io::{self, Write};

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use terrapin_overpass::output::{MOVED_HEAD, PAGE_HEAD};

/// A writer that removes the header block of a page, which comes before the page's first byte.
pub struct WithoutHead<W> {
    to: W,
    begun: bool,
}

impl<W: Write> WithoutHead<W> {
    /// Wraps the writer `to`.
    pub fn new(to: W) -> Self {
        WithoutHead { to, begun: false }
    }
}

impl<W: Write> Write for WithoutHead<W> {
    /// Writes the bytes. The header block is always within the first piece, because a format passes on a full buffer or
    /// the whole answer.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !std::mem::replace(&mut self.begun, true)
            && let Some(page) = bytes.strip_prefix(PAGE_HEAD.as_bytes())
        {
            self.to.write_all(page)?;
            return Ok(bytes.len());
        }
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Returns the redirect response if the answer is a redirect.
pub fn redirection(answer: &[u8]) -> Option<Response> {
    let address = std::str::from_utf8(answer.strip_prefix(MOVED_HEAD.as_bytes())?).ok()?;
    Some((StatusCode::FOUND, [(header::LOCATION, address.trim_end())]).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_loses_its_head_and_nothing_else_does() {
        for (answer, body) in [
            (format!("{PAGE_HEAD}<p>{PAGE_HEAD}"), format!("<p>{PAGE_HEAD}")),
            ("<h2>A</h2>".to_owned(), "<h2>A</h2>".to_owned()),
            (String::new(), String::new()),
        ] {
            let mut out = Vec::new();
            WithoutHead::new(&mut out).write_all(answer.as_bytes()).expect("written");
            assert_eq!(String::from_utf8(out).expect("UTF-8"), body);
        }
    }

    #[test]
    fn only_an_answer_that_moved_is_a_redirection() {
        let moved = redirection(format!("{MOVED_HEAD}https://example.org/node/1\n\n").as_bytes()).expect("it is one");
        assert_eq!(moved.status(), StatusCode::FOUND);
        assert_eq!(moved.headers()[header::LOCATION], "https://example.org/node/1");
        assert!(redirection(b"node\t1\n").is_none());
    }
}
