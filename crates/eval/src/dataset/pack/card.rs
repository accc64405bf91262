//! The documents of a packed benchmark: the dataset card, the citation, the licences.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::measures::MEASURES;
use super::Pack;
use crate::about::engine;

/// OpenStreetMap's licence.
const ODBL: (&str, &str) = ("ODbL-1.0", "https://opendatacommons.org/licenses/odbl/1-0/");
/// Wikidata's licence.
const CC0: (&str, &str) = ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/");

/// Hugging Face's identifiers of licences that have one in SPDX with the same version, from
/// <https://huggingface.co/docs/hub/repositories-licenses>.
const LICENCES: &str = "afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 \
    cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 \
    cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 \
    cdla-permissive-2.0 cdla-sharing-1.0 ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 eupl-1.2 gpl-2.0 gpl-3.0 isc \
    lgpl-2.1 lgpl-3.0 lppl-1.3c mit mpl-2.0 ms-pl ncsa ofl-1.1 osl-3.0 postgresql unlicense wtfpl zlib";
/// Those of families of licences, whose versions it does not distinguish.
const LICENCE_FAMILIES: [&str; 5] = ["c-uda", "gfdl", "odbl", "odc-by", "pddl"];

/// Returns the dataset card: YAML for Hugging Face, then Markdown.
pub(super) fn card(pack: &Pack<'_>) -> String {
    let said = pack.description;
    let pairs = pack.checked.pairs.len();
    let mut text = "---\n".to_owned();
    list(&mut text, "language", said.languages.iter().map(String::as_str));
    let licences = hugging_face_licences(pack);
    list(&mut text, "license", licences.iter().copied());
    if licences.contains(&"other") {
        // Hugging Face requires the name and the text of such a licence.
        let _ = writeln!(text, "license_name: {}\nlicense_link: \"LICENSES.md\"", quoted(&said.license));
    }
    let _ = writeln!(text, "pretty_name: {}", quoted(&said.title));
    list(&mut text, "task_categories", ["text-generation", "table-question-answering"].into_iter());
    let tags = languages(pack).into_iter().chain(said.keywords.iter().map(String::as_str)).chain(["terrapin"]);
    list(&mut text, "tags", tags);
    list(&mut text, "size_categories", [size(pairs)].into_iter());
    text.push_str("configs:\n- config_name: default\n  data_files:\n");
    for split in pack.splits().keys() {
        let _ = writeln!(text, "  - split: {}\n    path: {}", quoted(split), quoted(&format!("data/{split}.jsonl")));
    }
    let _ = write!(text, "---\n\n# {}\n\n{}\n\n", said.title, said.description.trim());
    let _ = write!(
        text,
        "Version {}. Questions with the queries that answer them ({}), and the snapshot that they are run on.\n\n",
        said.version,
        languages(pack).into_iter().collect::<Vec<_>>().join(", ")
    );
    text.push_str("| split | pairs |\n|---|---|\n");
    for (split, count) in pack.splits() {
        let _ = writeln!(text, "| {split} | {count} |");
    }
    text.push_str(
        "\n## Fields\n\n| field | what |\n|---|---|\n| `id` | the pair's name |\n| `question` | the question |\n| `gold` | \
         the query that answers it |\n| `lang` | its language, `overpassql` or `sparql` |\n| `bbox` | what `{{bbox}}` \
         stands for: south,west,north,east |\n| `places` | where names in the query lead, as JSON |\n| `results` | how many \
         elements or rows the query gives, or the count that it asks for |\n| `answer` | the BLAKE3 digest of the answer |\n",
    );
    for measure in MEASURES.iter().filter(|measure| has(pack, measure.name)) {
        let _ = writeln!(text, "| `difficulty.{}` | {} |", measure.name, measure.meaning);
    }
    let _ = write!(
        text,
        "\n## The data that queries are run on\n\nA snapshot of Terrapin: `pin.toml` names it, `manifest.json` says what it \
         is made of.\n\n- digest `{}`\n",
        pack.digest
    );
    if let Some(content) = &pack.manifest.content {
        let _ = writeln!(text, "- content `{}`", terrapin_snapshot::hex(content));
    }
    for source in &pack.manifest.sources {
        let _ = writeln!(text, "- made of `{}` (SHA-256 `{}`), {}", source.name, source.sha256, source.licence);
    }
    let _ = write!(
        text,
        "\nTo score a system, add its queries to the lines as `pred`:\n\n```sh\nterrapin verify snapshot.terrapin --pin \
         pin.toml\nterrapin eval jsonl snapshot.terrapin predictions.jsonl --out run\n```\n\n## How it was checked\n\nBy {}: \
         every gold query was run twice, on one thread and on several. What was found is in `checks.json`:\n\n",
        engine()
    );
    let kinds = pack.checked.kinds();
    if kinds.is_empty() {
        text.push_str("Nothing.\n");
    }
    for (kind, count) in kinds {
        let _ = writeln!(text, "- {count} {}", kind.name());
    }
    text.push_str("\n## Licences\n\nSee `LICENSES.md`.\n");
    if !said.bibtex.trim().is_empty() {
        let _ = write!(text, "\n## Citation\n\n```bibtex\n{}\n```\n", said.bibtex.trim());
    }
    text
}

