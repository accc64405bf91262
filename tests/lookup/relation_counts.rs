//! Counts the types and roles of relations in an extract in XML.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The relations of an extract in XML.
#[derive(Default)]
pub struct RelationCounts {
    pub relations: u64,
    pub types: BTreeMap<String, u64>,
    /// Members by type and role: nodes, ways, relations.
    pub roles: BTreeMap<(String, String), [u64; 3]>,
}

impl RelationCounts {
    pub fn read(xml: &str) -> RelationCounts {
        let mut counts = RelationCounts::default();
        let mut reader = Reader::from_str(xml);
        let (mut members, mut rtype): (Vec<(String, String)>, _) = (Vec::new(), None);
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => return counts,
                Event::Start(start) if start.name().as_ref() == "relation" => (members, rtype) = (Vec::new(), None),
                Event::Empty(empty) if empty.name().as_ref() == "member" => {
                    members.push((attribute(&empty, "type"), attribute(&empty, "role")));
                }
                Event::Empty(empty) if empty.name().as_ref() == "tag" && attribute(&empty, "k") == "type" => {
                    rtype = Some(attribute(&empty, "v"));
                }
                Event::End(end) if end.name().as_ref() == "relation" => counts.add(rtype.take(), &members),
                _ => {}
            }
        }
    }

    fn add(&mut self, rtype: Option<String>, members: &[(String, String)]) {
        self.relations += 1;
        let Some(rtype) = rtype else { return };
        *self.types.entry(rtype.clone()).or_default() += 1;
        for (kind, role) in members {
            let kind = ["node", "way", "relation"].iter().position(|name| name == kind).unwrap();
            self.roles.entry((rtype.clone(), role.clone())).or_default()[kind] += 1;
        }
    }

    /// Returns the numbers of nodes, ways and relations that are members of relations of a type.
    pub fn members(&self, rtype: &str) -> [u64; 3] {
        let own = self.roles.iter().filter(|((own, _), _)| own == rtype);
        own.fold([0; 3], |sum, (_, counts)| [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2]])
    }
}

fn attribute(start: &BytesStart<'_>, name: &str) -> String {
    let attribute = start.try_get_attribute(name).unwrap().unwrap();
    attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap().into_owned()
}
