//! Asks a fleet's host one thing for a command that is no door of its own, starting the host if there is none.
//!
//! What may go here: the connection for one command. What may not: how a host is found (`connect`), words of answers.

use std::io::{self, Write as _};

use super::connect::Connector;
use crate::cli::Failure;
use crate::core::{Command, Hold, Reply};
use crate::journal::{FleetDir, StateDir};
use crate::runtime::new_loop;
use crate::supervise::Launcher;

/// Sends a command; returns the reply, and why the queue is held, if it is.
pub(super) fn ask(
    state: &StateDir,
    dir: &FleetDir,
    command: Command,
) -> Result<(Reply, Option<Hold>), Failure> {
    let failed = |why: String| Failure::no_fleet(why);
    let launcher = Launcher::this_executable().map_err(|error| failed(error.to_string()))?;
    let connector = Connector::new(state, dir.clone(), launcher).in_passing();
    let looped = new_loop().map_err(|error| failed(error.to_string()))?;
    looped.block_on(async {
        let say = |what: String| {
            // There is nobody else to tell.
            let _ = writeln!(io::stderr(), "fleet: {what}");
        };
        let connected = connector.connect(say).await.map_err(|error| failed(error.to_string()))?;
        let reply =
            connected.handle.send(command).await.map_err(|gone| failed(gone.to_string()))?;
        Ok((reply, connected.handle.snapshot().header.hold.clone()))
    })
}
