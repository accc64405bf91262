//! Recognizes kinds of things: `pubs in Valletta`, `[pub]`. The table has English words for common kinds; `[key=value]`
//! works for any tag.

use terrapin_osm::names::words;

/// A tag.
pub type Tag = (String, String);

/// Kinds in the singular, and their tag.
const KINDS: &[(&str, &str, &str)] = &[
    ("airport", "aeroway", "aerodrome"),
    ("alpine hut", "tourism", "alpine_hut"),
    ("apartment", "tourism", "apartment"),
    ("aquarium", "tourism", "aquarium"),
    ("archaeological site", "historic", "archaeological_site"),
    ("art gallery", "tourism", "gallery"),
    ("artwork", "tourism", "artwork"),
    ("atm", "amenity", "atm"),
    ("attraction", "tourism", "attraction"),
    ("bakery", "shop", "bakery"),
    ("bank", "amenity", "bank"),
    ("bar", "amenity", "bar"),
    ("beach", "natural", "beach"),
    ("bench", "amenity", "bench"),
    ("bicycle rental", "amenity", "bicycle_rental"),
    ("bike rental", "amenity", "bicycle_rental"),
    ("bicycle shop", "shop", "bicycle"),
    ("bike shop", "shop", "bicycle"),
    ("biergarten", "amenity", "biergarten"),
    ("beer garden", "amenity", "biergarten"),
    ("book shop", "shop", "books"),
    ("bookshop", "shop", "books"),
    ("bookstore", "shop", "books"),
    ("bus station", "amenity", "bus_station"),
    ("bus stop", "highway", "bus_stop"),
    ("butcher", "shop", "butcher"),
    ("cafe", "amenity", "cafe"),
    ("coffee shop", "amenity", "cafe"),
    ("camp site", "tourism", "camp_site"),
    ("campsite", "tourism", "camp_site"),
    ("camping", "tourism", "camp_site"),
    ("car park", "amenity", "parking"),
    ("parking", "amenity", "parking"),
    ("parking lot", "amenity", "parking"),
    ("car rental", "amenity", "car_rental"),
    ("car repair", "shop", "car_repair"),
    ("car wash", "amenity", "car_wash"),
    ("casino", "amenity", "casino"),
    ("castle", "historic", "castle"),
    ("cemetery", "landuse", "cemetery"),
    ("charging station", "amenity", "charging_station"),
    ("chemist", "shop", "chemist"),
    ("church", "amenity", "place_of_worship"),
    ("place of worship", "amenity", "place_of_worship"),
    ("cinema", "amenity", "cinema"),
    ("clinic", "amenity", "clinic"),
    ("clothes shop", "shop", "clothes"),
    ("college", "amenity", "college"),
    ("convenience store", "shop", "convenience"),
    ("court", "amenity", "courthouse"),
    ("courthouse", "amenity", "courthouse"),
    ("dentist", "amenity", "dentist"),
    ("department store", "shop", "department_store"),
    ("doctor", "amenity", "doctors"),
    ("drinking water", "amenity", "drinking_water"),
    ("embassy", "office", "diplomatic"),
    ("fast food", "amenity", "fast_food"),
    ("ferry terminal", "amenity", "ferry_terminal"),
    ("fire station", "amenity", "fire_station"),
    ("florist", "shop", "florist"),
    ("fountain", "amenity", "fountain"),
    ("fuel", "amenity", "fuel"),
    ("fuel station", "amenity", "fuel"),
    ("gas station", "amenity", "fuel"),
    ("petrol station", "amenity", "fuel"),
    ("garden", "leisure", "garden"),
    ("golf course", "leisure", "golf_course"),
    ("guest house", "tourism", "guest_house"),
    ("guesthouse", "tourism", "guest_house"),
    ("gym", "leisure", "fitness_centre"),
    ("hairdresser", "shop", "hairdresser"),
    ("hospital", "amenity", "hospital"),
    ("hostel", "tourism", "hostel"),
    ("hotel", "tourism", "hotel"),
    ("ice cream", "amenity", "ice_cream"),
    ("jeweller", "shop", "jewelry"),
    ("kindergarten", "amenity", "kindergarten"),
    ("laundry", "shop", "laundry"),
    ("library", "amenity", "library"),
    ("lighthouse", "man_made", "lighthouse"),
    ("mall", "shop", "mall"),
    ("shopping mall", "shop", "mall"),
    ("shopping centre", "shop", "mall"),
    ("marina", "leisure", "marina"),
    ("market", "amenity", "marketplace"),
    ("memorial", "historic", "memorial"),
    ("monument", "historic", "monument"),
    ("motel", "tourism", "motel"),
    ("museum", "tourism", "museum"),
    ("nature reserve", "leisure", "nature_reserve"),
    ("night club", "amenity", "nightclub"),
    ("nightclub", "amenity", "nightclub"),
    ("optician", "shop", "optician"),
    ("park", "leisure", "park"),
    ("peak", "natural", "peak"),
    ("pharmacy", "amenity", "pharmacy"),
    ("picnic site", "tourism", "picnic_site"),
    ("playground", "leisure", "playground"),
    ("police", "amenity", "police"),
    ("police station", "amenity", "police"),
    ("post box", "amenity", "post_box"),
    ("post office", "amenity", "post_office"),
    ("prison", "amenity", "prison"),
    ("pub", "amenity", "pub"),
    ("railway station", "railway", "station"),
    ("train station", "railway", "station"),
    ("restaurant", "amenity", "restaurant"),
    ("school", "amenity", "school"),
    ("shoe shop", "shop", "shoes"),
    ("sports centre", "leisure", "sports_centre"),
    ("spring", "natural", "spring"),
    ("stadium", "leisure", "stadium"),
    ("supermarket", "shop", "supermarket"),
    ("swimming pool", "leisure", "swimming_pool"),
    ("taxi", "amenity", "taxi"),
    ("taxi rank", "amenity", "taxi"),
    ("theatre", "amenity", "theatre"),
    ("theater", "amenity", "theatre"),
    ("theme park", "tourism", "theme_park"),
    ("toilet", "amenity", "toilets"),
    ("tourist information", "tourism", "information"),
    ("town hall", "amenity", "townhall"),
    ("townhall", "amenity", "townhall"),
    ("university", "amenity", "university"),
    ("veterinary", "amenity", "veterinary"),
    ("viewpoint", "tourism", "viewpoint"),
    ("zoo", "tourism", "zoo"),
];

