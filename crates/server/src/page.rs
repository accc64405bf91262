//! The error page of an Overpass server: HTML, one paragraph for each error. Clients search the page for its wording.

use std::borrow::Cow;
use std::fmt::Display;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::outcome::Outcome;
use crate::rejected::Rejected;
use crate::service::{Wording, while_read};
use terrapin_engine::Stop;

/// Returns the page with these error lines.
pub fn page<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    page_with(lines, None)
}

/// Returns the page with these error lines, and below them a preformatted text.
pub fn page_with<'a>(lines: impl IntoIterator<Item = &'a str>, text: Option<&str>) -> String {
    let mut out = String::from(concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\"\n",
        "    \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\">\n",
        "<html xmlns=\"http://www.w3.org/1999/xhtml\" xml:lang=\"en\" lang=\"en\">\n",
        "<head>\n",
        "  <meta http-equiv=\"content-type\" content=\"text/html; charset=utf-8\" lang=\"en\"/>\n",
        "  <title>OSM3S Response</title>\n",
        "</head>\n",
        "<body>\n\n",
        "<p>The data included in this document is from www.openstreetmap.org. ",
        "The data is made available under ODbL.</p>\n",
    ));
    for line in lines {
        out.push_str("<p><strong style=\"color:#FF0000\">Error</strong>: ");
        html_escape::encode_double_quoted_attribute_to_string(line, &mut out);
        out.push_str(" </p>\n");
    }
    if let Some(text) = text {
        out.push_str("\n<pre>");
        html_escape::encode_double_quoted_attribute_to_string(text, &mut out);
        out.push_str("</pre>\n");
    }
    out.push_str("\n</body>\n</html>\n");
    out
}

/// Returns an error response with these lines.
pub fn error<'a>(status: StatusCode, lines: impl IntoIterator<Item = &'a str>) -> Response {
    with(status, page(lines))
}

/// Returns a page as a response.
pub fn with(status: StatusCode, page: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

/// The error format of the Overpass API's services.
#[derive(Debug, Clone, Copy)]
pub struct OverpassWording {
    /// The message for a program fault.
    pub broken: &'static str,
}

impl Wording for OverpassWording {
    fn media_types(&self) -> &'static [&'static str] {
        &["text/html"]
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        error(status, [message])
    }

    /// Returns the messages of the public services by which clients detect that they have to retry later.
    fn rejected(&self, why: &Rejected) -> Cow<'static, str> {
        let text = match why {
            Rejected::ClientQueries | Rejected::ClientSeconds(_) => {
                "runtime error: Dispatcher_Client::request_read_and_idx::rate_limited. \
                 Please check /api/status for the quota of your IP address."
            }
            Rejected::QueueFull => {
                "runtime error: Dispatcher_Client::request_read_and_idx::rate_limited. \
                 Please check /api/status for the free slots."
            }
            Rejected::QueueTimeout => {
                "runtime error: Dispatcher_Client::request_read_and_idx::timeout. \
                 The server is probably too busy to handle your request."
            }
            Rejected::GoingDown => "runtime error: The server is going down.",
            Rejected::NoToken | Rejected::UnknownToken | Rejected::Forbidden(_) | Rejected::Foreign(_) => {
                return why.message("The query");
            }
            _ => return format!("encoding error: {}.", why.message("The query")).into(),
        };
        text.into()
    }

    fn halted(&self, stop: &Stop) -> (StatusCode, String) {
        (Outcome::from(stop).status(), format!("runtime error: {}.", while_read(stop)))
    }

    fn broken(&self) -> &'static str {
        self.broken
    }

    fn damaged(&self, _: &dyn Display) -> String {
        self.broken.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_cannot_write_into_the_page() {
        let html = page(["line 1: parse error: Unknown type \"<script>\"", "line 2: parse error: 'a' & b"]);
        assert!(html.contains(
            "<p><strong style=\"color:#FF0000\">Error</strong>: line 1: parse error: Unknown type \
             &quot;&lt;script&gt;&quot; </p>\n"
        ));
        assert_eq!(html.matches("Error</strong>").count(), 2);
        assert!(html.contains("'a' &amp; b"));
    }
}
