//! Sizes of the files that are followed, so that the reader is only woken for those that have changed.
//!
//! What may go here: `stat`. What may not: opening, reading.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::core::AgentId;

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
    /// There is more to look at than these two, which only the reader knows.
    has_more: bool,
}

impl Sizes {
    /// Begins to look; an agent that `has_more` than these files is found at every look.
    pub(super) fn follow(&mut self, id: AgentId, out: &Path, err: &Path, has_more: bool) {
        let (out, err) = (out.to_owned(), err.to_owned());
        let files = Files { out, err, seen: None, has_more };
        self.agents.insert(id, files);
    }

    pub(super) fn follows(&self, id: AgentId) -> bool {
        self.agents.contains_key(&id)
    }

    pub(super) fn forget(&mut self, id: AgentId) {
        self.agents.remove(&id);
    }

    /// Returns the agents of which a file has or may have another size than at the last look; the first look finds all of
    /// them.
    pub(super) fn changed(&mut self) -> Vec<AgentId> {
        let mut changed = Vec::new();
        for (id, files) in &mut self.agents {
            let now = Some([size(&files.out), size(&files.err)]);
            if files.has_more || files.seen != now {
                files.seen = now;
                changed.push(*id);
            }
        }
        changed
    }
}

/// The size of what is at the path itself: a link is never followed, since an agent could lead it anywhere.
fn size(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(sizes.changed(), [AgentId(1), AgentId(2)]);
        assert_eq!(sizes.changed(), []);
        fs::write(path("out2"), "").unwrap();
        assert_eq!(sizes.changed(), [AgentId(2)], "it is there now");
        fs::write(path("err1"), "text").unwrap();
        assert_eq!(sizes.changed(), [AgentId(1)]);
        fs::write(path("err1"), "").unwrap();
        assert_eq!(sizes.changed(), [AgentId(1)], "a file that was cut has changed as well");
        sizes.forget(AgentId(1));
        fs::write(path("err1"), "text").unwrap();
        assert_eq!(sizes.changed(), []);
        sizes.follow(AgentId(3), &path("out3"), &path("err3"), true);
        for _ in 0..3 {
            assert_eq!(sizes.changed(), [AgentId(3)], "its reader may know of more");
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
        assert_eq!(sizes.changed(), [AgentId(1)], "the first look");
        fs::write(path("elsewhere"), "some more text").unwrap();
        assert_eq!(sizes.changed(), []);
    }
}
