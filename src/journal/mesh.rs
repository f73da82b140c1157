//! The workspace that a fleet's agents share: Fleet writes the roster `mesh.json`, agents write `mesh-kv.json`.
//!
//! What may go here: these two files. What may not: what a summary row holds, when the roster is written.

use std::collections::HashSet;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The workspace, with what was last seen of the agents' store.
#[derive(Debug, Clone)]
pub struct Mesh {
    path: PathBuf,
    seen: Option<(Stamp, u64)>,
}

/// Tells one state of a file from another: inode, size, times of change in nanoseconds.
type Stamp = (u64, u64, (i64, i64), (i64, i64));

impl Mesh {
    /// Names a workspace; nothing is made or looked at.
    pub fn new(path: PathBuf) -> Self {
        Self { path, seen: None }
    }

    /// Returns the file that agents are told of in `LOKI_MESH`.
    pub fn store(&self) -> PathBuf {
        store(&self.path)
    }

    /// Replaces the roster as a whole; `roster` is an object with `agents` and `kpis`. A reader never sees half of it.
    /// It is not synced: after a power loss it is written again with the next start or end of an agent.
    pub fn write_roster(&self, roster: &Value) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".mesh.json-").tempfile_in(&self.path)?;
        file.write_all(&serde_json::to_vec_pretty(roster)?)?;
        file.persist(self.path.join("mesh.json")).map_err(|error| error.error)?;
        Ok(())
    }

    /// Counts the top-level keys of the agents' store; zero if it is missing, cut short or not an object. An unchanged
    /// file is not read again.
    pub fn count_keys(&mut self) -> u64 {
        let Ok((file, stamp)) = open(&self.store()) else {
            self.seen = None;
            return 0;
        };
        match self.seen {
            Some((seen, count)) if seen == stamp => count,
            _ => {
                let count = count(file);
                self.seen = Some((stamp, count));
                count
            }
        }
    }
}

fn store(path: &Path) -> PathBuf {
    path.join("mesh-kv.json")
}

/// Opens the store, whatever agents put in its place: a pipe is not waited for.
fn open(path: &Path) -> io::Result<(File, Stamp)> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    Ok((file, (metadata.ino(), metadata.size(), modified, changed)))
}

fn count(file: File) -> u64 {
    serde_json::from_reader(BufReader::new(file)).map_or(0, |Keys(count)| count)
}

/// How many different keys an object has; its values are only skipped.
struct Keys(u64);

impl<'text> Deserialize<'text> for Keys {
    fn deserialize<D: Deserializer<'text>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counter;

        impl<'text> Visitor<'text> for Counter {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'text>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = HashSet::new();
                while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.insert(key);
                }
                Ok(Keys(keys.len() as u64))
            }
        }

        deserializer.deserialize_map(Counter)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    /// Writes the store in the way of the agents' program.
    fn publish(folder: &Path, text: &str) {
        let beside = folder.join("mesh-kv.json.tmp");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, store(folder)).unwrap();
    }

    /// C-79
    #[test]
    fn the_mesh_counts_the_keys_of_the_store_and_sees_each_new_one() {
        let folder = TempDir::new().unwrap();
        let mut mesh = Mesh::new(folder.path().to_owned());
        assert_eq!(mesh.count_keys(), 0, "missing");
        let mut object = serde_json::Map::new();
        for number in 0..20 {
            publish(folder.path(), &Value::Object(object.clone()).to_string());
            assert_eq!(mesh.count_keys(), number);
            assert_eq!(mesh.count_keys(), number, "unchanged");
            object.insert(format!("é{number}"), json!({"deep": [1, {"er": null}], "n": 1.5e300}));
        }
        for corrupt in ["", "{\"a\":1", "{\"a\":1}}", "[1,2]", "3", "null", "{\"a\":}", "\0\0"] {
            publish(folder.path(), corrupt);
            assert_eq!(mesh.count_keys(), 0, "{corrupt}");
            publish(folder.path(), "{\"a\":1,\"b\":2,\"a\":3}");
            assert_eq!(mesh.count_keys(), 2);
        }
        fs::remove_file(store(folder.path())).unwrap();
        assert_eq!(mesh.count_keys(), 0);
    }

    #[test]
    fn an_unchanged_store_is_not_read_again() {
        let folder = TempDir::new().unwrap();
        let mut mesh = Mesh::new(folder.path().to_owned());
        publish(folder.path(), "{\"a\":1}");
        assert_eq!(mesh.count_keys(), 1);
        let (stamp, _) = mesh.seen.unwrap();
        mesh.seen = Some((stamp, 77));
        assert_eq!(mesh.count_keys(), 77);
        publish(folder.path(), "{\"b\":1}");
        assert_eq!(mesh.count_keys(), 1);
    }

    #[test]
    fn what_is_no_file_counts_as_no_store_and_holds_nobody_up() {
        let folder = TempDir::new().unwrap();
        let mut mesh = Mesh::new(folder.path().to_owned());
        fs::create_dir(store(folder.path())).unwrap();
        assert_eq!(mesh.count_keys(), 0);
        fs::remove_dir(store(folder.path())).unwrap();
        nix::unistd::mkfifo(&store(folder.path()), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(mesh.count_keys(), 0);
    }

    /// C-78, however often it is replaced.
    #[test]
    fn a_reader_never_sees_half_a_roster_or_half_a_store() {
        let folder = TempDir::new().unwrap();
        let mesh = Mesh::new(folder.path().to_owned());
        let roster =
            |size: usize| json!({"agents": vec!["x".repeat(100); size], "kpis": {"total": size}});
        mesh.write_roster(&roster(0)).unwrap();
        publish(folder.path(), "{\"a\":1}");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for size in 0..300 {
                    mesh.write_roster(&roster(size % 50)).unwrap();
                    publish(folder.path(), &format!("{{\"a\":\"{}\"}}", "x".repeat(size * 50)));
                }
                is_over.store(true, Ordering::Release);
            });
            let mut reader = Mesh::new(folder.path().to_owned());
            while !is_over.load(Ordering::Acquire) {
                let text = fs::read_to_string(folder.path().join("mesh.json")).unwrap();
                let seen: Value = serde_json::from_str(&text).expect("a whole roster");
                assert_eq!(seen["kpis"]["total"], seen["agents"].as_array().unwrap().len());
                assert_eq!(reader.count_keys(), 1);
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside them");
    }
}
