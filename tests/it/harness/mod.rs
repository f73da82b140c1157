//! What end-to-end tests share: a world of its own per test, the real binary in it, and ways to look at what it did.
//!
//! What may go here: starting the binary and what its agents talk to, waiting for what should appear, finding and ending what a test left
//! behind. What may not: assertions about one behaviour, which belong to the test that names it.

mod model_service;
mod process;
mod programs;
mod pty;
mod world;

pub(crate) use model_service::ModelService;
pub(crate) use process::{Pid, Process, processes_running, processes_with, wait_until};
pub(crate) use programs::path_with;
pub(crate) use pty::Terminal;
pub(crate) use world::{Live, Ran, World};

use std::time::Duration;

/// How long a test waits for something that must come. It only has to be longer than a loaded machine takes.
pub(crate) const GENEROUS: Duration = Duration::from_mins(1);

mod tests {
    use std::panic::AssertUnwindSafe;

    use super::{GENEROUS, World, wait_until};

    #[cfg(target_os = "linux")]
    #[test]
    fn a_world_finds_what_was_started_in_it_and_fails_for_what_is_left_and_ends_that() {
        let mut world = World::new();
        world.set_impatient();
        let mut command = world.command("sh");
        command
            .env("FLEET_AGENT", "k3f/1")
            .args(["-c", "setsid sleep 1000 & echo $! >> pids; exit 3"]);
        let ran = world.start_command(command).end().expect_code(3);
        assert_eq!(ran.stdout, "");
        // A process has no environment for a moment while it becomes another program, and this one does so twice.
        let left = wait_until("what was left is found", GENEROUS, || {
            let left = world.processes();
            let is_last = left.len() == 1 && format!("{left:?}").contains(": sleep 1000");
            if is_last { Ok(left) } else { Err(format!("{left:?}")) }
        });
        assert_eq!(left[0].mark.as_deref(), Some("k3f/1"));
        assert!(left[0].pid.lives());
        let other = World::new();
        assert!(other.processes().is_empty(), "worlds are apart");
        let failed = std::panic::catch_unwind(AssertUnwindSafe(|| drop(world)));
        let text = failed.unwrap_err();
        assert!(text.downcast_ref::<String>().unwrap().contains("sleep 1000"));
        left[0].pid.wait_gone("what was left");
    }

    #[test]
    fn waiting_fails_with_what_was_seen() {
        let failed = std::panic::catch_unwind(|| {
            let never = || Err::<(), _>("pigs on the ground".to_owned());
            wait_until("pigs fly", std::time::Duration::ZERO, never);
        });
        let text = failed.unwrap_err();
        let text = text.downcast_ref::<String>().unwrap();
        assert!(text.contains("pigs fly") && text.contains("pigs on the ground"), "{text}");
    }
}
