//! Compiles filters on the user and the time of an element's change to tests on its metadata.

use crate::syntax::{Changed, FilterKind, Timestamp, User, UserFilter};
use terrapin_osm::{MetaRef, Osm};

/// One filter on metadata.
pub enum MetaTest {
    /// Changed by one of these users, by index of the name (ascending).
    Users(Vec<u32>),
    /// Changed by one of these users, by id (ascending).
    Uids(Vec<i64>),
    /// Changed at this moment or later.
    Since(Timestamp),
    /// Already existed at this moment.
    Until(Timestamp),
    /// Changed after the first moment and not after the second.
    Between(Timestamp, Timestamp),
}

impl MetaTest {
    /// Returns the test of a filter; `None` for other filters. In the current state of the data, the user who touched
    /// an element is the author of its current version.
    pub fn compile(osm: &Osm, filter: &FilterKind) -> Option<MetaTest> {
        match filter {
            FilterKind::User(User { who: UserFilter::Names(names), .. }) => {
                let mut users: Vec<u32> = names.iter().flat_map(|name| osm.users_named(name)).collect();
                users.sort_unstable();
                users.dedup();
                Some(MetaTest::Users(users))
            }
            FilterKind::User(User { who: UserFilter::Ids(uids), .. }) => {
                let mut uids = uids.clone();
                uids.sort_unstable();
                Some(MetaTest::Uids(uids))
            }
            FilterKind::Newer(newer) => Some(MetaTest::Since(newer.than)),
            // Without a moment, the filter finds changes between now and now.
            FilterKind::Changed(Changed { since: None, .. }) => Some(MetaTest::Between(Timestamp::MAX, Timestamp::MAX)),
            FilterKind::Changed(Changed { since: Some(since), until }) => {
                // As in the reference, `until` is no upper limit if it equals `since`.
                let until = until.filter(|until| until != since).unwrap_or(Timestamp::MAX);
                Some(MetaTest::Between(*since, until))
            }
            _ => None,
        }
    }

    /// Returns whether an element with this metadata passes.
    pub fn holds(&self, meta: &MetaRef) -> bool {
        match self {
            MetaTest::Users(users) => users.binary_search(&meta.user).is_ok(),
            MetaTest::Uids(uids) => uids.binary_search(&meta.uid).is_ok(),
            MetaTest::Since(than) => meta.timestamp >= *than,
            MetaTest::Until(moment) => meta.timestamp != 0 && meta.timestamp <= *moment,
            MetaTest::Between(since, until) => meta.timestamp > *since && meta.timestamp <= *until,
        }
    }

    /// Returns whether the test alone is selective enough for the reference to test all elements.
    pub fn is_strong(&self) -> bool {
        !matches!(self, MetaTest::Since(_) | MetaTest::Until(_))
    }

    /// Returns whether no element can pass.
    pub fn never(&self) -> bool {
        match self {
            MetaTest::Users(users) => users.is_empty(),
            MetaTest::Uids(uids) => uids.is_empty(),
            MetaTest::Since(_) | MetaTest::Until(_) => false,
            MetaTest::Between(since, until) => since >= until,
        }
    }
}
