//! The parameters that taginfo's services share.

use crate::form;
use terrapin_osm::ElementType;
use terrapin_tags::{RowPage, Which};

/// Columns of texts, which are sorted from A by default. Others are numbers, which are sorted from the greatest.
const TEXTS: &[&str] = &["key", "value", "tag", "other_key", "other_tag", "role", "rtype", "length"];

/// The parameters of a request; of several with one name the first counts. Unknown parameters are ignored, because
/// clients send `lang`, `qtype` and others.
pub struct TaginfoParameters(Vec<(String, String)>);

impl TaginfoParameters {
    /// Parses the query string of an address.
    ///
    /// # Errors
    /// It is not in UTF-8.
    pub fn parse(query: &str) -> Result<TaginfoParameters, String> {
        let text = |part| form::decoded(part).map_err(|_| "the address is not in UTF-8".to_owned());
        form::pairs(query.as_bytes())
            .map(|(name, value)| Ok((text(name)?, text(value)?)))
            .collect::<Result<_, _>>()
            .map(TaginfoParameters)
    }

    /// Returns the value of a parameter.
    pub fn get(&self, wanted: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a parameter, or `None` if it is missing or empty.
    fn filled(&self, wanted: &str) -> Option<&str> {
        self.get(wanted).filter(|value| !value.is_empty())
    }

    /// Returns the value of a required parameter; it may be empty.
    ///
    /// # Errors
    /// It is missing.
    pub fn needed(&self, wanted: &str) -> Result<&str, String> {
        self.get(wanted).ok_or_else(|| format!("the parameter {wanted:?} is missing"))
    }

    /// Returns the text to search for; empty for any.
    pub fn query(&self) -> &str {
        self.get("query").unwrap_or_default()
    }

    /// Returns the page, from 1, and the number of its rows; `None` for all rows, as with `rp=0`. All rows are on page
    /// 1.
    ///
    /// # Errors
    /// A number is wrong.
    pub fn page(&self) -> Result<(usize, Option<usize>), String> {
        let page = match self.filled("page").map(whole_number) {
            None => 1,
            Some(Some(page)) if page > 0 => page,
            Some(_) => return Err("page: expected a number above 0".to_owned()),
        };
        let rp = match self.filled("rp").map(whole_number) {
            None | Some(Some(0)) => None,
            Some(Some(rp)) => Some(rp),
            Some(None) => return Err("rp: expected a number of rows, or 0 for all".to_owned()),
        };
        Ok((page, rp))
    }

    /// Returns the rows of the page.
    ///
    /// # Errors
    /// Those of [`TaginfoParameters::page`].
    pub fn part(&self) -> Result<RowPage, String> {
        let (page, rp) = self.page()?;
        Ok(RowPage { skip: (page - 1).saturating_mul(rp.unwrap_or(usize::MAX)), take: rp })
    }

    /// Returns the order of the column that rows are sorted by, and whether it is descending.
    ///
    /// # Errors
    /// No column has the name, or the direction is unknown.
    pub fn sorting<T: Copy>(&self, columns: &[(&str, T)], default: (T, bool)) -> Result<(T, bool), String> {
        let (order, descending) = match self.filled("sortname") {
            None => default,
            Some(wanted) => match columns.iter().find(|(name, _)| *name == wanted) {
                Some((name, order)) => (*order, !TEXTS.contains(name)),
                None => return Err(format!("sortname: expected one of {}", names(columns))),
            },
        };
        match self.filled("sortorder") {
            None => Ok((order, descending)),
            Some(direction) if direction.eq_ignore_ascii_case("asc") => Ok((order, false)),
            Some(direction) if direction.eq_ignore_ascii_case("desc") => Ok((order, true)),
            Some(_) => Err("sortorder: expected asc or desc".to_owned()),
        }
    }

    /// Returns the filters of a list with commas; `all` is no filter.
    ///
    /// # Errors
    /// A filter is unknown.
    pub fn filters<T: Copy>(&self, known: &[(&str, T)]) -> Result<Vec<T>, String> {
        let wanted = self.get("filter").unwrap_or_default().split(',');
        let wanted = wanted.filter(|name| !matches!(*name, "" | "all"));
        let find = |name: &str| known.iter().find(|(own, _)| *own == name).map(|(_, filter)| *filter);
        wanted.map(|name| find(name).ok_or_else(|| format!("filter: expected one of all, {}", names(known)))).collect()
    }

    /// Returns the element types to count.
    ///
    /// # Errors
    /// There is more than one, or it is unknown.
    pub fn which(&self) -> Result<Which, String> {
        let types = [
            ("nodes", Which::Only(ElementType::Node)),
            ("ways", Which::Only(ElementType::Way)),
            ("relations", Which::Only(ElementType::Relation)),
        ];
        match self.filters(&types)?.as_slice() {
            [] => Ok(Which::All),
            [one] => Ok(*one),
            _ => Err(format!("filter: expected one of all, {}", names(&types))),
        }
    }

    /// Returns a share, from 0 to 1.
    ///
    /// # Errors
    /// It is no number of this range.
    pub fn fraction(&self, name: &str) -> Result<Option<f64>, String> {
        let share = |text: &str| text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let parsed = self.filled(name).map(share);
        parsed.map(|share| share.ok_or_else(|| format!("{name}: expected a number from 0 to 1"))).transpose()
    }

    /// Returns a number of elements.
    ///
    /// # Errors
    /// It is no number.
    pub fn count(&self, name: &str) -> Result<Option<u64>, String> {
        let parsed =
            self.filled(name).map(|text| whole_number(text).ok_or_else(|| format!("{name}: expected a number")));
        Ok(parsed.transpose()?.map(|number| number as u64))
    }
}

/// Parses a whole number; one that is too large is the largest.
fn whole_number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

/// Joins the names of a table.
fn names<T>(table: &[(&str, T)]) -> String {
    table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
