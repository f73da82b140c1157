//! Serves the clients of a fleet that is hosted in the foreground: `fleet run` and `fleet resume` let screens and other
//! commands in as a host in the background does.
//!
//! What may go here: the thread that serves. What may not: the wire (`control`), the foreground's own door (`cli`).

use std::any::Any;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::control::{Listener, Stay, serve};
use crate::journal::FleetDir;
use crate::runtime::{FleetHandle, new_loop};

/// The fleet in the foreground decides when it is over, so what is served for it never is before.
const STAY: Stay = Stay { linger: Duration::from_hours(24 * 365), is_ephemeral: false };

/// Clients are served until this is dropped.
#[derive(Debug)]
struct Serving {
    /// Tells the thread to end by being dropped.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Begins to serve clients, in a thread of its own, since the foreground's door may block on its terminal. A fleet that
/// cannot listen runs without them. What comes back has to be dropped before the fleet's last handle.
pub(super) fn serve_beside(dir: &FleetDir, handle: FleetHandle) -> Box<dyn Any> {
    let (end, ended) = oneshot::channel::<()>();
    let dir = dir.clone();
    let run = move || {
        let Ok(looped) = new_loop() else { return };
        looped.block_on(async move {
            let Ok(listener) = Listener::bind(&dir) else { return };
            tokio::select! {
                biased;
                _ = ended => {}
                () = serve(&listener, handle, STAY) => {}
            }
        });
    };
    let thread = thread::Builder::new().name("serve".to_owned()).spawn(run).ok();
    Box::new(Serving { end: Some(end), thread })
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by the panic hook, and concerns no agent.
            let _ = thread.join();
        }
    }
}
