//! Panics while the terminal is taken.
//!
//! What may go here: the hook, and what it remembers. What may not: anything that can panic itself.
//! A panic of the screen gives the terminal back before it is printed. A panic anywhere else (a thread, a task beside
//! the screen) is somebody's failure, which the screen tells of; it does not end the screen and is not printed over it.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, Once, PoisonError};

use tokio::sync::Notify;

use super::{is_entered, leave};

/// Reports that are kept until somebody takes them. After a few the rest says nothing new.
const MOST_REPORTS: usize = 8;

static REPORTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static REPORTED: Notify = Notify::const_new();

thread_local! {
    /// The screen itself runs in this thread right now, not a task beside it.
    static IN_SCREEN: Cell<bool> = const { Cell::new(false) };
}

/// Runs what the screen does, so that its panics are told from those of tasks in the same thread.
pub(crate) async fn in_screen<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let _inside = Inside::begin();
        future.as_mut().poll(context)
    })
    .await
}

/// Says where it is for as long as it lives, also while a panic unwinds.
struct Inside;

impl Inside {
    fn begin() -> Self {
        IN_SCREEN.set(true);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IN_SCREEN.set(false);
    }
}

/// Installs the hook, once, before the one that is there.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_ours = IN_SCREEN.try_with(Cell::get).unwrap_or(false);
            if is_entered() && !is_ours {
                report(panic.to_string());
                return;
            }
            leave();
            earlier(panic);
        }));
    });
}

fn report(text: String) {
    let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    if reports.len() < MOST_REPORTS {
        reports.push(text);
    }
    drop(reports);
    REPORTED.notify_one();
}

/// Waits until there may be a report.
pub(crate) async fn reported() {
    REPORTED.notified().await;
}

/// Takes the reports so far.
pub(crate) fn take_reports() -> Vec<String> {
    std::mem::take(&mut *REPORTS.lock().unwrap_or_else(PoisonError::into_inner))
}
