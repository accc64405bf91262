//! Provides the elements of a snapshot in the form in which file readers provide them, for export to a file or for
//! building another snapshot.

use terrapin_loaders::{BlockBuilder, ElementBlock, SourceElementType as Loaded, SourceMeta};

use super::store::{Osm, Remembered};
use super::types::{ElementRef, ElementType, MetaRef};

impl Osm {
    /// Returns the elements on some pages, limited to those for which `keep` returns true; it is called with page and
    /// slot. Damage is recorded for [`Osm::check`].
    pub fn block(&self, kind: ElementType, pages: &[u32], keep: impl Fn(u32, usize) -> bool) -> ElementBlock {
        let mut block = BlockBuilder::default();
        for &page in pages {
            let mut writer = SourcePageWriter { osm: self, kind, page, keep: |slot| keep(page, slot), block };
            match kind {
                ElementType::Node => writer.nodes(),
                ElementType::Way => writer.ways(),
                ElementType::Relation => writer.relations(),
            }
            block = writer.block;
        }
        block.finish()
    }
}

/// Converts one page into a block.
struct SourcePageWriter<'o, F> {
    osm: &'o Osm,
    kind: ElementType,
    page: u32,
    keep: F,
    block: BlockBuilder,
}

impl<F: Fn(usize) -> bool> SourcePageWriter<'_, F> {
    fn nodes(&mut self) {
        let nodes = self.osm.node_page(self.page);
        self.each(&nodes.ids, |slot, _| nodes.coords.get(slot).map_or((0, 0), |at| (at.lat, at.lon)));
    }

    fn ways(&mut self) {
        let ways = self.osm.way_page(self.page);
        let slots = (0..ways.ids.len()).filter(|&slot| (self.keep)(slot));
        let nodes: Vec<ElementRef> = slots.flat_map(|slot| ways.nodes(slot)).copied().collect();
        let mut nodes = self.osm.ref_ids(ElementType::Node, &nodes).into_iter();
        self.each(&ways.ids, |slot, block| {
            nodes.by_ref().take(ways.nodes(slot).len()).for_each(|id| block.node(id));
            (0, 0)
        });
    }

    fn relations(&mut self) {
        let (osm, relations) = (self.osm, self.osm.relation_page(self.page));
        self.each(&relations.ids, |slot, block| {
            for member in relations.members(slot) {
                let id = osm.ref_ids(member.kind, &[member.element]).first().copied().unwrap_or_default();
                block.member(loaded(member.kind), id, osm.role(member.role));
            }
            (0, 0)
        });
    }

    /// Adds the elements with their tags and metadata. `parts` adds the fields that only this type has and returns the
    /// position.
    fn each(&mut self, ids: &[i64], mut parts: impl FnMut(usize, &mut BlockBuilder) -> (i32, i32)) {
        let Self { osm, kind, page, keep, block } = self;
        let (tags, metadata) = (osm.tag_page(*kind, *page), osm.meta_page(*kind, *page));
        let mut values = Remembered::new(|page| osm.value_page(page));
        for (slot, &id) in ids.iter().enumerate().filter(|(slot, _)| keep(*slot)) {
            let position = parts(slot, block);
            for &pair in tags.tags(slot) {
                let values = values.get(pair / Osm::VALUES_ON_PAGE as u32);
                let slot = (pair % Osm::VALUES_ON_PAGE as u32) as usize;
                block.tag(osm.key_name(values.key(slot)), values.get(slot));
            }
            block.end(loaded(*kind), id, position, meta(osm, metadata.meta(slot)));
        }
    }
}

fn loaded(kind: ElementType) -> Loaded {
    match kind {
        ElementType::Node => Loaded::Node,
        ElementType::Way => Loaded::Way,
        ElementType::Relation => Loaded::Relation,
    }
}

/// Metadata, if anything of it is known.
fn meta(osm: &Osm, known: MetaRef) -> Option<SourceMeta<'_>> {
    let MetaRef { version, timestamp, changeset, uid, user } = known;
    let meta = SourceMeta { version, timestamp, changeset, uid, user: osm.user_name(user), visible: true };
    let nothing = SourceMeta { version: 0, timestamp: 0, changeset: 0, uid: 0, user: "", visible: true };
    (meta != nothing).then_some(meta)
}
