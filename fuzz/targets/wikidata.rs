//! Dumps of Wikidata's entities: converted in both shapes, and read with a recipe.

use terrapin_loaders::LoaderError;
use terrapin_loaders::wikidata::recipe::{Recipe, RecipeLists, Take};
use terrapin_loaders::wikidata::{Converter, RdfShape, SubsetPlan, WikidataOptions, is_dump, read};

pub const WORDS: &[&str] = &[
    "{\"type\":\"item\",\"id\":\"Q1\"",
    "\"labels\":{",
    "\"en\":{\"language\":\"en\",\"value\":\"x\"}",
    "\"claims\":{",
    "\"P31\":[{",
    "\"mainsnak\":{",
    "\"snaktype\":\"value\"",
    "\"snaktype\":\"somevalue\"",
    "\"datavalue\":{",
    "\"type\":\"time\"",
    "\"type\":\"quantity\"",
    "\"type\":\"globecoordinate\"",
    "\"type\":\"wikibase-entityid\"",
    "\"type\":\"monolingualtext\"",
    "\"amount\":\"+1\"",
    "\"time\":\"+2020-01-01T00:00:00Z\"",
    "\"precision\":9",
    "\"qualifiers\":{",
    "\"references\":[",
    "\"rank\":\"preferred\"",
    "\"sitelinks\":{",
    "\"enwiki\":{\"site\":\"enwiki\",\"title\":\"a b\"}",
    "\"redirect\":\"Q2\"",
    "\"lexicalCategory\":\"Q1\"",
    "\"forms\":[",
    "\"senses\":[",
    "\"datatype\":\"external-id\"",
    "[]",
    "{}",
    "null",
    "\\ud800",
    "[\n",
    ",\n",
    "]\n",
    "\"P1921\"",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let claim = |property: &str, kind: &str, value: &str| {
        format!(
            r#""{property}":[{{"id":"Q1$a-{property}","type":"statement","rank":"normal","mainsnak":{{"snaktype":"value","property":"{property}","hash":"0a","datavalue":{{"type":"{kind}","value":{value}}},"datatype":"string"}},"qualifiers":{{"P585":[{{"snaktype":"somevalue","property":"P585","hash":"0b","datatype":"time"}}]}},"references":[{{"hash":"0c","snaks":{{"P248":[{{"snaktype":"novalue","property":"P248","hash":"0d","datatype":"wikibase-item"}}]}}}}]}}]"#
        )
    };
    let claims = [
        claim("P31", "wikibase-entityid", r#"{"entity-type":"item","numeric-id":5,"id":"Q5"}"#),
        claim("P625", "globecoordinate", r#"{"latitude":1.5,"longitude":-2,"altitude":null,"precision":0.0001,"globe":"http://www.wikidata.org/entity/Q2"}"#),
        claim("P569", "time", r#"{"time":"-0044-03-15T00:00:00Z","timezone":0,"before":0,"after":0,"precision":11,"calendarmodel":"http://www.wikidata.org/entity/Q1985786"}"#),
        claim("P1082", "quantity", r#"{"amount":"+1200.5","unit":"http://www.wikidata.org/entity/Q11573","upperBound":"+1300","lowerBound":"+1100"}"#),
        claim("P1476", "monolingualtext", r#"{"text":"a \u00e9","language":"fr"}"#),
        claim("P18", "string", r#""A b.jpg""#),
    ]
    .join(",");
    let item = format!(
        r#"{{"type":"item","id":"Q1","labels":{{"en":{{"language":"en","value":"one"}}}},"descriptions":[],"aliases":{{"en":[{{"language":"en","value":"a"}}]}},"claims":{{{claims}}},"sitelinks":{{"enwiki":{{"site":"enwiki","title":"One two","badges":["Q17437796"]}}}},"lastrevid":1,"modified":"2020-01-01T00:00:00Z"}}"#
    );
    let property = r#"{"type":"property","datatype":"wikibase-item","id":"P31","labels":{},"claims":{}}"#;
    let lexeme = r#"{"type":"lexeme","id":"L1","lemmas":{"en":{"language":"en","value":"be"}},"lexicalCategory":"Q24905","language":"Q1860","forms":[{"id":"L1-F1","representations":{"en":{"language":"en","value":"is"}},"grammaticalFeatures":["Q1"],"claims":[]}],"senses":[{"id":"L1-S1","glosses":{"en":{"language":"en","value":"to be"}},"claims":{}}],"claims":{}}"#;
    let dump = format!("[\n{item},\n{property},\n{lexeme}\n]\n");
    let answer = format!("{{\"entities\":{{\"Q1\":{item},\"Q3\":{{\"id\":\"Q3\",\"redirect\":\"Q1\"}}}}}}");
    vec![dump.into_bytes(), answer.into_bytes(), format!("{{\n \"entities\": {{\"L1\": {lexeme} }}\n}}").into_bytes()]
}

pub fn check(input: &[u8]) {
    let path = super::town::file("input.json", input);
    let _ = is_dump(&path);
    for (shape, skip_bad) in [(RdfShape::Service, false), (RdfShape::Dump, true)] {
        let options = WikidataOptions { skip_bad, memory: 8 << 20, ..WikidataOptions::default() };
        match read::<LoaderError>(&path, &options, &Converter::new(shape), |_, _| Ok(())) {
            Ok(summary) => summary.errors.iter().for_each(|error| drop(error.to_string())),
            Err(error) => drop(error.to_string()),
        }
    }
    let take = Take {
        classes: vec!["Q5".to_owned()],
        boxes: vec![[0.0, -3.0, 2.0, 3.0]],
        entities: vec!["Q1".to_owned()],
        steps: 2,
        ..Take::default()
    };
    let recipe = Recipe { take, ..Recipe::default() };
    let options = WikidataOptions { skip_bad: true, memory: 8 << 20, ..WikidataOptions::default() };
    let mut plan = SubsetPlan::new(&recipe, &RecipeLists::default(), 16 << 20).expect("a recipe that is right");
    if plan.survey::<LoaderError>(&path, &options, |_| Ok(())).is_ok() {
        let _ = plan.choose().read::<LoaderError>(&path, &options, |_, _| Ok(()));
    }
}
