//! A script as a program.

use std::fs::OpenOptions;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::Peer;

/// Runs `script` over this process's stdin and stdout, for tests that need a real process. The whole program:
///
/// ```no_run
/// fn main() {
///     sidekicks_acp::testing::serve(async |mut peer| peer.shake_hands().await);
/// }
/// ```
///
/// It is a binary of the package that is tested, and its test starts it as `env!("CARGO_BIN_EXE_scripted-agent")`. The
/// required feature keeps it from being built and installed with everything else:
///
/// ```toml
/// [[bin]]
/// name = "scripted-agent"
/// path = "tests/programs/scripted_agent.rs"
/// required-features = ["sidekicks-acp/testing"]
/// test = false
/// doc = false
/// ```
///
/// Returns when the script does; when `main` returns after it, that is the agent's exit, with code 0. For another code
/// the script calls `std::process::exit`. A script that panics exits with code 101, and its message is on stderr.
/// Needs no runtime: it makes one.
///
/// # Panics
/// When no runtime can be made, or the script panics.
#[expect(clippy::needless_doctest_main, reason = "that it is the whole program is what it shows")]
pub fn serve<F, S>(script: F)
where
    F: FnOnce(Peer) -> S,
    S: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    // Dropping it would wait for a read of stdin that may never end.
    let runtime: &'static _ = Box::leak(Box::new(runtime));
    runtime.block_on(script(Peer::over(tokio::io::stdin(), Stdout(tokio::io::stdout()))));
}

/// Stdout that is closed when it is shut down.
struct Stdout(tokio::io::Stdout);

impl AsyncWrite for Stdout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.0).poll_flush(cx))?;
        // The number must stay taken: a file that is opened later must not become stdout.
        let nothing = OpenOptions::new().write(true).open("/dev/null")?;
        nix::unistd::dup2_stdout(nothing)?;
        Poll::Ready(Ok(()))
    }
}
