//! Recipes of subsets: which entities to take from a dump, and which parts of them to keep. Recipes are only described
//! here; `subset.rs` applies them.

use super::closure::QueryUses;
use super::value::is_id;
use crate::error::LoaderError;
use crate::text::{self, LineBlocks};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A recipe, usually read from a TOML file:
///
/// ```toml
/// [take]
/// classes = ["Q515"]                     # cities, and instances of all subclasses
/// boxes = [[35.7, 14.1, 36.1, 14.6]]     # south, west, north, east
/// entities = ["Q42"]
/// steps = 1                              # and what is linked with these
///
/// [keep]
/// languages = ["en", "mt", "mul"]
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recipe {
    /// The entities to take.
    pub take: Take,
    /// The parts of these entities to keep.
    pub keep: Keep,
}

/// The entities to take: the union of all settings, or all entities if no setting is given.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Take {
    /// Ids of classes. Takes these classes, their subclasses (P279) at any depth, and the instances (P31) of all of
    /// these.
    pub classes: Vec<String>,
    /// Ids of entities.
    pub entities: Vec<String>,
    /// Files with ids of entities, plain or packed. Takes every word in them that has the form of an id.
    pub entities_from: Vec<PathBuf>,
    /// Boxes in degrees: south, west, north, east. A box crosses the 180th meridian if west is greater than east. Takes
    /// entities with coordinates on the Earth (P625) in one of the boxes.
    pub boxes: Vec<[f64; 4]>,
    /// Files with SPARQL queries in any form, plain or packed. Takes the entities that they mention.
    pub queries_from: Vec<PathBuf>,
    /// Files with SPARQL queries, one per row, in any format of benchmarks. Takes the entities that are candidates for
    /// their solutions ([`super::closure`]).
    pub for_queries: Vec<PathBuf>,
    /// Maximum number of statements of a link in these queries that has no known end, such as `?x wdt:P31 ?class`. A
    /// link with more is left out. Default: 1,000,000.
    pub open_links: u64,
    /// Whether to take the entities in the `wikidata` tags of the snapshot's OpenStreetMap elements.
    pub osm: bool,
    /// How many times to add the entities that are linked with those taken so far, in either direction.
    pub steps: u8,
    /// Ids of the properties that count as links, in statements and qualifiers. Default: the properties that the
    /// queries mention, or all properties if there are no query files.
    pub follow: Option<Vec<String>>,
    /// Whether to take all properties, which describe the predicates of statements.
    pub properties: bool,
}

impl Default for Take {
    fn default() -> Self {
        Self {
            classes: Vec::new(),
            entities: Vec::new(),
            entities_from: Vec::new(),
            boxes: Vec::new(),
            queries_from: Vec::new(),
            for_queries: Vec::new(),
            open_links: 1_000_000,
            osm: false,
            steps: 0,
            follow: None,
            properties: true,
        }
    }
}

/// The parts of an entity to keep. A setting that is absent keeps everything.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    /// Codes of the languages of labels, descriptions and aliases.
    pub languages: Option<Vec<String>>,
    /// Ids of the properties of statements.
    pub properties: Option<Vec<String>>,
    /// Language codes of the sites whose pages are kept.
    pub sitelinks: Option<Vec<String>>,
    /// Ids of the properties of qualifiers.
    pub qualifiers: Option<Vec<String>>,
    /// Whether references are kept.
    pub references: Option<bool>,
}

/// The ids from the files that a recipe names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecipeLists {
    /// Ids from [`Take::entities_from`].
    pub listed: BTreeSet<String>,
    /// Ids from [`Take::queries_from`].
    pub mentioned: BTreeSet<String>,
    /// Ids that OpenStreetMap's elements name.
    pub linked: BTreeSet<String>,
    /// What the queries in [`Take::for_queries`] use. The caller parses them.
    pub uses: QueryUses,
}

impl Recipe {
    /// Checks the recipe and returns the first problem.
    pub fn check(&self) -> Result<(), String> {
        let Take { classes, entities, boxes, follow, .. } = &self.take;
        for id in classes.iter().chain(entities) {
            if !is_id(id) {
                return Err(format!("{id:?} is not the id of an entity, such as \"Q42\""));
            }
        }
        for id in follow.iter().chain(&self.keep.properties).chain(&self.keep.qualifiers).flatten() {
            if !(is_id(id) && id.starts_with('P')) {
                return Err(format!("{id:?} is not the id of a property, such as \"P31\""));
            }
        }
        for [south, west, north, east] in boxes {
            let latitudes = [south, north].into_iter().all(|degrees| (-90.0..=90.0).contains(degrees));
            let longitudes = [west, east].into_iter().all(|degrees| (-180.0..=180.0).contains(degrees));
            if !(latitudes && longitudes && south <= north) {
                return Err(format!(
                    "[{south}, {west}, {north}, {east}] is not a bounding box: write south, west, north, east in degrees"
                ));
            }
        }
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        for code in self.keep.languages.iter().chain(&self.keep.sitelinks).flatten() {
            if code.is_empty() || !code.bytes().all(plain) {
                return Err(format!("{code:?} is not a language code of Wikidata, such as \"en-gb\""));
            }
        }
        Ok(())
    }

