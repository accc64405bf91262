//! Translates a query of NLmaps to OverpassQL.
//!
//! The elements are the same; the form of the answer is that of OverpassQL. `latlong` prints elements with their
//! centres, `findkey` those that have the key with their tags, and `least`, a question of yes or no, their number.

use std::fmt::{self, Write};

use super::term::Term;

/// The maximum number of combinations of alternatives, and of keys and values in one of them.
const MOST: usize = 64;
/// The distances in metres, as in the tools of NLmaps.
const DISTANCES: [(&str, u32); 5] = [
    ("WALKING_DIST", 1000),
    ("WALKDING_DIST", 1000),
    ("DIST_INTOWN", 5000),
    ("DIST_OUTTOWN", 20_000),
    ("DIST_DAYTRIP", 80_000),
];
/// The longest distance in metres: half of the equator.
const FARTHEST: u32 = 20_037_508;

/// The reason why a query has no counterpart in OverpassQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untranslatable {
    /// The answer is a distance between two places: `dist`.
    Distance,
    /// Only the nearest elements count: `topx` of `around`.
    Nearest,
    /// Only the elements in one half of an area count: `north`, `east`, `south`, `west`.
    Direction,
    /// The line is not a query of NLmaps' grammar.
    Syntax,
}

impl Untranslatable {
    /// Returns its name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Untranslatable::Distance => "distance",
            Untranslatable::Nearest => "nearest",
            Untranslatable::Direction => "direction",
            Untranslatable::Syntax => "syntax",
        }
    }
}

impl fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Untranslatable::Distance => "the answer is a distance, which OverpassQL does not compute",
            Untranslatable::Nearest => "OverpassQL does not sort elements by their distance",
            Untranslatable::Direction => "OverpassQL has no half of an area",
            Untranslatable::Syntax => "not a query of NLmaps' grammar",
        })
    }
}

/// A condition on the tags of an element: all filters of one of the alternatives hold.
type Alternatives = Vec<Vec<String>>;

/// Translates a line.
///
/// # Errors
/// Returns the reason if the query has no counterpart in OverpassQL.
pub fn translate(line: &str) -> Result<String, Untranslatable> {
    let term = Term::parse(line).ok_or(Untranslatable::Syntax)?;
    if term.call("dist").is_some() {
        return Err(Untranslatable::Distance);
    }
    let arguments = term.call("query").ok_or(Untranslatable::Syntax)?;
    let (answer, search) = arguments.split_last().ok_or(Untranslatable::Syntax)?;
    let is_half = |term: &Term| ["north", "east", "south", "west"].iter().any(|side| term.call(side).is_some());
    if search.iter().any(is_half) {
        return Err(Untranslatable::Direction);
    }
    let answer = Answer::of(answer).ok_or(Untranslatable::Syntax)?;
    let mut out = String::from("[out:json];");
    match search {
        [around] if around.call("around").is_some() => {
            write_around(&mut out, around.call("around").unwrap_or_default(), &answer)?;
        }
        search => write_set(&mut out, search, "", &answer.keys, "").ok_or(Untranslatable::Syntax)?,
    }
    out.push_str(&answer.statements);
    Ok(out)
}

/// `around(center(...),search(...),maxdist(...))`.
fn write_around(out: &mut String, arguments: &[Term], answer: &Answer) -> Result<(), Untranslatable> {
    let [center, search, distance, rest @ ..] = arguments else { return Err(Untranslatable::Syntax) };
    match rest {
        [] => {}
        [topx] if topx.call("topx").is_some() => return Err(Untranslatable::Nearest),
        _ => return Err(Untranslatable::Syntax),
    }
    let mut write = || {
        write_set(out, center.call("center")?, "", &[], "->.c")?;
        let metres = metres(distance.call("maxdist")?)?;
        write_set(out, search.call("search")?, &format!("(around.c:{metres})"), &answer.keys, "")
    };
    write().ok_or(Untranslatable::Syntax)
}

fn metres(distance: &[Term]) -> Option<u32> {
    let [distance] = distance else { return None };
    let text = distance.text()?;
    let named = DISTANCES.iter().find(|(name, _)| *name == text).map(|(_, metres)| *metres);
    named.or_else(|| text.parse().ok().filter(|metres| *metres <= FARTHEST))
}

/// Writes the statements for an optional area and the elements in it: `area(...),nwr(...)`. `filter` and the keys apply
/// to the elements, which `target` stores.
fn write_set(out: &mut String, terms: &[Term], filter: &str, keys: &[String], target: &str) -> Option<()> {
    let (area, elements) = match terms {
        [area, elements] if area.call("area").is_some() => (Some(area), elements),
        [elements] => (None, elements),
        _ => return None,
    };
    // A centre may be an area alone; its own elements have the same tags.
    let mut alternatives = alternatives(elements.call("nwr").or_else(|| elements.call("area"))?)?;
    if let Some(area) = area {
        write_area(out, area.call("area")?)?;
    }
    let place = if area.is_some() { "(area.a)" } else { "" };
    for filters in &mut alternatives {
        filters
            .extend(keys.iter().map(|key| format!("[{key}]")).filter(|key| !has_key(filters, key)).collect::<Vec<_>>());
    }
    let statement = |filters: &Vec<String>| format!("nwr{}{place}{filter}", filters.concat());
    match &alternatives[..] {
        [only] => write!(out, "{}{target};", statement(only)).ok(),
        several => {
            let all: String = several.iter().map(|filters| format!("{};", statement(filters))).collect();
            write!(out, "({all}){target};").ok()
        }
    }
}

