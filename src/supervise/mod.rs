//! Starts, adopts and stops process trees through the shim.
//!
//! The shim is a small process that owns one agent's tree and outlives the host; everything that is said between the
//! two is files in the agent's folder, a lock, and signals. What may go here: processes, their folders and their ends.
//! What may not: deciding what an end means for a fleet, reading an agent's output.

mod answer;
mod cpu_use;
mod dir;
mod launch;
mod life;
mod notice;
mod on_path;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(not(target_os = "linux"))]
#[path = "processes_elsewhere.rs"]
mod processes;
mod record;
mod shim;
mod spec;
mod stages;
mod tell;
mod watch;

pub use answer::{Unanswered, answer};
pub use cpu_use::{CpuUse, cpu_use};
pub use dir::{AgentDir, prepare, read_spec, write_stop};
pub use launch::{LaunchError, Launched, Launcher, launch, raise_nofile, reap};
pub use life::{Life, exit_record, life, started};
pub use notice::{NoticeRun, run_notice};
pub use on_path::{find_on_path, is_on_path};
pub use processes::{adopt_orphans, sweep, sweep_with_orphans};
pub use record::{ExitRecord, Started, StoppedBy};
pub use shim::{detach, shim_main};
pub use spec::{MARK_VARIABLE, Spec, StdinFrom};
pub use tell::{TellError, tell};
pub use watch::{
    AgentWatch, Delivery, Watch, adopt, agent_watch, has_started, is_shortage, knows_patience,
    left_behind,
};
