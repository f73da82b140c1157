//! `fleet logs`: copies what an agent has written to stdout, and goes on until it has ended.
//!
//! What may go here: which file that is, and when nothing more comes. What may not: how a file is followed (`tail`), how
//! text is made fit for a terminal (`words`).

mod lines;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};

use lines::Lines;

use super::seen::see;
use crate::adapters::{FirstText, first_text};
use crate::cli::arguments::{GlobalArguments, LogsArguments};
use crate::cli::exit_code::DONE;
use crate::cli::{Failure, selectors, state_dir};
use crate::control::connect_in_passing;
use crate::core::{AgentId, Row, Snapshot};
use crate::journal::{FleetDir, HostState, host_of, to_type};
use crate::runtime::summary::AgentFiles;
use crate::runtime::{FleetHandle, new_loop};
use crate::supervise::{AgentDir, Life, life};
use crate::tail::follow::{Follower, Piece};
use crate::words::stream::Stream;

/// Bytes that are read at once, and how often in a row before others have their turn: 4 MiB.
const BUFFER_BYTES: usize = 64 * 1024;
const TURN: u32 = 64;
/// Between two looks at an agent of which no host tells.
const LOOK: Duration = Duration::from_secs(1);
/// After a host has shown nothing for so long it may hang, and the files of the agent are looked at as well: one with
/// agents shows something about as often.
const SILENT: Duration = Duration::from_secs(4);
/// How long a host that hangs is waited for to write the end of an account.
const ACCOUNT: Duration = Duration::from_secs(10);

/// Copies; returns the exit code.
pub(super) fn run(arguments: &LogsArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let selectors = selectors::parse(std::slice::from_ref(&arguments.agent));
    let selectors = selectors.map_err(Failure::input)?;
    let seen = see(&state_dir(global)?, global, None)?;
    let ids = selectors::select(&selectors, &seen.snapshot).map_err(Failure::input)?;
    let ([id], Some(row)) = (&ids[..], ids.first().and_then(|id| seen.snapshot.row(*id))) else {
        return Err(Failure::input(format!(
            "{} agents are meant, and logs are of one: name it, such as {}",
            ids.len(),
            to_type("logs 7 -f")
        )));
    };
    let (name, path) = file(arguments, row, &seen.dir);
    let has_ended = row.status.is_ended();
    if has_ended && row.started.is_none() {
        say(&format!("{id} never started: it has written nothing"));
        return Ok(DONE);
    }
    if !arguments.follow && row.started.is_none() {
        say(&format!(
            "{id} has not started: it has written nothing yet (`{}` waits for it)",
            to_type(format_args!("logs {} -f --fleet {}", id.0, seen.dir.id()))
        ));
        return Ok(DONE);
    }
    // These two are made before an agent starts; an account there is only if there was something to tell.
    if row.started.is_some() && name != "transcript" && !is_file(&path) {
        return Err(Failure::no_fleet(format!(
            "{} is gone or is no file: what {id} has written cannot be shown",
            path.display()
        )));
    }
    let form = if global.json {
        Form::Json(Lines::new(*id, name))
    } else if io::stdout().is_terminal() {
        Form::Shown(Stream::default())
    } else {
        Form::AsItIs
    };
    let mut copy = Copy::new(path, form);
    let copied = if arguments.follow && !has_ended {
        let failed = |error: io::Error| Failure::no_fleet(error.to_string());
        new_loop().map_err(failed)?.block_on(follow(&mut copy, &seen.dir, *id))
    } else {
        copy.once()
    };
    match copied.and_then(|()| copy.finish()) {
        Ok(()) => Ok(DONE),
        // Whoever read this has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(DONE),
        Err(error) => {
            let path = copy.path.display();
            Err(Failure::input(format!("could not copy {path} to stdout: {error}")))
        }
    }
}