/// Returns whether some filter already requires the key of `[key]`.
fn has_key(filters: &[String], key: &str) -> bool {
    let begin = key.trim_end_matches(']');
    filters.iter().any(|filter| filter.starts_with(begin))
}

/// Writes the area. The extension of NLmaps at Heidelberg names areas by Nominatim's results: `<nom>3600062578</nom>`.
fn write_area(out: &mut String, conditions: &[Term]) -> Option<()> {
    if let Some(id) = nominatim_id(conditions) {
        return write!(out, "area({id})->.a;").ok();
    }
    match &alternatives(conditions)?[..] {
        [filters] => write!(out, "area{}->.a;", filters.concat()).ok(),
        several => {
            let all: String = several.iter().map(|filters| format!("area{};", filters.concat())).collect();
            write!(out, "({all})->.a;").ok()
        }
    }
}

fn nominatim_id(conditions: &[Term]) -> Option<u64> {
    let [condition] = conditions else { return None };
    let [_, value] = condition.call("keyval")? else { return None };
    value.text()?.strip_prefix("<nom>")?.strip_suffix("</nom>")?.trim().parse().ok()
}

/// Returns the alternatives of a list of conditions, all of which hold.
fn alternatives(conditions: &[Term]) -> Option<Alternatives> {
    let mut all: Alternatives = vec![Vec::new()];
    for condition in conditions {
        let own = condition_of(condition)?;
        if all.len().checked_mul(own.len())? > MOST {
            return None;
        }
        let with = |left: &Vec<String>| own.iter().map(|right| [&left[..], &right[..]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(with).collect();
        if all.iter().any(|filters| filters.len() > MOST) {
            return None;
        }
    }
    Some(all)
}

/// Returns the alternatives of one condition. `and` of two conditions searches for both kinds of things, like `or`.
fn condition_of(condition: &Term) -> Option<Alternatives> {
    if let Some([key, value]) = condition.call("keyval") {
        return filter(key.text()?, value);
    }
    let parts = condition.call("or").or_else(|| condition.call("and"))?;
    let mut all = Vec::new();
    for part in parts {
        all.extend(condition_of(part)?);
    }
    Some(all)
}

fn filter(key: &str, value: &Term) -> Option<Alternatives> {
    let key = quoted(key);
    let is = |value: &str| if value == "*" { format!("[{key}]") } else { format!("[{key}={}]", quoted(value)) };
    if let Some(values) = value.call("or").or_else(|| value.call("and")) {
        return values.iter().map(|value| Some(vec![is(value.text()?)])).collect();
    }
    Some(vec![vec![is(value.text()?)]])
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The form of an answer.
struct Answer {
    /// Keys that all elements of the answer have, in quotes.
    keys: Vec<String>,
    /// The statements that print the answer.
    statements: String,
}

impl Answer {
    /// Reads `qtype(...)`.
    fn of(term: &Term) -> Option<Answer> {
        let parts = term.call("qtype")?;
        let (mut keys, mut counts, mut centres, mut tags, mut most) = (Vec::new(), false, false, false, None);
        for part in parts {
            let part = match part.call("nodup") {
                Some([inner]) => inner,
                Some(_) => return None,
                None => part,
            };
            match part {
                Term::Word(word) if word == "count" => counts = true,
                Term::Word(word) if word == "latlong" => centres = true,
                Term::Call(name, arguments) => match (name.as_str(), &arguments[..]) {
                    ("latlong", [topx]) => {
                        centres = true;
                        most = Some(topx_of(topx)?);
                    }
                    ("least", [topx]) => {
                        topx_of(topx)?;
                        counts = true;
                    }
                    ("findkey", [key]) => {
                        tags = true;
                        match key.call("and") {
                            // An element may have one of several keys only.
                            Some(keys) if keys.iter().all(|key| key.text().is_some()) => {}
                            Some(_) => return None,
                            None => keys.push(quoted(key.text()?)),
                        }
                    }
                    ("findkey", [key, topx]) => {
                        tags = true;
                        keys.push(quoted(key.text()?));
                        most = Some(topx_of(topx)?);
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        // Elements without the key count for the other parts.
        if parts.len() > 1 {
            keys.clear();
        }
        let most = most.map(|most| format!(" {most}")).unwrap_or_default();
        let mut statements = String::new();
        if counts {
            statements.push_str("out count;");
        }
        if centres {
            let _ = write!(statements, "out center{most};");
        } else if tags {
            let _ = write!(statements, "out tags{most};");
        }
        (!statements.is_empty()).then_some(Answer { keys, statements })
    }
}

fn topx_of(term: &Term) -> Option<u32> {
    match term.call("topx")? {
        [number] => number.text()?.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let query = translate(line).unwrap_or_else(|reason| panic!("{line}: {reason}"));
        assert!(terrapin_overpass::parse(&query).is_ok(), "{query}");
        query.trim_start_matches("[out:json];").to_owned()
    }

    /// The forms of the grammar in the paper and in its authors' tools.
    #[test]
    fn the_forms_of_the_grammar_are_translated() {
        let area = "area(keyval('name','Paris'),keyval('is_in:country','France'))";
        let in_paris = "area[\"name\"=\"Paris\"][\"is_in:country\"=\"France\"]->.a;";
        for (line, expected) in [
            ("{a},nwr(keyval('amenity','bar')),qtype(count)", "{s}nwr[\"amenity\"=\"bar\"](area.a);out count;"),
            ("{a},nwr(keyval('amenity','bar')),qtype(latlong)", "{s}nwr[\"amenity\"=\"bar\"](area.a);out center;"),
            ("nwr(keyval('amenity','bar')),qtype(latlong(topx(1)))", "nwr[\"amenity\"=\"bar\"];out center 1;"),
            ("nwr(keyval('amenity','bar')),qtype(least(topx(3)))", "nwr[\"amenity\"=\"bar\"];out count;"),
            ("nwr(keyval('amenity','bar')),qtype(findkey('name'))", "nwr[\"amenity\"=\"bar\"][\"name\"];out tags;"),
            ("nwr(keyval('landuse','*')),qtype(nodup(findkey('landuse')))", "nwr[\"landuse\"];out tags;"),
            ("nwr(keyval('amenity','bar')),qtype(findkey('name'),latlong)", "nwr[\"amenity\"=\"bar\"];out center;"),
            (
                "nwr(keyval('a','1'),keyval('b',or('2','3'))),qtype(count)",
                "(nwr[\"a\"=\"1\"][\"b\"=\"2\"];nwr[\"a\"=\"1\"][\"b\"=\"3\"];);out count;",
            ),
            (
                "nwr(and(keyval('amenity','bank'),keyval('amenity','pharmacy'))),qtype(latlong)",
                "(nwr[\"amenity\"=\"bank\"];nwr[\"amenity\"=\"pharmacy\"];);out center;",
            ),
            (
                "around(center({a},nwr(keyval('name','Rue \"X\"'))),search(nwr(keyval('shop','bakery'))),maxdist(DIST_INTOWN)),\
                 qtype(count)",
                "{s}nwr[\"name\"=\"Rue \\\"X\\\"\"](area.a)->.c;nwr[\"shop\"=\"bakery\"](around.c:5000);out count;",
            ),
            (
                "around(center(nwr(keyval('name','Lyon'))),search(nwr(keyval('shop','*'))),maxdist(700)),qtype(latlong)",
                "nwr[\"name\"=\"Lyon\"]->.c;nwr[\"shop\"](around.c:700);out center;",
            ),
            (
                "area(keyval('name',and('Magdeburg','Netphen'))),nwr(keyval('a','b')),qtype(count)",
                "(area[\"name\"=\"Magdeburg\"];area[\"name\"=\"Netphen\"];)->.a;nwr[\"a\"=\"b\"](area.a);out count;",
            ),
            (
                "area(keyval('name','<nom> 3600062578</nom>')),nwr(keyval('shop','books')),qtype(count)",
                "area(3600062578)->.a;nwr[\"shop\"=\"books\"](area.a);out count;",
            ),
        ] {
            let line = format!("query({})", line.replace("{a}", area));
            assert_eq!(of(&line), expected.replace("{s}", in_paris), "{line}");
        }
    }

    #[test]
    fn the_rest_has_a_reason() {
        let place = "area(keyval('name','Paris')),nwr(keyval('name','Louvre'))";
        let around = "around(center(nwr(keyval('a','b'))),search(nwr(keyval('a','b'))),maxdist(WALKING_DIST),topx(1))";
        for (line, reason) in [
            (format!("dist(query({place},qtype(latlong)),query({place},qtype(latlong)))"), Untranslatable::Distance),
            (format!("query({around},qtype(latlong))"), Untranslatable::Nearest),
            (format!("query(north({place}),qtype(count))"), Untranslatable::Direction),
            ("query(nwr(keyval('a','b')),qtype(size))".to_owned(), Untranslatable::Syntax),
            ("query(nwr(keyval('a','b'))".to_owned(), Untranslatable::Syntax),
            (
                "query(around(center(nwr(keyval('a','b'))),search(nwr(keyval('a','b'))),maxdist(-1)),qtype(count))"
                    .to_owned(),
                Untranslatable::Syntax,
            ),
            (String::new(), Untranslatable::Syntax),
        ] {
            assert_eq!(translate(&line), Err(reason), "{line}");
        }
        let wide = (0..7).map(|_| "keyval('a',or('b','c'))").collect::<Vec<_>>().join(",");
        assert_eq!(translate(&format!("query(nwr({wide}),qtype(count))")), Err(Untranslatable::Syntax));
    }
}
