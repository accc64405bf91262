use super::*;

fn convert(shape: RdfShape, line: &str) -> Result<Vec<String>, String> {
    let converter = Converter::new(shape);
    let mut triples = Vec::new();
    line_of(line.as_bytes(), &mut |entity| converter.convert(entity, &mut triples))?;
    Ok(triples.iter().map(ToString::to_string).collect())
}

fn statement(snak: &str) -> String {
    format!(
        r#"{{"type":"item","id":"Q1","labels":[],"claims":{{"P1":[{{"id":"Q1$a","rank":"normal","mainsnak":{snak}}}]}}}}"#
    )
}

#[test]
fn the_service_has_less_than_the_dump() {
    let line =
        r#"{"type":"item","id":"Q1","lastrevid":7,"labels":{"en":{"language":"en","value":"one"}},"claims":[]},"#;
    assert_eq!(
        convert(RdfShape::Service, line).unwrap(),
        [
            r#"<http://www.wikidata.org/entity/Q1> <http://schema.org/version> "7"^^<http://www.w3.org/2001/XMLSchema#integer>"#,
            r#"<http://www.wikidata.org/entity/Q1> <http://wikiba.se/ontology#statements> "0"^^<http://www.w3.org/2001/XMLSchema#integer>"#,
            r#"<http://www.wikidata.org/entity/Q1> <http://wikiba.se/ontology#sitelinks> "0"^^<http://www.w3.org/2001/XMLSchema#integer>"#,
            r#"<http://www.wikidata.org/entity/Q1> <http://wikiba.se/ontology#identifiers> "0"^^<http://www.w3.org/2001/XMLSchema#integer>"#,
            r#"<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "one"@en"#,
        ]
    );
    let dump = convert(RdfShape::Dump, line).unwrap();
    assert_eq!(dump.len(), 12);
    assert!(dump.iter().all(|triple| !triple.contains("genid")));
}

