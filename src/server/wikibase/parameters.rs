//! The parameters of a request, in the address and in a form.

use super::super::form;

/// What was asked for. Of two parameters with one name the last counts, as PHP reads them.
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Those of an address, then those of a form.
    ///
    /// # Errors
    /// One is not in UTF-8.
    pub fn of(address: Option<&str>, form: &[u8]) -> Result<Parameters, String> {
        let all = form::pairs(address.unwrap_or_default().as_bytes()).chain(form::pairs(form));
        let wrong = |_| "a parameter is not in UTF-8".to_owned();
        let read =
            all.map(|(name, value)| Ok((form::decoded(name).map_err(wrong)?, form::decoded(value).map_err(wrong)?)));
        read.collect::<Result<_, String>>().map(Parameters)
    }

    /// A parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a parameter is there, which says yes, whatever its value.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A list: between bars, or behind a unit separator that it begins with.
    pub fn list(&self, name: &str) -> Option<Vec<&str>> {
        let text = self.get(name)?;
        let all: Vec<&str> = match text.strip_prefix('\u{1f}') {
            Some(rest) => rest.split('\u{1f}').collect(),
            None => text.split('|').collect(),
        };
        Some(all.into_iter().filter(|one| !one.is_empty()).collect())
    }
}

/// Whether a text can be the code of a language.
pub fn is_language(code: &str) -> bool {
    !code.is_empty()
        && code.len() <= 32
        && code.starts_with(|c: char| c.is_ascii_alphabetic())
        && code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_counts() {
        let of = |address, form: &str| Parameters::of(Some(address), form.as_bytes()).unwrap();
        let all = of("ids=Q1&a=&ids=Q2%7CQ3", "b=x+y");
        assert_eq!(all.list("ids"), Some(vec!["Q2", "Q3"]));
        assert_eq!((all.get("b"), all.has("a"), all.get("c")), (Some("x y"), true, None));
        assert_eq!(of("ids=%1FQ1%1FQ2", "").list("ids"), Some(vec!["Q1", "Q2"]));
        assert!(Parameters::of(Some("a=%ff"), b"").is_err());
        assert!(is_language("zh-hant") && !is_language("") && !is_language("e n"));
    }
}
