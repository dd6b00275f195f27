//! Who borrows a connection, and how they wait.

use std::fmt;
use std::sync::Arc;

use tokio::time::Instant;

/// Who borrows, and how long they are ready to wait.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Borrow {
    /// Who borrows, for those who wait behind them. One owner does one thing at a time: who waits while they hold a lease of
    /// the same owner waits for themselves.
    pub owner: Option<String>,
    /// When to give up waiting, by tokio's clock, so that it holds under a paused one too. `None` waits for as long as
    /// it takes.
    pub deadline: Option<Instant>,
    on_wait: Option<OnWait>,
}

type Heard = dyn Fn(&[String]) + Send + Sync;

/// Who is told who is waited for.
#[derive(Clone)]
struct OnWait(Arc<Heard>);

impl fmt::Debug for OnWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnWait")
    }
}

impl Borrow {
    /// A request in the name of `owner`.
    pub fn by(owner: impl Into<String>) -> Self {
        Self { owner: Some(owner.into()), ..Self::default() }
    }

    /// Tells `heard` who is waited for, to show it: the names that
    /// [`NoRoom`](crate::ConnectError::NoRoom) would have, each time that they change while others hold the agent or
    /// the room, and an empty slice once nobody is waited for any more: the agent starts, or the borrow ends. Never called
    /// where nobody is waited for.
    ///
    /// A connector calls it in the future of [`borrow`](crate::Connector::borrow), with no lock of its own: it may block
    /// or panic no more and no less than the task that borrows. Names that came and went between two polls are left out,
    /// and nothing is told once that future was dropped.
    pub fn on_wait(mut self, heard: impl Fn(&[String]) + Send + Sync + 'static) -> Self {
        self.on_wait = Some(OnWait(Arc::new(heard)));
        self
    }

    /// Whether somebody wants to know who is waited for. For those who write a [`Connector`](crate::Connector).
    pub fn listens(&self) -> bool {
        self.on_wait.is_some()
    }

    /// Tells who is waited for now, or an empty slice. For those who write a [`Connector`](crate::Connector); what to
    /// tell and from where is said at [`on_wait`](Self::on_wait).
    pub fn waiting(&self, holders: &[String]) {
        if let Some(OnWait(heard)) = &self.on_wait {
            heard(holders);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_borrower_is_told_who_is_waited_for_if_they_want_to_know() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let silent = Borrow::by("x");
        silent.waiting(&["y".to_owned()]);
        assert!(!silent.listens());
        let heard = Arc::clone(&told);
        let listening = silent.on_wait(move |holders| heard.lock().unwrap().push(holders.to_vec()));
        assert!(listening.listens());
        listening.clone().waiting(&["y".to_owned()]);
        listening.waiting(&[]);
        assert_eq!(*told.lock().unwrap(), [vec!["y".to_owned()], vec![]]);
    }
}
