//! What `fleet demo` queues: options that let everything be seen within a minute, and eight tasks.
//!
//! What may go here: which recording plays for which task, and what it may cost. What may not: anything that happens.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::replay::{REPLAY_WORD, SPEED_WORD};
use crate::adapters::{Refusal, task};
use crate::core::{FleetOptions, NanoUsd, OnCap, Task};

/// Name of the kind of recorded agents.
pub const KIND: &str = "demo";
/// One cent.
const CENT: u64 = 10_000_000;

/// Tasks, their recordings and their budgets in cents, in the order in which they are queued.
///
/// With three at once and a cap of $2.00 the cap is reached about 18 seconds after the start, while three run, one of
/// them silent for long, and two wait. The budgets keep what is set aside small, so that a dollar more lets both go on.
const TASKS: [(&str, &str, Option<u64>); 8] = [
    (
        "flaky-test",
        "Fix the flaky test expires_after_idle in tests/session.rs, then run the whole suite",
        None,
    ),
    ("changelog", "Write the changelog entry for 2.4.0 from the merged pull requests", Some(25)),
    (
        "slow-import",
        "Find out why the nightly import takes forty minutes; change nothing",
        Some(20),
    ),
    ("upgrade", "Upgrade sqlx to 0.9 and make everything compile again", None),
    ("rate-limit", "Add a rate limit of 60 attempts a minute to POST /login, with tests", None),
    ("permissions", "Review every handler in src/routes for a missing permission check", None),
    (
        "translate",
        "Translate the error messages to Japanese (日本語) and Greek (Ελληνικά)",
        Some(25),
    ),
    ("metrics", "Export the latency of requests as a Prometheus histogram", Some(25)),
];

/// What plays for a task that the person types. They say that they are recordings.
const TYPED: [&str; 3] = ["typed-answer", "typed-edit", "typed-crash"];
/// Budget of each of those, in cents.
const TYPED_CENTS: u64 = 10;

/// Makes the demo's tasks: knows the program that plays recordings, and the folder in which that happens.
#[derive(Debug, Clone, PartialEq)]
pub struct Player {
    program: String,
    root: PathBuf,
    speed: f64,
}

impl Player {
    /// Makes a player of this executable. `root` is the folder that the agents say they work in, absolute.
    ///
    /// The error says that the system does not tell where this executable is, or that its path is no text.
    pub fn new(root: &Path) -> io::Result<Self> {
        let unnamed = || io::Error::other("the path of this executable is not valid UTF-8");
        // What becomes the agent is this executable too, so on Linux this name leads to it even when the file is gone.
        let own = cfg!(target_os = "linux").then(|| "/proc/self/exe".to_owned());
        let found = std::env::current_exe()
            .map(|path| path.is_file().then(|| path.to_str().map(str::to_owned)).flatten());
        let program = found?.or(own).ok_or_else(unnamed)?;
        Ok(Self::with_program(program, root))
    }

    /// Makes a player of another program that is `fleet`.
    pub fn with_program(program: impl Into<String>, root: &Path) -> Self {
        Self { program: program.into(), root: root.to_owned(), speed: 1.0 }
    }

    /// Plays everything this many times as fast.
    #[must_use]
    pub fn at_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// Returns the options of the demo's fleet: three at once, a cap of $2.00 that asks, and little patience.
    pub fn options(&self) -> FleetOptions {
        /// Longer than any recording is quiet, but for the one that shows what a stall looks like.
        const STALE: Duration = Duration::from_secs(8);
        let stale = STALE.div_f64(self.speed);
        FleetOptions {
            name: Some("recorded agents".to_owned()),
            max_parallel: Some(3),
            cap: Some(NanoUsd::from_dollars(2)),
            on_cap: OnCap::Ask,
            // About what the cheaper recordings cost, until some have ended and their mean is known.
            assume_cost: NanoUsd::from_nanos(10 * CENT),
            grace: Duration::from_secs(2),
            stale,
            stale_tool: stale,
            // Nobody wants recordings that play on when screen and host have both been killed.
            orphan_limit: Some(Duration::from_secs(10)),
            ..FleetOptions::default()
        }
    }

    /// Returns the tasks that the demo begins with.
    pub fn tasks(&self) -> Result<Vec<Task>, Refusal> {
        TASKS.iter().map(|(name, text, cents)| self.task(text, name, *cents)).collect()
    }

    /// Returns a task for what the person typed. The same text always plays the same recording.
    pub fn typed(&self, text: &str) -> Result<Task, Refusal> {
        let sum = text
            .bytes()
            .fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        let name = TYPED.into_iter().cycle().nth(sum % TYPED.len()).unwrap_or_default();
        self.task(text, name, Some(TYPED_CENTS))
    }

    fn task(&self, text: &str, name: &str, cents: Option<u64>) -> Result<Task, Refusal> {
        let mut command: Vec<String> =
            [self.program.as_str(), REPLAY_WORD, name].map(str::to_owned).into();
        if (self.speed - 1.0).abs() > f64::EPSILON {
            command.extend([SPEED_WORD.to_owned(), self.speed.to_string()]);
        }
        Ok(Task {
            command: Some(command),
            budget: cents.map(|cents| NanoUsd::from_nanos(cents * CENT)),
            ..task(KIND, text, &self.root)?
        })
    }
}
