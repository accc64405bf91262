//! Reduces elements to the attributes that the reference keeps in a conversion. It parses filters before it writes
//! them. Therefore numbers are reformatted, and invalid parts are left out.

use crate::ElementSyntax;
use crate::check::numbers::{float, number_text, timestamp};
use crate::element::SyntaxElement;

/// Attributes in output order.
pub(crate) type Values = Vec<(String, String)>;

impl SyntaxElement {
    /// Returns the attributes for output.
    pub fn values(&self) -> Values {
        if let Some(values) = ElementSyntax::named(&self.name).iter().find_map(|form| (form.values)(self)) {
            return values;
        }
        let mut list = AttributeList::default();
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

/// A builder of attribute lists.
#[derive(Default)]
pub(crate) struct AttributeList(pub Values);

impl AttributeList {
    /// Adds an attribute.
    pub fn always(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Adds an attribute if its value is not empty.
    pub fn some(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.always(name, value);
        }
    }

    /// Returns the value of an attribute; an empty text if it is missing.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }
}

/// Returns a number as the reference prints it.
pub(crate) fn number(text: &str) -> String {
    number_text(float(text))
}

/// Returns a moment as the reference prints it. An invalid text becomes the earliest possible moment.
pub(crate) fn moment(text: &str) -> String {
    let digits = timestamp(text).and_then(|_| text.get(.."2020-02-20T20:20:20".len()));
    format!("{}Z", digits.unwrap_or("0000-00-00T00:00:00"))
}
