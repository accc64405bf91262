//! Parses the parameters of a request, from its URL and a form.

use crate::form;

/// The parameters of a request. If a name is repeated, the last value counts, as in PHP.
pub struct ActionParameters(Vec<(String, String)>);

impl ActionParameters {
    /// Parses the parameters of a URL, then those of a form.
    ///
    /// # Errors
    /// Returns an error if a parameter is not UTF-8.
    pub fn of(address: Option<&str>, form: &[u8]) -> Result<ActionParameters, String> {
        let all = form::pairs(address.unwrap_or_default().as_bytes()).chain(form::pairs(form));
        let wrong = |_| "a parameter is not in UTF-8".to_owned();
        let read =
            all.map(|(name, value)| Ok((form::decoded(name).map_err(wrong)?, form::decoded(value).map_err(wrong)?)));
        read.collect::<Result<_, String>>().map(ActionParameters)
    }

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a flag: true if the parameter is present, even if its value is empty or `false`, as in MediaWiki.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the values of a list. They are separated by `|`, or by U+001F if the list begins with it.
    pub fn list(&self, name: &str) -> Option<Vec<&str>> {
        let text = self.get(name)?;
        let all: Vec<&str> = match text.strip_prefix('\u{1f}') {
            Some(rest) => rest.split('\u{1f}').collect(),
            None => text.split('|').collect(),
        };
        Some(all.into_iter().filter(|one| !one.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_counts() {
        let of = |address, form: &str| ActionParameters::of(Some(address), form.as_bytes()).unwrap();
        let all = of("ids=Q1&a=&ids=Q2%7CQ3", "b=x+y");
        assert_eq!(all.list("ids"), Some(vec!["Q2", "Q3"]));
        assert_eq!((all.get("b"), all.has("a"), all.get("c")), (Some("x y"), true, None));
        assert_eq!(of("ids=%1FQ1%1FQ2", "").list("ids"), Some(vec!["Q1", "Q2"]));
        assert!(ActionParameters::of(Some("a=%ff"), b"").is_err());
    }
}
