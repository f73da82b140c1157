//! The real agent programs against a scripted stand-in for their models: what Fleet makes of each of them from its start
//! to its end.
//!
//! What may go here: how a run of a real program is set up and looked at. What may not: what one test expects.
//!
//! Where a program is not installed its tests say so and pass; with `FLEET_REAL_AGENTS=1` they fail then.

mod failing_key;
mod interrupting;
mod limits;
mod live_money;
mod mixed_fleet;
mod permissions;
mod resuming;
mod retrying;
mod settings;
mod stalling;
mod stopping;
mod success;

use std::sync::Arc;
use std::time::Duration;

use loki_fleet::core::{AgentId, CostStatus, FleetId, Row, Snapshot};
use loki_fleet::journal::{FleetDir, StateDir};
use loki_fleet::runtime;
use loki_fleet::start::Connector;
use loki_fleet::supervise::Launcher;

use crate::harness::{Live, ModelService, Ran, World, path_with, wait_until};

/// How long one of these tests waits for something that must come. Some programs take ten seconds to start on an idle
/// machine, and begin anew in every test.
const PATIENCE: Duration = Duration::from_mins(5);

/// One kind as these tests run it.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Options of its tasks, as a task file names them.
    options: &'static [(&'static str, &'static str)],
}

const CLAUDE: Kind = Kind { name: "claude", options: &[("model", "claude-sonnet-5-5")] };
const CODEX: Kind = Kind { name: "codex", options: &[("model", "gpt-5.5")] };
const OPENCODE: Kind = Kind { name: "opencode", options: &[("model", "mock/m")] };
const GEMINI: Kind = Kind { name: "gemini", options: &[("model", "gemini-2.5-pro")] };
/// Its model has no price.
const QWEN: Kind = Kind { name: "qwen", options: &[("model", "mock-model")] };
/// With this model it has tools for whole files.
const COPILOT: Kind = Kind { name: "copilot", options: &[("model", "mock-model")] };
/// Its model stands in its settings.
const HERMES: Kind = Kind { name: "hermes", options: &[] };
const YGG: Kind = Kind { name: "ygg", options: &[("engine", "openai"), ("tier", "deep")] };

/// A world in which programs are installed and set up for the stand-in.
#[derive(Debug)]
struct Stage {
    world: World,
    service: ModelService,
}

impl Stage {
    /// Sets the programs up, the stand-in started with these arguments; `None` where a program is not installed.
    #[track_caller]
    fn set(programs: &[&str], service: &[&str]) -> Option<Self> {
        let path = path_with(programs)?;
        let service = ModelService::start(service);
        let mut world = World::new();
        world.set("PATH", &path);
        settings::write(&mut world, service.url());
        Some(Self { world, service })
    }

    /// Starts one agent that may run commands and whose model follows this scenario.
    #[track_caller]
    fn start(&self, kind: Kind, scenario: &str) -> Live<'_> {
        let task = task(scenario);
        let options = kind.options.iter();
        let options: Vec<String> =
            options.map(|(name, value)| format!("--{name}={value}")).collect();
        let mut args = vec!["run", "--json", "--agent", kind.name, "--allow-shell"];
        args.extend(options.iter().map(String::as_str));
        args.push(&task);
        self.world.start(&args)
    }

    /// Runs one agent to its end.
    #[track_caller]
    fn run(&self, kind: Kind, scenario: &str) -> Ran {
        self.start(kind, scenario).end_within(PATIENCE)
    }

    fn dir(&self) -> FleetDir {
        let id = self.world.only_fleet();
        FleetDir::new(self.world.state().join("fleets").join(&id), FleetId(id))
    }

    /// The row of an agent of the only fleet, which has no host any more.
    #[track_caller]
    fn row(&self, id: u32) -> Row {
        let seen = runtime::inspect(&self.dir()).unwrap();
        let row = seen.snapshot.rows.iter().find(|row| row.id == AgentId(id));
        row.unwrap_or_else(|| panic!("no agent {id}")).as_ref().clone()
    }

    /// Waits until the host of the only fleet shows this.
    #[track_caller]
    fn wait_shown(&self, what: &str, is_so: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        let state = StateDir::open(Some(&self.world.state())).unwrap();
        // The host is there already, so that nothing is launched.
        let launcher = Launcher::new("/bin/false", Vec::new());
        let connector = Connector::new(&state, self.dir(), launcher);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut client = wait_until("the host takes clients", PATIENCE, || {
            runtime.block_on(connector.connect(|_| ())).map_err(|error| error.to_string())
        });
        runtime.block_on(async {
            let wait = async {
                while !is_so(&client.handle.snapshot()) {
                    client.handle.changed().await.unwrap();
                }
            };
            let is_shown = tokio::time::timeout(PATIENCE, wait).await.is_ok();
            let snapshot = client.handle.snapshot();
            assert!(is_shown, "it is never shown that {what}: {:#?}", snapshot.rows);
            snapshot
        })
    }
}

/// A task whose model follows this scenario.
fn task(scenario: &str) -> String {
    format!("Do as you are told. [[scenario:{scenario}]]")
}

/// Input that was not cached, input read from a cache, input written to one, output.
fn tokens(row: &Row) -> [u64; 4] {
    let tokens = row.tokens;
    [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output]
}

/// What an agent cost, in dollars and with where that comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cost {
    Reported(String),
    Estimated(String),
    Unknown,
    None,
}

impl Cost {
    fn reported(dollars: &str) -> Self {
        Self::Reported(dollars.to_owned())
    }

    fn estimated(dollars: &str) -> Self {
        Self::Estimated(dollars.to_owned())
    }

    fn of(row: &Row) -> Self {
        let dollars = || row.cost.unwrap().to_exact().trim_end_matches('0').to_owned();
        match row.cost_status {
            CostStatus::Reported => Self::Reported(dollars()),
            CostStatus::Estimated => Self::Estimated(dollars()),
            CostStatus::Unknown => Self::Unknown,
            CostStatus::None => Self::None,
        }
    }
}
