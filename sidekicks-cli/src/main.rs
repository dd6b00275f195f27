//! The `sidekicks` command line.

mod demo_agent;

fn main() -> std::process::ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("demo-agent") => demo_agent::main(),
        _ => std::process::ExitCode::from(2),
    }
}