/// Returns the file that was asked for, or the one that tells most of the agent, with its name.
fn file(arguments: &LogsArguments, row: &Row, dir: &FleetDir) -> (&'static str, PathBuf) {
    let files = AgentFiles::of(dir.path(), row.id);
    match (arguments.out, arguments.err, arguments.transcript) {
        (true, _, _) => ("out", files.out),
        (_, true, _) => ("err", files.err),
        (_, _, true) => ("transcript", files.transcript),
        (false, false, false) => match first_text(&row.task) {
            FirstText::Out => ("out", files.out),
            // An agent whose account could not be made has its output all the same.
            FirstText::Transcript if row.status.is_ended() && !files.transcript.is_file() => {
                ("out", files.out)
            }
            FirstText::Transcript => ("transcript", files.transcript),
        },
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Copies until the agent has ended, whatever becomes of its host.
async fn follow(copy: &mut Copy, dir: &FleetDir, id: AgentId) -> io::Result<()> {
    let is_account = copy.path == AgentFiles::of(dir.path(), id).transcript;
    let mut host = Host {
        dir,
        id,
        is_account,
        handle: None,
        looked: None,
        heard: Instant::now(),
        ended: None,
    };
    let mut is_over = host.is_over().await;
    loop {
        let has_more = copy.turn()?;
        if has_more {
            yield_now().await;
            continue;
        }
        if is_over {
            return Ok(());
        }
        tokio::select! {
            () = copy.follower.wait() => {}
            () = host.changed() => {}
        }
        is_over = host.is_over().await;
    }
}

/// What tells whether the agent has ended: its host, or its files while it has none.
struct Host<'a> {
    dir: &'a FleetDir,
    id: AgentId,
    /// It is the account that is followed, which only a host writes.
    is_account: bool,
    handle: Option<FleetHandle>,
    looked: Option<Instant>,
    /// When the host showed something last, or was not waited for any longer.
    heard: Instant,
    /// When the files first told that the agent has ended of which the host says nothing.
    ended: Option<Instant>,
}

impl Host<'_> {
    /// Waits until the host shows something new, has gone, or has been silent for too long.
    async fn changed(&mut self) {
        match &mut self.handle {
            Some(handle) => {
                let silent = sleep_until(self.heard + SILENT);
                tokio::select! {
                    changed = handle.changed() => {
                        self.heard = Instant::now();
                        if changed.is_err() {
                            self.handle = None;
                        }
                    }
                    () = silent => {}
                }
            }
            None => std::future::pending().await,
        }
    }

    /// Says whether nothing more comes of an agent whose host lives and says nothing.
    fn is_over_beside_silent_host(&mut self) -> bool {
        if !matches!(life(&AgentDir::new(self.dir.agent(self.id))), Ok(Life::Ended(_) | Life::Lost))
        {
            return false;
        }
        if !self.is_account {
            return true;
        }
        // It may still have something to write.
        let is_over = self.ended.get_or_insert_with(Instant::now).elapsed() >= ACCOUNT;
        if is_over {
            say(&format!(
                "{} has ended, and the host of fleet {} does not answer: the end of this account is missing",
                self.id,
                self.dir.id()
            ));
        }
        is_over
    }

    /// Says whether nothing more can come.
    async fn is_over(&mut self) -> bool {
        if let Some(handle) = &self.handle {
            if has_ended(&handle.snapshot(), self.id) {
                return true;
            }
            if self.heard.elapsed() < SILENT {
                return false;
            }
            self.heard = Instant::now();
            return self.is_over_beside_silent_host();
        }
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return false;
        }
        self.looked = Some(Instant::now());
        let host = host_of(self.dir);
        if let Ok(HostState::Here(_)) = host {
            let connected = timeout(LOOK, connect_in_passing(self.dir)).await;
            if let Ok(Ok(connected)) = connected {
                let is_over = has_ended(&connected.handle.snapshot(), self.id);
                self.handle = Some(connected.handle);
                self.heard = Instant::now();
                return is_over;
            }
        }
        match (life(&AgentDir::new(self.dir.agent(self.id))), host) {
            (Ok(Life::Ended(_) | Life::Lost), Ok(HostState::Here(_))) => {
                self.is_over_beside_silent_host()
            }
            (Ok(Life::Ended(_) | Life::Lost), _) => true,
            (Ok(Life::NeverBegan), Ok(HostState::None)) => {
                let (id, fleet) = (self.id, self.dir.id());
                let resume = to_type(format_args!("resume {fleet}"));
                say(&format!(
                    "{id} has not started, and fleet {fleet} has no host: `{resume}` goes on"
                ));
                true
            }
            _ => false,
        }
    }
}

fn has_ended(snapshot: &Snapshot, id: AgentId) -> bool {
    snapshot.row(id).is_none_or(|row| row.status.is_ended())
}

/// How a file comes to stdout.
enum Form {
    /// Byte by byte.
    AsItIs,
    /// Made fit for a terminal.
    Shown(Stream),
    /// A JSON object for each line.
    Json(Lines),
}

/// A file on its way to stdout.
struct Copy {
    path: PathBuf,
    follower: Follower,
    buffer: Vec<u8>,
    form: Form,
}

impl Copy {
    fn new(path: PathBuf, form: Form) -> Self {
        let follower = Follower::new(path.clone());
        Self { path, follower, buffer: vec![0; BUFFER_BYTES], form }
    }

    /// Copies what there is now, and nothing of what comes meanwhile.
    fn once(&mut self) -> io::Result<()> {
        let mut left = match self.path.symlink_metadata() {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        while left > 0 {
            match self.follower.read(&mut self.buffer)? {
                Piece::Bytes(count) => {
                    let whole = usize::try_from(left).unwrap_or(usize::MAX).min(count);
                    self.write(whole)?;
                    left -= whole as u64;
                }
                Piece::Again | Piece::Nothing => return Ok(()),
            }
        }
        Ok(())
    }

    /// Copies what is new; says whether there may be more at once.
    fn turn(&mut self) -> io::Result<bool> {
        for _ in 0..TURN {
            match self.follower.read(&mut self.buffer)? {
                Piece::Bytes(count) => self.write(count)?,
                Piece::Again => say("the file begins anew"),
                Piece::Nothing => {
                    if let Form::Shown(stream) = &mut self.form {
                        let text = stream.pause();
                        put(text.as_bytes())?;
                    }
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Writes the first bytes of the buffer.
    fn write(&mut self, count: usize) -> io::Result<()> {
        let bytes = self.buffer.get(..count).unwrap_or_default();
        match &mut self.form {
            Form::AsItIs => put(bytes),
            Form::Shown(stream) => put(stream.take(bytes).as_bytes()),
            Form::Json(lines) => put(&lines.take(bytes)),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match &mut self.form {
            Form::AsItIs => Ok(()),
            Form::Shown(stream) => put(stream.finish().as_bytes()),
            Form::Json(lines) => put(&lines.finish()),
        }
    }
}

fn put(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn say(line: &str) {
    // There is nobody else to tell.
    let _ = writeln!(io::stderr(), "fleet: {line}");
}
