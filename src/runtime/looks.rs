//! Looks at disks in threads of their own: a folder can be on a disk that does not answer, and what waits for it can then
//! neither be ended nor waited for.
//!
//! What may go here: those threads, and how many there are. What may not: what is looked at.

use std::sync::Arc;
use std::thread;

use tokio::sync::{Semaphore, oneshot};

/// Threads that look, never more than so many. They are none of the loop's own threads, which its end waits for and
/// which look for what lost agents have left.
#[derive(Debug, Clone)]
pub(super) struct Looks(Arc<Semaphore>);

impl Looks {
    /// Makes room for so many looks at once.
    pub(super) fn new(at_once: u32) -> Self {
        Self(Arc::new(Semaphore::new(usize::try_from(at_once).unwrap_or(1))))
    }

    /// Waits for its turn, looks, and returns what was seen. A look that nobody waits for any more keeps its turn until it
    /// is over, so that disks that hang cost no more threads than there are turns. `None` as well if the system refuses
    /// the thread.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let turn = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let (sender, seen) = oneshot::channel();
        let run = move || {
            let looked = look();
            drop(turn);
            // Nobody may want to know any more.
            let _ = sender.send(looked);
        };
        thread::Builder::new().name("look".to_owned()).spawn(run).ok()?;
        seen.await.ok().flatten()
    }

    /// Waits until all of so many turns are free.
    pub(super) async fn all_over(&self, at_once: u32) {
        // It is never closed.
        let _ = self.0.acquire_many(at_once).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::*;
    use crate::runtime::new_loop;

    /// The first look hangs for as long as the test goes on, like one at a disk that does not answer.
    #[test]
    fn a_look_that_hangs_keeps_its_turn_and_holds_up_neither_the_loop_nor_its_end() {
        let (end, hangs) = sync_channel::<()>(0);
        let looped = new_loop().unwrap();
        let looks = Looks::new(2);
        looped.block_on(async {
            let hung = looks.look(move || hangs.recv().ok());
            assert!(tokio::time::timeout(Duration::from_millis(1), hung).await.is_err());
            assert_eq!(looks.0.available_permits(), 1);
            assert_eq!(looks.look(|| Some(7)).await, Some(7));
            assert_eq!(looks.look(|| None::<u8>).await, None);
            assert_eq!(tokio::task::spawn_blocking(|| 8).await.unwrap(), 8);
        });
        drop(looped);
        drop(end);
    }
}
