//! The scripted stand-in for the services of models, one for each test that needs it.
//!
//! What may go here: starting it, its address, what it was asked. What may not: the settings of one program.

use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{GENEROUS, wait_until};

/// The running stand-in.
#[derive(Debug)]
pub(crate) struct ModelService {
    server: Child,
    // The server goes when its input closes, so also when this process is killed.
    _input: ChildStdin,
    folder: TempDir,
    url: String,
}

impl ModelService {
    /// Starts it with arguments beside those that say what it plays and where it tells its address.
    #[track_caller]
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let scripts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mock-llm");
        let folder = tempfile::Builder::new().prefix("fleet-model-").tempdir().unwrap();
        let port_file = folder.path().join("port");
        let mut server = Command::new("python3")
            .arg(scripts.join("mock_llm.py"))
            .arg("--script")
            .arg(scripts.join("scenarios.json"))
            .arg("--exit-with-stdin")
            .arg("--port-file")
            .arg(&port_file)
            .arg("--log")
            .arg(folder.path().join("requests"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("python3 is there");
        let input = server.stdin.take().unwrap();
        let port = wait_until("the stand-in tells its port", GENEROUS, || {
            std::fs::read_to_string(&port_file).map_err(|error| error.to_string())
        });
        let url = format!("http://127.0.0.1:{}", port.trim());
        Self { server, _input: input, folder, url }
    }

    /// Its address, with neither a slash nor a path at its end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What it was asked so far, in that order: path, scenario, step, outcome and more of each request.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("requests")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for ModelService {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
