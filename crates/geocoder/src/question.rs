//! What somebody looks for, taken apart: the ways in which a text can be read as a name with what lies around it.

use terrapin_osm::names::words;

/// Parts of a text between commas that count.
const PARTS: usize = 8;
/// Words of a text that count.
const WORDS: usize = 12;

/// What somebody looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// A text as people write it: `12 Republic Street, Valletta`.
    Text(String),
    /// The parts of an address.
    Parts(Parts),
}

/// The parts of an address; those that are empty say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Parts {
    pub amenity: String,
    /// With the house's number, if there is one, before or behind.
    pub street: String,
    pub city: String,
    pub county: String,
    pub state: String,
    pub country: String,
    pub postcode: String,
}

/// What a name has to be that was asked for as a part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Anything.
    Any,
    /// A street, or a house in it.
    Street,
    /// A town, or what is in its place.
    City,
    /// A region.
    Region,
    /// A country.
    Country,
}

/// One way to read a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The words of the name.
    pub name: Vec<String>,
    /// The number of a house, as it was written.
    pub house: Option<String>,
    /// The words of what it lies in.
    pub within: Vec<Vec<String>>,
    /// What it has to be.
    pub sort: Sort,
    /// Whether the last word of the name is the last that was typed.
    pub ends: bool,
    /// How far it is from what was said: 1 where a number was left out.
    pub distance: u8,
}

impl Question {
    /// All readings, those with more words in the name first.
    pub fn readings(&self) -> Vec<Reading> {
        match self {
            Question::Text(text) => of_text(text),
            Question::Parts(parts) => parts.readings(),
        }
    }

    /// As it is told in an answer.
    pub fn text(&self) -> String {
        match self {
            Question::Text(text) => text.clone(),
            Question::Parts(parts) => {
                let all = parts.all();
                all.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn of_text(text: &str) -> Vec<Reading> {
    let parts: Vec<&str> =
        text.split([',', '،', '、', '\n']).filter(|part| !words(part).is_empty()).take(PARTS).collect();
    let folded: Vec<Vec<String>> = parts.iter().map(|part| cut(words(part))).collect();
    match (&folded[..], &parts[..]) {
        ([only], [text]) => {
            let mut readings = named(only, text, &[], Sort::Any, true);
            for at in (1..only.len()).rev() {
                let (front, back) = only.split_at(at);
                readings.extend(named(front, text, &[back.to_vec()], Sort::Any, false));
                readings.extend(named(back, text, &[front.to_vec()], Sort::Any, true));
            }
            readings
        }
        ([number, street, within @ ..], [text, ..]) if number.len() == 1 && is_number(&number[0]) => {
            let reading = |house: Option<&str>| Reading {
                name: street.clone(),
                house: house.map(|house| house.trim().to_owned()),
                within: within.to_vec(),
                sort: if house.is_some() { Sort::Street } else { Sort::Any },
                ends: within.is_empty(),
                distance: 0,
            };
            vec![reading(Some(text)), Reading { distance: 1, ..reading(None) }]
        }
        ([name, within @ ..], [text, ..]) => named(name, text, within, Sort::Any, false),
        _ => Vec::new(),
    }
}

/// Readings of a name: as it is, and as a street with a number.
fn named(name: &[String], text: &str, within: &[Vec<String>], sort: Sort, ends: bool) -> Vec<Reading> {
    let plain = Reading { name: name.to_vec(), house: None, within: within.to_vec(), sort, ends, distance: 0 };
    let house = house(name, text, within, ends);
    let street = house.clone().map(|reading| Reading { house: None, distance: 1, ..reading });
    [Some(plain), house, street].into_iter().flatten().collect()
}

/// The reading of a name as a street with a number before or behind it.
fn house(name: &[String], text: &str, within: &[Vec<String>], ends: bool) -> Option<Reading> {
    let (number, street) = match name {
        [number, street @ ..] if is_number(number) && !street.is_empty() => (number, street),
        [street @ .., number] if is_number(number) && !street.is_empty() => (number, street),
        _ => return None,
    };
    // As it was written: `12A`.
    let written = text.split(|c: char| c.is_whitespace() || c == ',').find(|part| words(part) == [number.clone()]);
    let house = written.unwrap_or(number).to_owned();
    Some(Reading {
        name: street.to_vec(),
        house: Some(house),
        within: within.to_vec(),
        sort: Sort::Street,
        ends,
        distance: 0,
    })
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn cut(mut words: Vec<String>) -> Vec<String> {
    words.truncate(WORDS);
    words
}

impl Parts {
    fn all(&self) -> [&str; 7] {
        let Parts { amenity, street, city, county, state, country, postcode } = self;
        [amenity, street, city, county, state, postcode, country]
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.all().iter().all(|part| words(part).is_empty())
    }

    fn readings(&self) -> Vec<Reading> {
        let sorts = [
            (&self.amenity, Sort::Any),
            (&self.street, Sort::Street),
            (&self.city, Sort::City),
            (&self.county, Sort::Region),
            (&self.state, Sort::Region),
            (&self.country, Sort::Country),
        ];
        let said: Vec<(&String, Vec<String>, Sort)> = sorts
            .into_iter()
            .map(|(text, sort)| (text, cut(words(text)), sort))
            .filter(|(_, words, _)| !words.is_empty())
            .collect();
        let Some(((text, name, sort), rest)) = said.split_first() else { return Vec::new() };
        // The street of an amenity is no area.
        let within: Vec<Vec<String>> =
            rest.iter().filter(|part| part.2 != Sort::Street).map(|part| part.1.clone()).collect();
        match sort {
            Sort::Street => named(name, text, &within, Sort::Street, true),
            sort => vec![Reading { name: name.clone(), house: None, within, sort: *sort, ends: true, distance: 0 }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let show = |reading: Reading| {
            let within: Vec<String> = reading.within.iter().map(|words| words.join(" ")).collect();
            let house = reading.house.map(|house| format!("{house}: ")).unwrap_or_default();
            format!("{house}{} | {}", reading.name.join(" "), within.join(" | "))
        };
        Question::Text(text.to_owned()).readings().into_iter().map(show).collect()
    }

    #[test]
    fn texts_have_several_readings() {
        assert_eq!(read("Sliema, Malta"), ["sliema | malta"]);
        assert_eq!(read("Sliema Malta"), ["sliema malta | ", "sliema | malta", "malta | sliema"]);
        assert_eq!(
            read("12A Old Street, Valletta"),
            ["12a old street | valletta", "12A: old street | valletta", "old street | valletta"]
        );
        assert_eq!(read("12A, Old Street, Valletta"), ["12A: old street | valletta", "old street | valletta"]);
        assert!(read(" , ;").is_empty());
        assert!(read(&"a ".repeat(10_000)).len() < 50);
    }

    #[test]
    fn a_street_may_end_in_a_number() {
        let parts = Parts { street: "Old Street 5".to_owned(), country: "Malta".to_owned(), ..Parts::default() };
        let readings = Question::Parts(parts).readings();
        let shown: Vec<_> = readings.iter().map(|r| (r.name.join(" "), r.house.as_deref(), r.sort)).collect();
        assert_eq!(
            shown,
            [
                ("old street 5".to_owned(), None, Sort::Street),
                ("old street".to_owned(), Some("5"), Sort::Street),
                ("old street".to_owned(), None, Sort::Street)
            ]
        );
        assert!(Parts::default().is_empty());
    }
}
