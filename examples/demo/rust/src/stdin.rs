//! The demo starts all hosts at once, and none outlives it.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// Says that this host is ready and waits for a line. From then on the process ends with stdin.
pub fn wait_for_a_line() -> Result<()> {
    println!("{}", serde_json::json!({ "ready": true }));
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        return Err(Error::from(ErrorKind::UnexpectedEof));
    }
    std::thread::spawn(|| {
        let mut sink = [0; 64];
        while matches!(std::io::stdin().lock().read(&mut sink), Ok(1..)) {}
        std::process::exit(1);
    });
    Ok(())
}
