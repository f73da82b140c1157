//! Asks a fleet's host one thing for a command that is no door of its own, starting the host if there is none.
//!
//! What may go here: the connection for one command. What may not: how a host is found (`connect`), words of answers.

use std::io::{self, Write as _};

use super::connect::Connector;
use crate::cli::{Answered, Choose, Failure, Start};
use crate::control::Connected;
use crate::core::{Command, Hold, Reply};
use crate::journal::{FleetDir, StateDir};
use crate::runtime::{Gone, new_loop};
use crate::supervise::Launcher;

/// How often another host is asked after one that went before it answered.
const TRIES: u32 = 3;

/// Sends a command; returns the reply, and why the queue is held, if it is.
pub(super) fn ask(
    state: &StateDir,
    dir: &FleetDir,
    command: Command,
) -> Result<(Reply, Option<Hold>), Failure> {
    let mut command = Some(command);
    let answered = reach(state, dir, Start::AsItWas, &mut |_| Ok(command.take()))?;
    match answered {
        Some(Answered { reply: Some(reply), after, .. }) => Ok((reply, after.header.hold.clone())),
        Some(_) | None => Err(failed(&Gone)),
    }
}

/// Connects to a fleet's host and asks it what is chosen once the fleet has been seen; see [`crate::cli::Reach`].
pub(super) fn reach(
    state: &StateDir,
    dir: &FleetDir,
    start: Start<'_>,
    choose: Choose<'_>,
) -> Result<Option<Answered>, Failure> {
    let launcher = Launcher::this_executable().map_err(|error| failed(&error))?;
    let mut connector = Connector::new(state, dir.clone(), launcher).in_passing();
    if let Start::GoingOn(limits) = start {
        connector = connector.going_on(limits).map_err(|error| failed(&error))?;
    }
    let looped = new_loop().map_err(|error| failed(&error))?;
    let say = |what: String| {
        // There is nobody else to tell.
        let _ = writeln!(io::stderr(), "fleet: {what}");
    };
    looped.block_on(async {
        for _ in 0..TRIES {
            let connected = match start {
                Start::Never => connector.connect_if_hosted(say).await,
                Start::AsItWas | Start::GoingOn(_) => connector.connect(say).await.map(Some),
            };
            let connected = connected.map_err(|error| failed(&error))?;
            let Some(Connected { handle, .. }) = connected else { return Ok(None) };
            let reply = match choose(&handle.snapshot())? {
                None => None,
                Some(command) => match handle.send(command).await {
                    Ok(reply) => Some(reply),
                    // It was about to go: the next one, or nobody, is to be asked.
                    Err(Gone) => continue,
                },
            };
            return Ok(Some(Answered { reply, after: handle.snapshot(), host: handle.host() }));
        }
        Err(failed(&Gone))
    })
}

fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::no_fleet(error.to_string())
}
