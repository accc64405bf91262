//! The parameters that taginfo's services share.

use crate::form;
use terrapin_osm::ElementType;
use terrapin_tags::{Part, Which};

/// The parameters of a request; of several with one name the first counts.
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads what stands in an address behind the question mark.
    ///
    /// # Errors
    /// It is not in UTF-8.
    pub fn read(query: &str) -> Result<Parameters, String> {
        let text = |part| form::decoded(part).map_err(|_| "the address is not in UTF-8".to_owned());
        form::pairs(query.as_bytes())
            .map(|(name, value)| Ok((text(name)?, text(value)?)))
            .collect::<Result<_, _>>()
            .map(Parameters)
    }

    /// The one of this name.
    pub fn get(&self, wanted: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// The one of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn needed(&self, wanted: &str) -> Result<&str, String> {
        self.get(wanted).ok_or_else(|| format!("the parameter {wanted:?} is missing"))
    }

    /// What is looked for in texts.
    pub fn query(&self) -> &str {
        self.get("query").unwrap_or_default()
    }

    fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let text = self.get(name).filter(|text| !text.is_empty());
        let number = text.map(|text| text.parse().ok().filter(|&n| n > 0));
        number.map(|n| n.ok_or_else(|| format!("{name}: expected a number above 0"))).transpose()
    }

    /// The page, counted from 1, and how many rows it has; all of them where nothing is said.
    pub fn page(&self) -> Result<(usize, Option<usize>), String> {
        let (page, rp) = (self.number("page")?, self.number("rp")?);
        match (page, rp) {
            (Some(page), None) if page > 1 => Err("page: how many rows has one? Say so with rp".to_owned()),
            (page, rp) => Ok((page.unwrap_or(1), rp)),
        }
    }

    /// The rows of the page.
    pub fn part(&self) -> Result<Part, String> {
        let (page, rp) = self.page()?;
        Ok(Part { skip: (page - 1).saturating_mul(rp.unwrap_or_default()), take: rp })
    }

    /// What rows are sorted by, one of the names, and whether the greatest is first.
    pub fn sorting(
        &self,
        names: &[&'static str],
        default: (&'static str, bool),
    ) -> Result<(&'static str, bool), String> {
        let asked = self.get("sortname").filter(|name| !name.is_empty());
        let name = match asked {
            None => default.0,
            Some(asked) => *names
                .iter()
                .find(|name| **name == asked)
                .ok_or_else(|| format!("sortname: expected one of {}", names.join(", ")))?,
        };
        let descending = match self.get("sortorder") {
            // Counts from the greatest, texts from A.
            None | Some("") => {
                if asked.is_some() {
                    !["key", "value", "tag", "other_key", "other_tag", "length"].contains(&name)
                } else {
                    default.1
                }
            }
            Some(order) if order.eq_ignore_ascii_case("asc") => false,
            Some(order) if order.eq_ignore_ascii_case("desc") => true,
            Some(_) => return Err("sortorder: expected asc or desc".to_owned()),
        };
        Ok((name, descending))
    }

    /// Which elements are counted.
    pub fn which(&self) -> Result<Which, String> {
        match self.get("filter").unwrap_or_default() {
            "" | "all" => Ok(Which::All),
            "nodes" => Ok(Which::Only(ElementType::Node)),
            "ways" => Ok(Which::Only(ElementType::Way)),
            "relations" => Ok(Which::Only(ElementType::Relation)),
            _ => Err("filter: expected one of all, nodes, ways, relations".to_owned()),
        }
    }
}
