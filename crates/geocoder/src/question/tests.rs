use super::*;

#[test]
fn roads_and_towns_are_written_otherwise() {
    assert_eq!(read("A 1")[..2], ["a 1 | ".to_owned(), "a1 | ".to_owned()]);
    assert_eq!(read("a1"), ["a1 | ", "a 1 | "]);
    assert!(!read("I-278").contains(&"i | ".to_owned()));
    let readings = PlaceQuery::Text("Olive City".to_owned()).readings(&code).forward;
    let city = readings.iter().find(|reading| reading.sort == PlaceKind::City).expect("a town");
    assert_eq!((&city.wanted, city.distance), (&ReadingTarget::Name(vec!["olive".to_owned()]), 1));
}

/// Four digits are a postal code.
fn code(words: &[String]) -> Option<Postcode> {
    let is_code = words.len() == 1 && words[0].len() == 4 && words[0].bytes().all(|b| b.is_ascii_digit());
    is_code.then(|| Postcode::named(&words[0]))
}

fn shown(readings: &[QueryReading]) -> Vec<String> {
    let is_plain = |reading: &&QueryReading| match &reading.wanted {
        ReadingTarget::House(number, _) => number.is_number(),
        _ => true,
    };
    let show = |reading: &QueryReading| {
        let within: Vec<String> = reading.within.iter().map(|words| words.join(" ")).collect();
        let wanted = match &reading.wanted {
            ReadingTarget::Name(words) => words.join(" "),
            ReadingTarget::House(house, words) => format!("{}: {}", house.text, words.join(" ")),
            ReadingTarget::Postcode => "code".to_owned(),
            ReadingTarget::Kind((key, value), near) => format!("{key}={value}{}", if *near { " near" } else { "" }),
        };
        let code = reading.postcode.as_ref().map(|code| format!(" with {}", code.text)).unwrap_or_default();
        format!("{wanted} | {}{code}", within.join(" | "))
    };
    readings.iter().filter(is_plain).map(show).collect()
}

fn read(text: &str) -> Vec<String> {
    shown(&PlaceQuery::Text(text.to_owned()).readings(&code).forward)
}

#[test]
fn texts_have_several_readings() {
    assert_eq!(read("Sliema, Malta"), ["sliema | malta", "sliema malta | "]);
    assert_eq!(read("Sliema Malta"), ["sliema malta | ", "sliema | malta", "malta | sliema"]);
    assert_eq!(
        read("12A Old Street, Valletta"),
        [
            "12a old street | valletta",
            "12a: old street | valletta",
            "old street | valletta",
            "12a old street valletta | "
        ]
    );
    assert_eq!(read("12A, Old Street, Valletta")[..2], ["12a: old street | valletta", "old street | valletta"]);
    assert!(read("Café & Söhne").contains(&"cafe sohne | ".to_owned()));
    assert!(read("Café und Söhne").contains(&"cafe sohne | ".to_owned()));
    assert!(read("Jim-Knopfstr").contains(&"jim knopf str | ".to_owned()));
    assert!(read("Jim Knopf Str").contains(&"jim knopfstr | ".to_owned()));
    assert!(read(" , ;").is_empty());
    assert!(read(&"a ".repeat(10_000)).len() < 100);
    assert!(read(&"1234 ".repeat(10_000)).len() < 500);
    let turned = PlaceQuery::Text("Malta, Sliema".to_owned()).readings(&code).backward;
    assert_eq!(shown(&turned), ["sliema | malta", "sliema malta | "]);
}

#[test]
fn a_postal_code_stands_anywhere() {
    assert_eq!(read("1234"), ["1234 | ", "code |  with 1234"]);
    for text in ["1234 Olive", "Olive 1234", "Olive, 1234"] {
        let all = read(text);
        assert!(all.contains(&"code | olive with 1234".to_owned()), "{text}: {all:?}");
        assert!(all.contains(&"olive |  with 1234".to_owned()), "{text}: {all:?}");
    }
    let all = read("Old Street 5, 1234 Olive");
    assert!(all.contains(&"5: old street | olive with 1234".to_owned()), "{all:?}");
    // An unknown code is ignored.
    assert!(read("99999 Olive").contains(&"olive | ".to_owned()));
    let parts = AddressQuery { city: "Olive".to_owned(), postcode: "1234".to_owned(), ..AddressQuery::default() };
    let readings = PlaceQuery::Parts(parts).readings(&code).forward;
    assert_eq!(shown(&readings), ["olive |  with 1234", "code | olive with 1234"]);
}

#[test]
fn kinds_of_things_lie_somewhere() {
    assert_eq!(read("pubs in Olive").last().unwrap(), "amenity=pub | olive");
    assert_eq!(read("pub, Olive").last().unwrap(), "amenity=pub | olive");
    assert_eq!(read("hotels near Olive").last().unwrap(), "tourism=hotel near | olive");
    assert_eq!(read("Olive pub").last().unwrap(), "amenity=pub | olive");
    assert_eq!(read("[pub] Olive"), ["amenity=pub | olive"]);
    assert_eq!(read("[shop=tea]"), ["shop=tea | "]);
    let near = PlaceQuery::Text("pub near 35.5, 14.5".to_owned()).readings(&code);
    assert_eq!(shown(&near.forward).last().unwrap(), "amenity=pub near | ");
    assert_eq!(near.at, Some(Coord { lat: 355_000_000, lon: 145_000_000 }));
    let parts = AddressQuery { amenity: "pub".to_owned(), city: "Olive".to_owned(), ..AddressQuery::default() };
    let readings = PlaceQuery::Parts(parts).readings(&code).forward;
    assert_eq!(shown(&readings), ["pub | olive", "amenity=pub | olive"]);
}

#[test]
fn a_street_may_end_in_a_number() {
    let parts =
        AddressQuery { street: "Old Street 5".to_owned(), country: "Malta".to_owned(), ..AddressQuery::default() };
    let readings = PlaceQuery::Parts(parts).readings(&code).forward;
    assert!(readings.iter().all(|reading| reading.sort == PlaceKind::Street));
    assert_eq!(shown(&readings), ["old street 5 | malta", "5: old street | malta", "old street | malta"]);
    assert!(AddressQuery::default().is_empty());
}
