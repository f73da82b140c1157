//! What the fuzz targets check holds of the recordings, and of whatever a fuzzer has found before.
//!
//! What may go here: which files go through which check. What may not: the checks, which the fuzz targets share.

#[expect(unreachable_pub, reason = "the fuzz targets call them from another package")]
#[path = "../fuzz/checks.rs"]
mod checks;

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;

type Check = fn(&[u8]);

/// Each target with its check, as in `tests/fuzz/targets`.
const TARGETS: [(&str, Check); 16] = [
    ("stream_claude", |data| checks::stream("claude", data)),
    ("stream_codex", |data| checks::stream("codex", data)),
    ("stream_opencode", |data| checks::stream("opencode", data)),
    ("stream_gemini", |data| checks::stream("gemini", data)),
    ("stream_qwen", |data| checks::stream("qwen", data)),
    ("stream_copilot", |data| checks::stream("copilot", data)),
    ("stream_hermes", |data| checks::stream("hermes", data)),
    ("transcript_object", |data| checks::stream("ygg", data)),
    ("line_protocol", checks::line_protocol),
    ("task_files", checks::task_files),
    ("journal", checks::journal),
    ("control", checks::control),
    ("tail_text", checks::tail_text),
    ("config", checks::config),
    ("money", checks::money),
    ("redaction", checks::redaction),
];

/// Largest recording that is looked at whole; what is larger is looked at to there.
const MOST_BYTES: usize = 128 * 1024;

fn tests() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Returns the files below a folder with their contents; none where there is no such folder.
fn files(folder: PathBuf) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mut bytes = fs::read(&path).unwrap();
                bytes.truncate(MOST_BYTES);
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_fuzz_target_is_a_test_as_well() {
    let mut targets: Vec<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    targets.sort();
    let name = |(path, _): &(PathBuf, _)| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let found: Vec<String> = files(tests().join("fuzz/targets")).iter().map(name).collect();
    assert_eq!(targets, found);
    let manifest = fs::read_to_string(tests().join("fuzz/Cargo.toml")).unwrap();
    for target in targets {
        assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
    }
}

/// Each recording of a program goes through the reader of that program and of one other.
#[test]
fn recordings_hold_what_fuzz_targets_check() {
    for (path, bytes) in files(tests().join("recordings")) {
        let name = path.strip_prefix(tests().join("recordings")).unwrap().to_str().unwrap();
        let kind = name.split(['/', '-']).next().unwrap();
        for kind in [kind, "sh"] {
            if loki_fleet::adapters::known_kinds().any(|known| known == kind) {
                checks::stream(kind, &bytes);
            }
        }
        checks::tail_text(&bytes);
        checks::redaction(&bytes[..bytes.len().min(4096)]);
    }
}

/// `seeds` has what no recording has, `found` what went wrong once.
#[test]
fn seeds_and_what_a_fuzzer_has_found_hold_as_well() {
    for (name, check) in TARGETS {
        for folder in ["seeds", "found"] {
            for (path, bytes) in files(tests().join("fuzz").join(folder).join(name)) {
                assert!(catch_unwind(|| check(&bytes)).is_ok(), "{}", path.display());
            }
        }
    }
    // Seeds that nobody understands would be none.
    let lines = fs::read(tests().join("fuzz/seeds/control/lines")).unwrap();
    assert_eq!(loki_fleet::control::understand(&lines), 5);
}
