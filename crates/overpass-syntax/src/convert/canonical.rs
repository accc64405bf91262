//! What the reference keeps of an element: its filters are read before they are written, so that their numbers are
//! printed anew, and what is not valid is left out.

use crate::Form;
use crate::check::numbers::{float, number_text, timestamp};
use crate::element::Element;

/// Attributes in the order in which they are written.
pub(crate) type Values = Vec<(String, String)>;

impl Element {
    /// Its attributes as they are written.
    pub fn values(&self) -> Values {
        if let Some(values) = Form::named(&self.name).iter().find_map(|form| (form.values)(self)) {
            return values;
        }
        let mut list = List::default();
        if self.name == "eval-set-count" {
            list.always("from", self.get("from"));
            list.always("type", if self.get("type") == "nodes" { "node" } else { self.get("type") });
            return list.0;
        }
        list.0.extend(self.attributes.iter().map(|(name, value)| (name.to_string(), value.clone())));
        if self.name != "set-prop" && !self.name.starts_with("eval-") {
            list.0.sort();
        }
        list.0
    }
}

/// Attributes as they are put together.
#[derive(Default)]
pub(crate) struct List(pub Values);

impl List {
    /// Adds one.
    pub fn always(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Adds one that has a value.
    pub fn some(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.always(name, value);
        }
    }

    /// The value of one, empty where it is not there.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }
}

/// A number as it is printed.
pub(crate) fn number(text: &str) -> String {
    number_text(float(text))
}

/// A moment; what is none is the earliest there is.
pub(crate) fn moment(text: &str) -> String {
    let digits = timestamp(text).and_then(|_| text.get(.."2020-02-20T20:20:20".len()));
    format!("{}Z", digits.unwrap_or("0000-00-00T00:00:00"))
}
