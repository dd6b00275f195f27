//! Tells those who wait who holds what they wait for.
//!
//! The task only puts the names down; the borrower hears them in their own future. What an embedder does then holds up and
//! breaks nobody else.

use std::sync::Arc;

use sidekicks_acp::Borrow;
use tokio::sync::{oneshot, watch};

type Names = Arc<[String]>;

/// Puts down who is waited for.
pub(crate) struct Teller(watch::Sender<Names>);

/// Where one borrower finds that.
pub(crate) struct Listener(Option<watch::Receiver<Names>>);

/// For this borrower; no teller where nobody listens.
pub(crate) fn channel(request: &Borrow) -> (Option<Teller>, Listener) {
    let (teller, names) = request.listens().then(|| watch::channel(Names::default())).unzip();
    (teller.map(Teller), Listener(names))
}

impl Teller {
    pub(crate) fn tell(&self, holders: Vec<String>) {
        self.0.send_if_modified(|told| {
            let differs = **told != *holders;
            if differs {
                *told = holders.into();
            }
            differs
        });
    }
}

impl Listener {
    /// Waits for the outcome, and passes on who is waited for until then.
    pub(crate) async fn until<T>(
        self,
        mut outcome: oneshot::Receiver<T>,
        request: &Borrow,
    ) -> Result<T, oneshot::error::RecvError> {
        let Self(Some(mut names)) = self else { return outcome.await };
        let mut told = Names::default();
        let mut pass_on = |names: Names| {
            if told != names {
                told = names;
                request.waiting(&told);
            }
        };
        let outcome = loop {
            tokio::select! {
                biased; // What was put down before the outcome is told before it.
                Ok(()) = names.changed() => pass_on(Arc::clone(&names.borrow_and_update())),
                outcome = &mut outcome => break outcome,
            }
        };
        pass_on(Names::default());
        outcome
    }
}
