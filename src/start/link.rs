//! Keeps a screen connected to its fleet's host for as long as the screen lives.
//!
//! What may go here: when to connect again and when to give up. What may not: how a host is found or started
//! (`connect`), what the screen shows of it.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep;

use super::connect::Connector;
use crate::control::Connected;
use crate::runtime::new_loop;
use crate::tui::Link;

/// A host that goes sooner than this after it was reached may have a reason to go that does not pass at once.
const QUICK: Duration = Duration::from_secs(5);
/// After so many such hosts in a row the next one is not tried at once.
const MOST_QUICK: u32 = 3;
/// Time until the next try after one that failed for a reason that may pass, at first and at most: each one that fails
/// doubles it.
const REST: Duration = Duration::from_millis(500);
const MOST_REST: Duration = Duration::from_secs(15);

/// Connects, and connects again whenever the host has gone; returns how it stands, from now on. This happens in a thread
/// of its own, so that looking for a host never keeps a key waiting. It ends with the last receiver.
pub(super) fn keep_linked(connector: Connector) -> io::Result<watch::Receiver<Link>> {
    let (sender, receiver) = watch::channel(Link::Waiting("connecting".to_owned()));
    let looped = new_loop()?;
    thread::Builder::new()
        .name("link".to_owned())
        .spawn(move || looped.block_on(keep(&connector, &sender)))?;
    Ok(receiver)
}

async fn keep(connector: &Connector, sender: &watch::Sender<Link>) {
    let tell = |link| {
        sender.send_replace(link);
    };
    let (mut quick, mut rest) = (0, REST);
    loop {
        let connected = tokio::select! {
            () = sender.closed() => return,
            connected = connector.connect(|what| tell(Link::Waiting(what))) => connected,
        };
        let trouble = match connected {
            Ok(connected) => {
                let reached = now();
                let Ok(why) = stay(connected, sender).await else { return };
                quick = if now().duration_since(reached) < QUICK { quick + 1 } else { 0 };
                if quick < MOST_QUICK {
                    rest = REST;
                    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
                    tell(Link::Waiting(format!("the connection has ended{why}: connecting again")));
                    continue;
                }
                let why = why.unwrap_or_else(|| "its host.log may say why".to_owned());
                format!("the host has gone {quick} times in a row: {why}")
            }
            Err(error) if error.is_passing() => error.to_string(),
            Err(error) => return tell(Link::Failed(error.to_string())),
        };
        tell(Link::Waiting(format!("{trouble} · trying again")));
        tokio::select! {
            () = sender.closed() => return,
            () = sleep(rest) => {}
        }
        rest = MOST_REST.min(rest * 2);
    }
}

/// The screen has gone.
struct Unwatched;

/// Keeps a connection to its end; returns what the host said last, if anything.
async fn stay(
    connected: Connected,
    sender: &watch::Sender<Link>,
) -> Result<Option<String>, Unwatched> {
    let Connected { handle, welcome, mut farewell } = connected;
    sender.send_replace(Link::Up { handle, away_since: welcome.away_since });
    let mut why = None;
    loop {
        tokio::select! {
            () = sender.closed() => return Err(Unwatched),
            said = farewell.changed() => match said {
                Ok(()) => why.clone_from(&farewell.borrow_and_update()),
                Err(_) => return Ok(why),
            },
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a host lived is counted by the real clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{FleetOptions, Moment};
    use crate::journal::{Draft, StateDir};
    use crate::supervise::Launcher;

    #[test]
    fn a_host_that_cannot_be_started_is_given_up_with_the_reason() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
        let draft = Draft {
            root: temp.path().to_owned(),
            options: FleetOptions::default(),
            argv: Vec::new(),
            is_closed: false,
        };
        let dir = state.new_fleet(Moment(1), draft).unwrap();
        let launcher = Launcher::new(temp.path().join("no such program"), Vec::new());
        let mut link = keep_linked(Connector::new(&state, dir, launcher)).unwrap();
        let why = new_loop().unwrap().block_on(async {
            let failed = link.wait_for(|link| matches!(link, Link::Failed(_))).await;
            match &*failed.unwrap() {
                Link::Failed(why) => why.clone(),
                other => panic!("{other:?}"),
            }
        });
        assert!(why.contains("could not start a host for fleet"), "{why}");
    }
}
