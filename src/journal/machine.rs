//! Names of this machine and of this start of it.
//!
//! What may go here: what tells one machine, or one start of it, from another. What may not: load, cores, memory.

/// Returns the name of this machine, as the system has it.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns a text that is another one after each start of this machine; empty if the system does not tell.
#[cfg(target_os = "linux")]
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// Returns a text that is another one after each start of this machine; empty if the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn boot_id() -> String {
    std::process::Command::new("/usr/sbin/sysctl")
        .args(["-n", "kern.bootsessionuuid"])
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}
