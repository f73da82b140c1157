//! See `checks`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loki_fleet_fuzz::journal(data));
