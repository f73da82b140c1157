//! Waits for one agent's shim: own and adopted agents take the same path.

use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use super::news::{Gone, News};
use crate::core::AgentId;
use crate::supervise::{self, AgentDir, Life, Watch};

/// An agent that ends within this time of its start is not watched beside its shim, which saves two calls for each of
/// many short tasks.
const SHORT: Duration = Duration::from_millis(100);
/// How often what an ended agent left behind is counted.
const RECOUNT: Duration = Duration::from_secs(1);

/// What is known of a shim that was just started by this host, not adopted.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) child: Child,
    pub(super) started: OwnedFd,
}

/// Tells the loop when the agent runs, when it has ended, and when its whole tree has.
pub(super) async fn attend(
    id: AgentId,
    dir: AgentDir,
    mark: String,
    keeps: Arc<AtomicBool>,
    watch: Arc<Watch>,
    own: Option<Own>,
    news: Sender<News>,
) {
    let (child, has_begun) = match own {
        Some(own) => {
            let has_begun = supervise::has_started(own.started).await.unwrap_or(false);
            if has_begun && news.send(News::Started(id)).await.is_err() {
                return;
            }
            (Some(own.child), has_begun)
        }
        None => (None, supervise::started(&dir).is_ok_and(|started| started.is_some())),
    };
    if timeout(SHORT, watch.gone()).await.is_err() {
        // The descriptor of a dead shim stays readable, so that waiting for it anew misses nothing.
        tokio::select! {
            _ = watch.gone() => {}
            () = tell_exit(id, &dir, &news) => {}
        }
    }
    if let Some(child) = child {
        supervise::reap(child);
    }
    let mut life = settled_life(&dir).await;
    if let Ok(Life::Lives { .. } | Life::Elsewhere { .. }) = life {
        // A shim that is seen to be gone cannot live; what is not known is called so.
        life = Ok(Life::Lost);
    }
    if has_begun && matches!(life, Ok(Life::NeverBegan)) {
        // Its files have gone. It must neither count as running for ever nor run twice.
        life = Ok(Life::Lost);
    }
    let mut swept = Vec::new();
    if matches!(life, Ok(Life::Lost) | Err(_)) {
        // Reads all of /proc, more than once.
        swept = tokio::task::spawn_blocking(move || sweep(&mark, &keeps)).await.unwrap_or_default();
    }
    let gone = Gone { life, swept, owner_stop: dir.has_owner_stop() };
    let _ = news.send(News::Gone(id, gone)).await;
}

/// Ends what a lost agent has left. Orphans cannot be told apart, so none is ended once an agent may have been allowed to
/// keep some (`--leftovers keep`).
fn sweep(mark: &str, keeps: &AtomicBool) -> Vec<String> {
    if keeps.load(Ordering::Relaxed) {
        supervise::sweep(mark)
    } else {
        supervise::sweep_with_orphans(mark)
    }
}

/// Reads what a shim has left. Want of descriptors or memory is waited out: it says nothing about the agent.
async fn settled_life(dir: &AgentDir) -> Result<Life, String> {
    loop {
        match supervise::life(dir) {
            Err(error) if supervise::is_shortage(&error) => tokio::time::sleep(RECOUNT).await,
            life => return life.map_err(|error| error.to_string()),
        }
    }
}

/// Tells that the agent itself has ended while its tree has not, again whenever the number of processes changes.
async fn tell_exit(id: AgentId, dir: &AgentDir, news: &Sender<News>) {
    let Ok(Some(agent)) = supervise::agent_watch(dir) else {
        return std::future::pending().await;
    };
    if agent.ended().await.is_err() {
        return std::future::pending().await;
    }
    let mut told = None;
    loop {
        tokio::time::sleep(SHORT).await;
        // Reads all of /proc.
        let counted = dir.clone();
        let left = tokio::task::spawn_blocking(move || supervise::left_behind(&counted)).await;
        let left = left.ok().and_then(Result::ok);
        if let Some(left) = left.filter(|left| told != Some(*left)) {
            told = Some(left);
            if news.send(News::Exited(id, left)).await.is_err() {
                // The loop has gone, and nobody waits for the rest.
                return;
            }
        }
        tokio::time::sleep(RECOUNT).await;
    }
}
