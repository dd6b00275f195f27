//! How the agent is asked for what was chosen, or configured: in the order in which the core decides on it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use sidekicks_acp::schema::SessionConfigOption;
use sidekicks_acp::{CallError, End};
use tokio::sync::oneshot::error::TryRecvError;

use crate::conversation::Shared;
use crate::core::{Answer, Core, Errand};
use crate::error::RequestError;
use crate::wish::Request;

/// Asks the agent for what somebody chose, and tells the conversation what came of it.
pub(crate) async fn see_through(shared: Arc<Shared>, errand: Errand) -> Result<(), RequestError> {
    let mut closed = shared.closed.subscribe();
    let mut underway = Underway { shared: Arc::clone(&shared), errand: Some(errand) };
    let Some(errand) = &mut underway.errand else { return Ok(()) };
    let answer = tokio::select! {
        biased;
        answer = go(&shared, errand) => answer,
        _ = closed.wait_for(|closed| *closed) => return Err(RequestError::Closed),
    };
    let result = answer.as_ref().map(drop).map_err(Clone::clone);
    let Some(errand) = underway.errand.take() else { return result };
    drop(underway);
    let heard = shared.core().returned(errand, answer);
    shared.changed.notify_one();
    drop(shared);
    let _ = heard.await; // It is only ever dropped.
    result
}

/// An errand that is given up where this is dropped, as when the embedder's code panics: nothing is chosen then.
struct Underway {
    shared: Arc<Shared>,
    errand: Option<Errand>,
}

impl Drop for Underway {
    fn drop(&mut self) {
        if let Some(errand) = self.errand.take() {
            drop(self.shared.core().returned(errand, Err(RequestError::Closed)));
            self.shared.changed.notify_one();
        }
    }
}

async fn go(shared: &Shared, errand: &mut Errand) -> Answer {
    let _lease = match &errand.connector {
        Some(connector) => {
            let lease = tokio::select! {
                biased;
                settled = &mut errand.settled => return settled.unwrap_or(Ok(())).map(|()| None),
                lease = connector.borrow(shared.borrow_for("settings")) => lease,
            };
            // That may have been settled in the same moment.
            match errand.settled.try_recv() {
                Ok(settled) => return settled.map(|()| None),
                Err(TryRecvError::Closed) => return Ok(None),
                Err(TryRecvError::Empty) => {}
            }
            let lease = lease?;
            if lease.generation() != errand.generation {
                return Ok(None);
            }
            Some(lease)
        }
        None => None,
    };
    match ask(shared, |core| core.sets_out(errand)).await {
        Err(RequestError::Call(CallError::Ended { end: End::Stopped(_), .. })) => Ok(None),
        answer => answer,
    }
}

/// The agent is being asked for something.
type Asking = Pin<Box<dyn Future<Output = Result<Vec<SessionConfigOption>, CallError>> + Send>>;

/// Asks the agent, if `begin` says for what. That is decided and queued under one lock, as it is with prompts: whichever is
/// decided first comes to the agent first.
pub(crate) async fn ask(
    shared: &Shared,
    mut begin: impl FnMut(&mut Core) -> Result<Option<Request>, RequestError> + Send,
) -> Answer {
    let mut asking: Option<Asking> = None;
    poll_fn(|context| {
        let asked = match &mut asking {
            Some(asking) => asking.as_mut().poll(context),
            None => {
                let mut core = shared.core();
                match begin(&mut core) {
                    Ok(Some(request)) => asking.insert(Box::pin(request.ask())).as_mut().poll(context),
                    Ok(None) => return Poll::Ready(Ok(None)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        };
        asked.map(|answer| Ok(Some(answer?)))
    })
    .await
}
