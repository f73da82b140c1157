//! `fleet demo`: the screen on a fleet of recorded agents that lives in a temporary folder and goes with the screen.
//!
//! What may go here: composing it, and seeing to it that nothing is left. What may not: recordings and tasks (`demo`).

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::connect::Connector;
use super::farewell::exit_code;
use super::link::keep_linked;
use super::task_maker::PlanMaker;
use crate::adapters::{Adapter, adapter, known_kinds};
use crate::cli::Failure;
use crate::cli::arguments::DemoArguments;
use crate::cli::config::Notices;
use crate::core::AgentKind;
use crate::demo::{KIND, Player};
use crate::journal::{Draft, FleetDir, StateDir, make_dir};
use crate::runtime::{Clock, new_loop};
use crate::supervise::Launcher;
use crate::tui::{self, KindInfo, Made, Problem, Session, TaskMaker, TaskOptions};

/// How long the host is given to stop everything and to delete the folder; recordings end at once when they are asked.
const PATIENCE: Duration = Duration::from_secs(15);
/// Time between two looks whether that has happened.
const PAUSE: Duration = Duration::from_millis(20);
/// A folder that is still there after so long is not just being deleted: its host was killed, or waits for a client.
const LATE: Duration = Duration::from_secs(1);

/// Shows the demo; returns the exit code once the screen has been left and nothing of the demo is there any more.
pub(super) fn open(arguments: &DemoArguments) -> Result<u8, Failure> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::input("the demo needs a terminal for input and output"));
    }
    let input = |error: &dyn std::fmt::Display| {
        Failure::input(format!("could not start the demo: {error}"))
    };
    let launcher = Launcher::this_executable().map_err(|error| input(&error))?;
    let looped = new_loop().map_err(|error| input(&error))?;
    let stage = Stage::build(arguments.speed).map_err(|error| input(&error))?;
    let connector = Connector::new(&stage.state, stage.dir.clone(), launcher).ephemeral();
    let shown = stage.session(connector.clone()).map(|session| looped.block_on(tui::run(session)));
    // The screen was the only one that the host had, and the host takes everything with it.
    looped.block_on(stage.strike(&connector)).map_err(|error| {
        let path = stage.state.path().display();
        Failure::input(format!("could not delete {path}: {error}; delete it yourself"))
    })?;
    let left = shown.map_err(|error| input(&error))?.map_err(|error| input(&error))?;
    // The terminal may have gone, and with it whoever would read this.
    let _ = writeln!(
        io::stdout(),
        "the demo is over and has left nothing behind: fleet --help says how to begin"
    );
    Ok(exit_code(left.left))
}

/// Where the demo takes place.
struct Stage {
    /// A temporary folder.
    state: StateDir,
    dir: FleetDir,
    /// Folder that the recorded agents are said to work in, inside of it.
    project: PathBuf,
    player: Player,
}

impl Stage {
    /// Makes the folder and the fleet in it.
    fn build(speed: f64) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("fleet-demo-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let state = StateDir::open(Some(folder.path())).map_err(io::Error::other)?;
        let project = state.path().join("project");
        make_dir(&project)?;
        let player = Player::new(&project)?.at_speed(speed);
        let draft = Draft {
            root: project.clone(),
            options: player.options(),
            argv: Vec::new(),
            is_closed: false,
        };
        let dir = state.new_fleet(Clock::wall(), draft)?;
        // From here on whoever hosts the fleet deletes it.
        let _ = folder.keep();
        Ok(Self { state, dir, project, player })
    }

    fn session(&self, connector: Connector) -> io::Result<Session> {
        let tasks = self.player.tasks().map_err(io::Error::other)?;
        let root = self.project.clone();
        Ok(Session {
            link: keep_linked(connector)?,
            dir: self.dir.clone(),
            folder: root.clone(),
            maker: Box::new(DemoMaker::new(self.player.clone(), &root)),
            options: TaskOptions { kind: KIND.to_owned(), root, ..TaskOptions::default() },
            first: Some(Made { tasks, ..Made::default() }),
            is_read_only: false,
            is_demo: true,
            draft: None,
            history: None,
            remark: None,
            sizes: None,
            mouse: true,
            alerts: Notices::default().on_screen(),
            others: None,
            came_from: None,
            keep: None,
        })
    }

    /// Waits until the host has stopped everything and deleted the folder. A host that has seen no client yet is shown
    /// one, and if the host has been killed, another one is called in.
    async fn strike(&self, connector: &Connector) -> io::Result<()> {
        let path = self.state.path();
        let start = Instant::now();
        let mut looked = start;
        while path.exists() && start.elapsed() < PATIENCE {
            if looked.elapsed() >= LATE {
                // It goes as soon as this connection does. An error is tried again, or ends in deleting here.
                drop(timeout(LATE, connector.connect(|_| ())).await);
                looked = Instant::now();
            }
            sleep(PAUSE).await;
        }
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Makes recorded agents of what is typed, with the rules of the command line for what is no task at all.
struct DemoMaker {
    player: Player,
    rules: PlanMaker,
    /// A kind that takes prompts as recorded agents do, whose rules count.
    like: &'static str,
}

impl DemoMaker {
    fn new(player: Player, root: &Path) -> Self {
        let takes_prompts =
            |kind: &&str| traits_of(kind).is_some_and(|adapter| adapter.traits().prompt);
        let like = known_kinds().find(takes_prompts).unwrap_or(KIND);
        let rules = PlanMaker { folder: root.to_owned(), ..PlanMaker::default() };
        Self { player, rules, like }
    }

    /// Options that no rule objects to: recorded agents heed none.
    fn options(&self, options: &TaskOptions) -> TaskOptions {
        TaskOptions {
            kind: self.like.to_owned(),
            root: options.root.clone(),
            ..TaskOptions::default()
        }
    }
}

impl TaskMaker for DemoMaker {
    fn kinds(&self) -> Vec<KindInfo> {
        let name = KIND.to_owned();
        vec![KindInfo { name, is_installed: true, is_prompt: true, pays: false, counts_as: None }]
    }

    fn count(&self, draft: &str, options: &TaskOptions) -> usize {
        self.rules.count(draft, &self.options(options))
    }

    fn read_variable(&self, word: &str) -> Result<(String, Option<String>), String> {
        self.rules.read_variable(word)
    }

    fn make(&self, draft: &str, options: &TaskOptions) -> Made {
        let mut made = self.rules.make(draft, &self.options(options));
        made.values.clear();
        for task in &mut made.tasks {
            match self.player.typed(&task.text) {
                Ok(recorded) => *task = recorded,
                Err(refusal) => {
                    made.problems.push(Problem { line: None, sentence: refusal.to_string() });
                }
            }
        }
        made
    }
}

fn traits_of(kind: &str) -> Option<&'static dyn Adapter> {
    adapter(&AgentKind(kind.to_owned()))
}
