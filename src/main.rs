//! The `fleet` binary: hands the process to the shim if it was started as one, else to what its arguments say.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = loki_fleet::shim_main() {
        return code;
    }
    loki_fleet::start::main()
}
