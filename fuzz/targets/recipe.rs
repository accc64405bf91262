//! Recipes of subsets: TOML that is parsed, checked and written again. The text is also searched for entities like a
//! query.

use terrapin_loaders::wikidata::SubsetPlan;
use terrapin_loaders::wikidata::recipe::{Recipe, RecipeLists, mentions};

pub const WORDS: &[&str] = &[
    "[take]",
    "[keep]",
    "classes = [\"Q5\"]",
    "boxes = [[1, 2, 3, 4]]",
    "entities = [\"Q1\"]",
    "steps = 255",
    "follow = []",
    "properties = true",
    "languages = [\"en\"]",
    "osm = true",
    "entities_from = [\"a\"]",
    "\"\"\"",
    "'''",
    "1e999",
    "nan",
    "inf",
    "{a={b=",
    "[[",
    "]]",
    "\\uD800",
    "2020-01-01",
    "0x7fffffffffffffff",
    "Q99999999999",
    "# ",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "[take]\nclasses = [\"Q515\"]\nboxes = [[35.7, 14.1, 36.1, 14.6]]\nentities = [\"Q42\", \"P31\", \"L7\"]\nosm = true\nsteps = 2\nfollow = [\"P31\", \"P17\"]\nproperties = false\n[keep]\nlanguages = [\"en\", \"mul\"]\nproperties = [\"P31\"]\nsitelinks = [\"en\"]\n",
        "[take]\nqueries_from = [\"gold.jsonl\"]\nentities_from = ['ids.txt']\n",
        "take.entities = ['Q1']\nkeep = { languages = [] }\n",
        "",
    ])
}

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = mentions(&text);
    let Ok(recipe) = toml::from_str::<Recipe>(&text) else { return };
    if let Err(error) = recipe.check() {
        drop(error);
        return;
    }
    let lists = RecipeLists::default();
    let canonical = recipe.canonical(&lists);
    assert!(canonical.len() < 64 * text.len() + 4096, "{} bytes", canonical.len());
    if let Ok(plan) = SubsetPlan::new(&recipe, &lists, 16 << 20) {
        let _ = plan.choose().len();
    }
}