/// Maximum number of words of a kind.
const LONGEST: usize = 3;

/// Prepositions after a kind, and whether they include the places around the area.
const WHERE: &[(&str, bool)] =
    &[("in", false), ("at", false), ("near", true), ("around", true), ("nearby", true), ("by", true)];

/// Returns the tag of a kind; all words must match, in the singular or plural.
pub fn kind(said: &[String]) -> Option<Tag> {
    let (last, front) = said.split_last()?;
    if said.len() > LONGEST {
        return None;
    }
    singulars(last).iter().find_map(|last| {
        let text = front.iter().map(String::as_str).chain([last.as_str()]).collect::<Vec<_>>().join(" ");
        let (_, key, value) = KINDS.iter().find(|(said, ..)| *said == text)?;
        Some(((*key).to_owned(), (*value).to_owned()))
    })
}

/// Parses a tag, `amenity=pub`, or the name of a kind.
pub fn tag(text: &str) -> Option<Tag> {
    match text.split_once('=') {
        Some((key, value)) => {
            let tag = (key.trim().to_owned(), value.trim().to_owned());
            (!tag.0.is_empty() && !tag.1.is_empty()).then_some(tag)
        }
        None => kind(&words(text)),
    }
}

/// Returns the kind in square brackets, and the rest of the text.
pub fn bracketed(text: &str) -> Option<(Tag, String)> {
    let (front, rest) = text.split_once('[')?;
    let (inside, back) = rest.split_once(']')?;
    Some((tag(inside)?, format!("{front} {back}")))
}

