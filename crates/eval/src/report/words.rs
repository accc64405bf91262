//! Error classes in words for people; files have the published names.

/// Returns the name of an error class on a page.
pub(crate) fn words(class: &str) -> &str {
    match class {
        "nominatim" => "place not found",
        "parse_error" => "parse error",
        "timeout" | "runtime_error_timeout" => "out of time",
        "static_error_diff" => "diff that cannot be shown",
        "static_error_timestamp" => "wrong timestamp",
        "static_error_re" => "wrong regular expression",
        "server_error_timeout" => "no answer in time",
        "static_error_convert" => "convert that is not possible",
        "memory_error" | "too_large" => "answer too large",
        "static_error_bbox" => "no valid box",
        "static_error_attribute_value" => "wrong value",
        "relative_date" => "wrong date",
        "unknown_error" => "other error",
        "no_query" => "no query",
        "label" => "label not found",
        "syntax" => "syntax error",
        "unsupported" => "not supported",
        "internal" => "internal error",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ErrorClass, FailureClass, FailureKind};

    #[test]
    fn every_class_has_words() {
        let names = ErrorClass::ALL.map(FailureKind::name).into_iter().chain(FailureClass::ALL.map(FailureKind::name));
        for name in names {
            assert!(words(name) != name && !words(name).contains('_'), "{name}");
        }
    }
}
