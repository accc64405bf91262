//! Synonyms from everyday English to the words of tags. Each row maps stems of everyday words to words of keys or
//! values. Keep the table short: words that occur in tag descriptions need no row.

const WORDS: &[(&[&str], &[&str])] = &[
    (&["airport"], &["aerodrome"]),
    (&["art"], &["artwork"]),
    (&["bathroom"], &["toilets"]),
    (&["barber"], &["hairdresser"]),
    (&["beer", "garden"], &["biergarten"]),
    (&["bike"], &["bicycle"]),
    (&["bin"], &["waste", "basket"]),
    (&["border"], &["boundary"]),
    (&["car", "park"], &["parking"]),
    (&["cash", "machin"], &["atm"]),
    (&["cash", "dispens"], &["atm"]),
    (&["church"], &["worship", "christian"]),
    (&["coffe"], &["cafe"]),
    (&["coffe", "shop"], &["cafe"]),
    (&["countri", "border"], &["admin", "level", "2"]),
    (&["crosswalk"], &["crossing"]),
    (&["currenc", "exchang"], &["bureau", "de", "change"]),
    (&["cycl"], &["bicycle"]),
    (&["daycar"], &["childcare", "kindergarten"]),
    (&["dentist"], &["dentist"]),
    (&["disabl"], &["wheelchair"]),
    (&["drinking", "fountain"], &["drinking", "water"]),
    (&["drink", "fountain"], &["drinking", "water"]),
    (&["drugstor"], &["chemist", "pharmacy"]),
    (&["elev"], &["elevator"]),
    (&["embassi"], &["diplomatic"]),
    (&["fill", "station"], &["fuel"]),
    (&["footbal"], &["soccer"]),
    (&["footpath"], &["footway", "path"]),
    (&["forest"], &["wood"]),
    (&["freeway"], &["motorway"]),
    (&["garbag"], &["waste"]),
    (&["gas", "station"], &["fuel"]),
    (&["graveyard"], &["cemetery"]),
    (&["groceri"], &["supermarket", "convenience"]),
    (&["handicap"], &["wheelchair"]),
    (&["lake"], &["water"]),
    (&["letter", "box"], &["post", "box"]),
    (&["lift"], &["elevator"]),
    (&["liquor"], &["alcohol"]),
    (&["mailbox"], &["post", "box"]),
    (&["metro"], &["subway"]),
    (&["money", "exchang"], &["bureau", "de", "change"]),
    (&["mosqu"], &["worship", "muslim"]),
    (&["mountain"], &["peak"]),
    (&["movi", "theater"], &["cinema"]),
    (&["municip"], &["admin", "level", "8"]),
    (&["nurs", "home"], &["nursing", "home", "social", "facility"]),
    (&["park", "lot"], &["parking"]),
    (&["pavement"], &["sidewalk"]),
    (&["pedestrian", "cross"], &["crossing"]),
    (&["petrol"], &["fuel"]),
    (&["phone", "booth"], &["telephone"]),
    (&["polic", "station"], &["police"]),
    (&["pond"], &["water"]),
    (&["racetrack"], &["raceway"]),
    (&["restroom"], &["toilets"]),
    (&["road"], &["highway"]),
    (&["rubbish"], &["waste"]),
    (&["soccer"], &["soccer"]),
    (&["staircas"], &["steps"]),
    (&["stair"], &["steps"]),
    (&["street"], &["highway"]),
    (&["street", "light"], &["street", "lamp"]),
    (&["summit"], &["peak"]),
    (&["synagogu"], &["worship", "jewish"]),
    (&["traffic", "light"], &["traffic", "signals"]),
    (&["train", "station"], &["railway", "station"]),
    (&["trash"], &["waste"]),
    (&["underground"], &["subway"]),
    (&["vet"], &["veterinary"]),
    (&["wc"], &["toilets"]),
    (&["zebra", "cross"], &["crossing"]),
    (&["zip", "code"], &["postcode"]),
];

/// Returns the tag words for `stems`, or an empty slice.
pub fn words(stems: &[&str]) -> &'static [&'static str] {
    WORDS.iter().find(|(said, _)| *said == stems).map_or(&[], |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once() {
        let said: std::collections::BTreeSet<_> = WORDS.iter().map(|(said, _)| said).collect();
        assert_eq!(said.len(), WORDS.len());
        assert_eq!(words(&["gas", "station"]), ["fuel"]);
        assert!(words(&["gas"]).is_empty());
    }
}