/// A kind at the beginning of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindPrefix {
    /// Its tag.
    pub tag: Tag,
    /// Number of its words, including the preposition.
    pub words: usize,
    /// Whether it has a preposition, and whether that includes the places around the area.
    pub near: Option<bool>,
}

/// Returns the longest kind at the beginning of words.
pub fn front(said: &[String]) -> Option<KindPrefix> {
    let found = (1..=LONGEST.min(said.len())).rev().find_map(|length| Some((length, kind(&said[..length])?)));
    let (length, tag) = found?;
    let next = said.get(length);
    // `close to`, `next to`.
    let beside =
        next.is_some_and(|word| word == "close" || word == "next") && said.get(length + 1).is_some_and(|to| to == "to");
    let near = WHERE.iter().find(|(word, _)| next.is_some_and(|next| next == word)).map(|(_, near)| *near);
    let (words, near) = match (beside, near) {
        (true, _) => (length + 2, Some(true)),
        (false, Some(near)) => (length + 1, Some(near)),
        (false, None) => (length, None),
    };
    Some(KindPrefix { tag, words, near })
}

/// Returns a word and its possible singulars.
fn singulars(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    if let Some(stem) = word.strip_suffix("ies") {
        all.push(format!("{stem}y"));
    }
    if let Some(stem) = word.strip_suffix("es") {
        all.push(stem.to_owned());
    }
    if let Some(stem) = word.strip_suffix('s') {
        all.push(stem.to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(text: &str) -> Option<String> {
        kind(&words(text)).map(|(key, value)| format!("{key}={value}"))
    }

    #[test]
    fn one_or_several() {
        for (text, tag) in [
            ("pub", "amenity=pub"),
            ("Pubs", "amenity=pub"),
            ("pharmacies", "amenity=pharmacy"),
            ("churches", "amenity=place_of_worship"),
            ("Cafés", "amenity=cafe"),
            ("petrol stations", "amenity=fuel"),
            ("bus stops", "highway=bus_stop"),
        ] {
            assert_eq!(tag_of(text).as_deref(), Some(tag), "{text}");
        }
        assert!(["", "valletta", "the pub", "s"].iter().all(|text| tag_of(text).is_none()));
    }

    #[test]
    fn what_is_said_in_front() {
        let of = |text: &str| front(&words(text)).map(|front| (front.tag.1, front.words, front.near));
        assert_eq!(of("pubs in Valletta"), Some(("pub".to_owned(), 2, Some(false))));
        assert_eq!(of("petrol station close to Mosta"), Some(("fuel".to_owned(), 4, Some(true))));
        assert_eq!(of("pub Valletta"), Some(("pub".to_owned(), 1, None)));
        assert_eq!(of("The pub"), None);
        assert_eq!(
            bracketed("[pub] Valletta"),
            Some((("amenity".to_owned(), "pub".to_owned()), "  Valletta".to_owned()))
        );
        assert_eq!(bracketed("[shop=tea] Sliema").map(|(tag, _)| tag.1).as_deref(), Some("tea"));
        assert!(["[pub", "pub]", "[nonsense] x", "[=x] y", "]["].iter().all(|text| bracketed(text).is_none()));
    }

    #[test]
    fn each_is_there_once_and_folded() {
        let said: std::collections::BTreeSet<_> = KINDS.iter().map(|(said, ..)| said).collect();
        assert_eq!(said.len(), KINDS.len());
        for (said, ..) in KINDS {
            let folded = words(said);
            assert!(folded.len() <= LONGEST && folded.join(" ") == **said, "{said}");
        }
    }
}
