#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| stormproof_fuzz::policy_document::check(input));
