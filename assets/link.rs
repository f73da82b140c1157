//! Links the binary at a fixed address where that can be done.
//!
//! Every agent has a shim, which is this binary. At an address that is chosen at run time each shim would have a copy of
//! its own of everything that holds an address: 0.2 MB an agent, and more with every library.

#![expect(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

fn main() {
    println!("cargo::rerun-if-changed=assets/link.rs");
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
