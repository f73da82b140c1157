//! What all fuzz targets share.

#[path = "checks.rs"]
mod checks;

pub use checks::*;
