//! Sizes of the files that are followed, so that the reader is only woken for those that have changed, and does not
//! slow down an agent that writes as fast as it can.
//!
//! What may go here: `stat`. What may not: opening, reading.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::core::AgentId;

/// An output that has grown by more bytes than this between two looks, which are about a second apart, is a flood. No
/// program writes so much that says something.
const FLOOD_BYTES: u64 = 64 << 20;
/// Bytes of a flood that are read before the next look: whoever reads along with a writer at the full speed of the
/// memory takes a fifth of that speed away from it (measured). What is left is read when the flood is over.
const READ_IN_FLOOD_BYTES: u64 = 32 << 20;

/// The files of each followed agent with their sizes at the last look.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    agents: BTreeMap<AgentId, Files>,
}

#[derive(Debug)]
struct Files {
    out: PathBuf,
    err: PathBuf,
    /// `None` before the first look, and for a file that is not there.
    seen: Option<[Option<u64>; 2]>,
    /// It was flooded at the last look, which has left something unread.
    is_flooded: bool,
    /// There is more to look at than these two, which only the reader knows.
    has_more: bool,
}

impl Files {
    /// Takes note of sizes; returns how many bytes are to be read, if there can be any.
    fn look(&mut self, now: [Option<u64>; 2]) -> Option<u64> {
        let seen = self.seen.replace(now);
        let [before, after] = [seen, self.seen].map(|sizes| sizes.and_then(|[out, _]| out));
        let grown = before.zip(after).map_or(0, |(before, after)| after.saturating_sub(before));
        let was_flooded = std::mem::replace(&mut self.is_flooded, grown > FLOOD_BYTES);
        if self.is_flooded {
            return Some(READ_IN_FLOOD_BYTES);
        }
        (was_flooded || self.has_more || seen != self.seen).then_some(u64::MAX)
    }
}

impl Sizes {
    /// Begins to look; an agent that `has_more` than these files is found at every look.
    pub(super) fn follow(&mut self, id: AgentId, out: &Path, err: &Path, has_more: bool) {
        let (out, err) = (out.to_owned(), err.to_owned());
        let files = Files { out, err, seen: None, is_flooded: false, has_more };
        self.agents.insert(id, files);
    }

    pub(super) fn follows(&self, id: AgentId) -> bool {
        self.agents.contains_key(&id)
    }

    pub(super) fn forget(&mut self, id: AgentId) {
        self.agents.remove(&id);
    }

    /// Returns the agents of which a file has or may have another size than at the last look, or was left unread by it, each
    /// with the most bytes that are to be read; the first look finds all of them.
    pub(super) fn changed(&mut self) -> Vec<(AgentId, u64)> {
        let looked = self.agents.iter_mut().map(|(id, files)| {
            let now = [size(&files.out), size(&files.err)];
            (*id, files.look(now))
        });
        looked.filter_map(|(id, most)| Some((id, most?))).collect()
    }
}

/// The size of what is at the path itself: a link is never followed, since an agent could lead it anywhere.
fn size(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(sizes: &mut Sizes) -> Vec<AgentId> {
        sizes.changed().into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn a_flood_is_read_in_part_until_it_is_over_and_then_to_its_end() {
        let mut files = Files {
            out: PathBuf::new(),
            err: PathBuf::new(),
            seen: None,
            is_flooded: false,
            has_more: false,
        };
        let mut look = |bytes| files.look([Some(bytes), None]);
        assert_eq!(look(FLOOD_BYTES * 9), Some(u64::MAX), "nobody knows when that was written");
        assert_eq!(look(FLOOD_BYTES * 9), None);
        assert_eq!(look(FLOOD_BYTES * 10), Some(u64::MAX), "much, and no flood");
        assert_eq!(look(FLOOD_BYTES * 12), Some(READ_IN_FLOOD_BYTES));
        assert_eq!(look(FLOOD_BYTES * 14), Some(READ_IN_FLOOD_BYTES));
        assert_eq!(look(FLOOD_BYTES * 14), Some(u64::MAX), "it has ended");
        assert_eq!(look(FLOOD_BYTES * 14), None);
        assert_eq!(look(FLOOD_BYTES * 16), Some(READ_IN_FLOOD_BYTES));
        assert_eq!(look(FLOOD_BYTES * 16 + 1), Some(u64::MAX), "it has become slow");
        assert_eq!(look(5), Some(u64::MAX), "it was cut");
    }

    #[test]
    fn only_what_has_changed_its_size_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut sizes = Sizes::default();
        for id in 1..=2 {
            sizes.follow(
                AgentId(id),
                &path(&format!("out{id}")),
                &path(&format!("err{id}")),
                false,
            );
        }
        assert_eq!(changed(&mut sizes), [AgentId(1), AgentId(2)]);
        assert_eq!(changed(&mut sizes), []);
        fs::write(path("out2"), "").unwrap();
        assert_eq!(changed(&mut sizes), [AgentId(2)], "it is there now");
        fs::write(path("err1"), "text").unwrap();
        assert_eq!(changed(&mut sizes), [AgentId(1)]);
        fs::write(path("err1"), "").unwrap();
        assert_eq!(changed(&mut sizes), [AgentId(1)], "a file that was cut has changed as well");
        sizes.forget(AgentId(1));
        fs::write(path("err1"), "text").unwrap();
        assert_eq!(changed(&mut sizes), []);
        sizes.follow(AgentId(3), &path("out3"), &path("err3"), true);
        for _ in 0..3 {
            assert_eq!(changed(&mut sizes), [AgentId(3)], "its reader may know of more");
        }
    }

    #[test]
    fn what_a_link_leads_to_is_no_size_of_an_output() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("elsewhere"), "text").unwrap();
        std::os::unix::fs::symlink(path("elsewhere"), path("out")).unwrap();
        let mut sizes = Sizes::default();
        sizes.follow(AgentId(1), &path("out"), &path("err"), false);
        assert_eq!(changed(&mut sizes), [AgentId(1)], "the first look");
        fs::write(path("elsewhere"), "some more text").unwrap();
        assert_eq!(changed(&mut sizes), []);
    }
}