#[test]
fn unknown_values_are_named_in_the_service() {
    let line = statement(r#"{"snaktype":"somevalue","property":"P1","datatype":"string"}"#);
    let has = |shape, part: &str| convert(shape, &line).unwrap().iter().filter(|t| t.contains(part)).count();
    assert_eq!((has(RdfShape::Dump, " _:"), has(RdfShape::Dump, "genid")), (2, 0));
    assert_eq!((has(RdfShape::Service, " _:"), has(RdfShape::Service, "/.well-known/genid/")), (0, 2));
    assert_eq!(convert(RdfShape::Service, &line), convert(RdfShape::Service, &line));
}

#[test]
fn redirects_and_properties() {
    let redirect = convert(RdfShape::Service, r#"{"entity":"Q2","redirect":"Q1"}"#).unwrap();
    let same = "<http://www.wikidata.org/entity/Q2> <http://www.w3.org/2002/07/owl#sameAs> <http://www.wikidata.org/entity/Q1>";
    assert_eq!(redirect, [same]);
    let property = convert(RdfShape::Service, r#"{"type":"property","id":"P1","datatype":"quantity"}"#).unwrap();
    let count = |part: &str| property.iter().filter(|triple| triple.contains(part)).count();
    assert_eq!((count("#directClaim>"), count("Normalized>"), count("#propertyType>")), (1, 4, 1));
    assert_eq!(count("direct-normalized/P1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"), 1);
}

#[test]
fn quantities_are_normalised() {
    let line = statement(
        r#"{"snaktype":"value","property":"P1","datatype":"quantity","datavalue":{"type":"quantity",
        "value":{"amount":"+2","unit":"http://www.wikidata.org/entity/Q828224"}}}"#,
    );
    let triples = convert(RdfShape::Service, &line.replace('\n', "")).unwrap();
    let count = |part: &str| triples.iter().filter(|triple| triple.contains(part)).count();
    assert_eq!((count("\"+2000\""), count("value-normalized/P1"), count("quantityNormalized")), (1, 1, 2));
}

#[test]
fn whatever_stands_there_is_an_error_or_left_out() {
    let snaks = [
        r#"{"snaktype":"value","property":"P1"}"#,
        r#"{"snaktype":"value","property":"P1","datavalue":null}"#,
        r#"{"snaktype":"value","property":"P1","datavalue":{"type":"new","value":{"a":[1,2]}}}"#,
        r#"{"snaktype":"value","property":"P1","datavalue":{"type":"time","value":{}}}"#,
        r#"{"snaktype":"value","property":"P1","datavalue":{"type":"quantity","value":{"amount":"x","unit":"1"}}}"#,
        r#"{"snaktype":"value","property":"P1","datavalue":{"type":"wikibase-entityid","value":{"id":"<>"}}}"#,
    ];
    for snak in snaks {
        let triples = convert(RdfShape::Dump, &statement(snak)).unwrap();
        assert!(triples.iter().all(|triple| !triple.contains("prop/statement/P1>")), "{snak}");
    }
    let lines = [
        "{}",
        "{",
        "null",
        "[1]",
        "\u{7f}",
        r#"{"id":"Q1 x","type":"item"}"#,
        r#"{"id":"Q1","type":"what"}"#,
        r#"{"id":"Q1","type":"item","labels":[1]}"#,
        r#"{"id":"Q1","type":"item","claims":{"P1":[{"id":"<","mainsnak":{"snaktype":"novalue","property":"P1"}}]}}"#,
        r#"{"id":"Q1","type":"item","claims":{"P1":[{"id":"Q1$a","mainsnak":{"snaktype":"novalue","property":"x"}}]}}"#,
    ];
    for line in lines {
        assert!(convert(RdfShape::Dump, line).is_err(), "{line}");
    }
    for line in ["", "[", "]", "  \r", "[]", r#"{"id":"Q1","missing":""}"#] {
        assert_eq!(convert(RdfShape::Dump, line), Ok(vec![]), "{line}");
    }
}

#[test]
fn bad_lines_have_their_number() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let good = r#"{"type":"item","id":"Q1"},"#;
    std::io::Write::write_all(&mut file, format!("[\n{good}\n{{\"x\n{good}\n]\n").as_bytes()).unwrap();
    let all = |skip_bad| {
        let options = WikidataOptions { skip_bad, ..WikidataOptions::default() };
        entities::<String, LoaderError>(
            file.path(),
            &options,
            |entity, ids| {
                ids.push(entity.id.to_string());
                Ok(())
            },
            |_, _| Ok(()),
        )
    };
    let error = all(false).unwrap_err().to_string();
    assert!(error.contains(": line 3, byte 29: the line ends within an entity"), "{error}");
    let summary = all(true).unwrap();
    assert_eq!((summary.entities, summary.bad, summary.errors.len()), (2, 1, 1));
    assert!(is_dump(file.path()).unwrap());
}

#[test]
fn a_dump_that_was_cut_off_is_an_error() {
    let read = |text: &str, skip_bad: bool| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let options = WikidataOptions { skip_bad, ..WikidataOptions::default() };
        let all = entities::<(), LoaderError>(file.path(), &options, |_, _| Ok(()), |_, _| Ok(()));
        all.map(|summary| (summary.entities, summary.bad)).map_err(|error| error.to_string())
    };
    let line = r#"{"type":"item","id":"Q1"}"#;
    for whole in [format!("[\n{line},\n{line}\n]\n"), format!("[{line},\n{line}]"), format!("{line}\n{line}\n")] {
        assert_eq!(read(&whole, false), Ok((2, 0)), "{whole}");
    }
    for cut in [format!("[\n{line},\n{line},\n"), format!("[\n{line},\n{line}"), format!("[{line},\n{line},\n\n")] {
        assert_eq!(read(&cut, true), Ok((2, 1)), "{cut}");
        assert!(read(&cut, false).unwrap_err().contains("closing ] is missing"), "{cut}");
    }
}