    /// Reads the files that the recipe names. Relative names are resolved against `folder`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn lists(&self, folder: &Path) -> Result<RecipeLists, LoaderError> {
        let all = |names: &[PathBuf]| {
            let mut ids = BTreeSet::new();
            for name in names {
                mentions_in(&folder.join(name), &mut ids)?;
            }
            Ok::<_, LoaderError>(ids)
        };
        Ok(RecipeLists {
            listed: all(&self.take.entities_from)?,
            mentioned: all(&self.take.queries_from)?,
            linked: BTreeSet::new(),
            uses: QueryUses::default(),
        })
    }

    /// Returns the canonical form of the recipe for the manifest. Recipes with the same meaning have the same form.
    /// Lists from files appear as a count and a digest.
    pub fn canonical(&self, lists: &RecipeLists) -> String {
        let Recipe { take, keep } = self;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name} = {value}");
        };
        let list = |ids: &[String]| {
            let sorted: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
            sorted.into_iter().collect::<Vec<_>>().join(" ")
        };
        let digest = |ids: &BTreeSet<String>| {
            let joined: Vec<&str> = ids.iter().map(String::as_str).collect();
            format!("{} ids, {}", ids.len(), super::value::hash(&joined.join("\n")))
        };
        for (name, ids) in [("classes", &take.classes), ("entities", &take.entities)] {
            if !ids.is_empty() {
                line(name, list(ids));
            }
        }
        if !take.entities_from.is_empty() {
            line("entities_from", digest(&lists.listed));
        }
        if !take.boxes.is_empty() {
            let corners = |[south, west, north, east]: &[f64; 4]| format!("[{south:?}, {west:?}, {north:?}, {east:?}]");
            let mut boxes: Vec<String> = take.boxes.iter().map(corners).collect();
            boxes.sort();
            boxes.dedup();
            line("boxes", boxes.join(" "));
        }
        if !take.queries_from.is_empty() {
            line("queries_from", digest(&lists.mentioned));
        }
        if !take.for_queries.is_empty() {
            let links = super::value::hash(&lists.uses.canonical());
            line("for_queries", format!("{} queries, {links}", lists.uses.queries));
            line("open_links", take.open_links.to_string());
        }
        if take.osm {
            line("osm", digest(&lists.linked));
        }
        if take.steps > 0 {
            line("steps", take.steps.to_string());
            if let Some(follow) = &take.follow {
                line("follow", list(follow));
            }
        }
        if !take.properties {
            line("take properties", "false".to_owned());
        }
        let kept = [
            ("languages", &keep.languages),
            ("properties", &keep.properties),
            ("sitelinks", &keep.sitelinks),
            ("qualifiers", &keep.qualifiers),
        ];
        for (name, codes) in kept {
            if let Some(codes) = codes {
                line(&format!("keep {name}"), list(codes));
            }
        }
        if let Some(references) = keep.references {
            line("keep references", references.to_string());
        }
        text
    }
}

/// Adds the ids that a file mentions.
fn mentions_in(path: &Path, ids: &mut BTreeSet<String>) -> Result<(), LoaderError> {
    let (_, text) = text::open(path, 0)?;
    let mut blocks = LineBlocks::new(text);
    while let Some(block) = blocks.next() {
        let block = block.map_err(|(offset, problem)| LoaderError::Text {
            file: path.to_path_buf(),
            line: 1,
            offset,
            problem,
        })?;
        ids.append(&mut mentions(&String::from_utf8_lossy(&block.bytes)));
    }
    Ok(())
}

/// Returns the ids of items, properties and lexemes in a text such as a query or a list. An id is a letter and digits,
/// and not part of a longer word.
pub fn mentions(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut ids = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (gap, from) = rest.split_at(start);
        let (word, behind) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        // `?Q1` is a variable.
        if is_id(word) && !word.starts_with('E') && !gap.ends_with(['?', '$', '%']) {
            ids.insert(word.to_owned());
        }
        rest = behind;
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_checked() {
        let with = |change: &dyn Fn(&mut Recipe)| {
            let mut recipe = Recipe::default();
            change(&mut recipe);
            recipe.check()
        };
        assert_eq!(with(&|_| {}), Ok(()));
        assert_eq!(with(&|r| r.take.boxes = vec![[-1.0, 170.0, 1.0, -170.0]]), Ok(()));
        assert!(with(&|r| r.take.boxes = vec![[1.0, 0.0, -1.0, 1.0]]).is_err());
        assert!(with(&|r| r.take.boxes = vec![[f64::NAN, 0.0, 1.0, 1.0]]).is_err());
        assert!(with(&|r| r.take.classes = vec!["city".into()]).is_err());
        assert!(with(&|r| r.keep.properties = Some(vec!["Q1".into()])).is_err());
        assert!(with(&|r| r.keep.languages = Some(vec!["EN".into()])).is_err());
    }

    #[test]
    fn what_is_mentioned_is_found() {
        let text = "SELECT ?Q5 WHERE { ?x wdt:P31/wdt:P279* wd:Q515 ; p:P625 [] . <http://www.wikidata.org/entity/Q42> ?p L7 } # MQ1 Q2x";
        let ids: Vec<_> = mentions(text).into_iter().collect();
        assert_eq!(ids, ["L7", "P279", "P31", "P625", "Q42", "Q515"]);
    }

    #[test]
    fn what_says_the_same_is_the_same() {
        let recipe = |ids: &[&str]| Recipe {
            take: Take { entities: ids.iter().map(|id| (*id).to_owned()).collect(), ..Take::default() },
            keep: Keep { languages: Some(vec!["en".into()]), ..Keep::default() },
        };
        let lists = RecipeLists::default();
        assert_eq!(recipe(&["Q2", "Q1", "Q2"]).canonical(&lists), "entities = Q1 Q2\nkeep languages = en\n");
        assert_eq!(recipe(&["Q1", "Q2"]).canonical(&lists), recipe(&["Q2", "Q1"]).canonical(&lists));
        let boxes = Take { boxes: vec![[35.5, 14.0, 36.0, -14.25]], ..Take::default() };
        let recipe = Recipe { take: boxes, ..Recipe::default() };
        assert_eq!(recipe.canonical(&lists), "boxes = [35.5, 14.0, 36.0, -14.25]\n");
    }
}
