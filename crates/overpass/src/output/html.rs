//! The common parts of the two HTML formats: the page around the answer, and the names of elements.

use super::buffer::Buffer;
use super::{COPYRIGHT, OutputItem};

/// The media type.
pub(super) const CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// Returns whether these formats show an element. Areas and derived elements are not shown.
pub(super) fn shows(item: &OutputItem<'_>) -> bool {
    matches!(item.type_name, "node" | "way" | "relation")
}

/// Writes the page up to its content.
pub(super) fn begin(b: &mut Buffer<'_>) {
    b.text(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"
    "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
<head>
  <meta http-equiv="content-type" content="text/html; charset=utf-8" lang="en"/>
  <title>OSM3S Response</title>
</head>
<body>

"#,
    );
}

/// Writes the licence as a paragraph.
pub(super) fn copyright(b: &mut Buffer<'_>) {
    b.text("<p>");
    b.text(COPYRIGHT);
    b.text("</p>\n");
}

/// Writes the rest of the page.
pub(super) fn end(b: &mut Buffer<'_>) {
    b.text("</body>\n</html>\n");
}