/// Returns `CITATION.cff`.
pub(super) fn citation(pack: &Pack<'_>) -> String {
    let said = pack.description;
    let mut text = format!(
        "cff-version: 1.2.0\nmessage: \"If you use this benchmark, please cite it.\"\ntype: dataset\ntitle: {}\nversion: \
         {}\nlicense: {}\nabstract: {}\n",
        quoted(&said.title),
        quoted(&said.version),
        quoted(&said.license),
        quoted(said.description.trim()),
    );
    for (name, value) in [("url", &said.url), ("date-released", &said.released)] {
        if !value.is_empty() {
            let _ = writeln!(text, "{name}: {}", quoted(value));
        }
    }
    list(&mut text, "keywords", said.keywords.iter().map(String::as_str));
    text.push_str("authors:\n");
    for author in &said.authors {
        let _ = writeln!(text, "- name: {}", quoted(&author.name));
        if !author.orcid.is_empty() {
            let _ = writeln!(text, "  orcid: {}", quoted(&author.orcid));
        }
    }
    let _ = write!(
        text,
        "identifiers:\n- type: other\n  value: {}\n  description: \"The digest of the snapshot that the queries are run \
         on.\"\n",
        quoted(&format!("sha256:{}", pack.digest))
    );
    text
}

/// Returns the text on the licences.
pub(super) fn licences(pack: &Pack<'_>) -> String {
    let said = pack.description;
    let mut text = format!("# Licences\n\n- Questions, queries and their difficulty: {}.\n", said.license);
    let counts = &pack.manifest.counts;
    if counts.nodes + counts.ways + counts.relations > 0 {
        let (name, url) = ODBL;
        let _ = writeln!(
            text,
            "- Elements of the snapshot, and what queries give of them: © OpenStreetMap contributors, {name}, {url}. Whoever \
             shows them says so; a database that is derived from them is under the same licence."
        );
    }
    if pack.manifest.triples.is_some() {
        let (name, url) = CC0;
        let _ = writeln!(
            text,
            "- Triples of the snapshot that come from Wikidata, and what queries give of them: {name}, {url}."
        );
    }
    text.push_str("\nWhat the snapshot says of its sources:\n\n");
    for source in &pack.manifest.sources {
        let _ = writeln!(text, "- `{}`: {}", source.name, source.licence);
    }
    text
}

/// Returns the names of the query languages.
fn languages(pack: &Pack<'_>) -> BTreeSet<&'static str> {
    let of = |sparql: bool| if sparql { "sparql" } else { "overpassql" };
    let is_sparql = |lang: Option<&str>| lang.is_some_and(|lang| lang.starts_with("sparql"));
    pack.checked.pairs.iter().map(|checked| of(is_sparql(checked.pair.lang.as_deref()))).collect()
}

fn has(pack: &Pack<'_>, measure: &str) -> bool {
    pack.checked.pairs.iter().any(|checked| checked.difficulty.contains_key(measure))
}

/// Returns the licences of the questions and of the data by Hugging Face's identifiers.
fn hugging_face_licences(pack: &Pack<'_>) -> Vec<&'static str> {
    let counts = &pack.manifest.counts;
    let of_osm = (counts.nodes + counts.ways + counts.relations > 0).then_some(ODBL.0);
    let of_triples = pack.manifest.triples.is_some().then_some(CC0.0);
    let mut all: Vec<&'static str> = Vec::new();
    for spdx in std::iter::once(&*pack.description.license).chain(of_osm).chain(of_triples) {
        let name = hugging_face_licence(spdx);
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Returns Hugging Face's identifier for a licence of SPDX, `other` if it has none. The identifiers are those of SPDX in
/// lower case, without versions for families of licences, and without the difference of "only" and "or later".
fn hugging_face_licence(spdx: &str) -> &'static str {
    let spdx = spdx.trim().to_lowercase();
    let spdx = ["-only", "-or-later", "+"].iter().find_map(|end| spdx.strip_suffix(end)).unwrap_or(&spdx);
    let is_family = |family: &&str| {
        spdx.strip_prefix(*family).is_some_and(|version| version.is_empty() || version.starts_with('-'))
    };
    let found = LICENCES.split(' ').find(|licence| *licence == spdx);
    let family = || LICENCE_FAMILIES.into_iter().find(is_family);
    found.or_else(family).unwrap_or(if spdx == "lgpllr" { "lgpl-lr" } else { "other" })
}

/// Returns Hugging Face's size class for a number of rows.
fn size(pairs: usize) -> &'static str {
    match pairs {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    }
}

/// Adds a YAML list, unless it is empty.
fn list<'a>(text: &mut String, name: &str, entries: impl Iterator<Item = &'a str>) {
    let mut entries = entries.peekable();
    if entries.peek().is_some() {
        let _ = writeln!(text, "{name}:");
    }
    entries.for_each(|entry| *text += &format!("- {}\n", quoted(entry)));
}

/// Quotes a text as in TOML, YAML and JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identifiers of SPDX's list of licences.
    #[test]
    fn licences_have_the_identifiers_of_hugging_face() {
        for (spdx, expected) in [
            ("CC-BY-4.0", "cc-by-4.0"),
            ("ODbL-1.0", "odbl"),
            ("ODC-By-1.0", "odc-by"),
            ("odc-by", "odc-by"),
            ("PDDL-1.0", "pddl"),
            ("C-UDA-1.0", "c-uda"),
            ("GPL-3.0-only", "gpl-3.0"),
            ("GPL-3.0-or-later", "gpl-3.0"),
            ("GPL-2.0+", "gpl-2.0"),
            ("AGPL-3.0-or-later", "agpl-3.0"),
            ("LGPL-2.1-only", "lgpl-2.1"),
            ("GFDL-1.3-no-invariants-or-later", "gfdl"),
            ("LGPLLR", "lgpl-lr"),
            ("BSL-1.0", "bsl-1.0"),
            ("LPPL-1.3c", "lppl-1.3c"),
            (" mit ", "mit"),
            ("CC-BY-NC-ND-2.5", "other"),
            ("GPL-1.0-only", "other"),
            ("MIT OR Apache-2.0", "other"),
            ("", "other"),
        ] {
            assert_eq!(hugging_face_licence(spdx), expected, "{spdx}");
        }
    }
}
