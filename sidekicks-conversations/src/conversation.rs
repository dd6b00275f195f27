//! One conversation: the handle.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use sidekicks_acp::schema::{AuthMethodId, SessionConfigOptionValue};
use sidekicks_acp::{AgentName, Borrow};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

use crate::conversations::Common;
use crate::core::Core;
use crate::errand;
use crate::error::{AnswerError, RequestError, SendError, UnqueueError};
use crate::hub::{Follower, Room};
use crate::id::{MessageId, PermissionId};
use crate::prompt::Prompt;
use crate::task;
use crate::transcript::Transcript;
use crate::wish::Setting;

/// The conversation with one agent. Cheap to clone; all clones are the same.
///
/// Nothing here waits for the agent but what is `async`: what comes of a call is told by the events.
#[derive(Clone)]
pub struct Conversation {
    shared: Arc<Shared>,
    _handles: Arc<Handles>,
}

/// What the handles and the task have in common.
pub(crate) struct Shared {
    pub(crate) common: Arc<Common>,
    agent: AgentName,
    core: Mutex<Core>,
    /// The core wants something else than the task waits for.
    pub(crate) changed: Notify,
    runtime: Handle,
    busy: watch::Receiver<bool>,
    /// Told once the core is closed.
    pub(crate) closed: watch::Sender<bool>,
}

/// Is gone when the last handle is.
struct Handles(Arc<Shared>);

impl Drop for Handles {
    fn drop(&mut self) {
        // Where the embedder's connection panics, that must not be the end of the program.
        let end = |end: fn(&mut Core)| catch_unwind(AssertUnwindSafe(|| end(&mut self.0.core())));
        let _ = end(Core::leave).or_else(|_| end(Core::close));
        self.0.closed.send_replace(true);
        self.0.changed.notify_one();
    }
}

impl Conversation {
    pub(crate) fn begin(agent: AgentName, common: Arc<Common>, runtime: &Handle) -> Self {
        let (busy_sender, busy) = watch::channel(false);
        let core = Mutex::new(Core::new(agent.clone(), Arc::clone(&common), busy_sender));
        let (changed, runtime) = (Notify::new(), runtime.clone());
        let closed = watch::Sender::new(false);
        let shared = Arc::new(Shared { common, agent, core, changed, runtime: runtime.clone(), busy, closed });
        runtime.spawn(task::run(Arc::clone(&shared)));
        Self { _handles: Arc::new(Handles(Arc::clone(&shared))), shared }
    }

    /// Whose conversation it is.
    pub fn agent(&self) -> &AgentName {
        &self.shared.agent
    }

    /// Says `prompt` to the agent, or queues it when a turn runs. Never waits; the message is in the transcript when
    /// this returns.
    ///
    /// # Errors
    /// When the message is empty, too many wait already, or the agent is gone. Nothing has changed then.
    pub fn send(&self, prompt: impl Into<Prompt>) -> Result<MessageId, SendError> {
        self.with_core(|core| core.send(prompt.into()))
    }

    /// Sends a message again that was [not sent](crate::Message::not_sent), or that the agent did not take for want of a
    /// login: as a new one, at the end. The old one says as which ([`resent_as`](crate::Message::resent_as)), and cannot be
    /// sent again.
    ///
    /// # Errors
    /// As [`send`](Self::send); and where there is no such message, or it was sent. Nothing has changed then.
    pub fn resend(&self, message: &MessageId) -> Result<MessageId, SendError> {
        self.with_core(|core| core.resend(message))
    }

    /// Takes a message out of the queue. It is not lost: it is marked as not sent, and can be [sent again](Self::resend).
    ///
    /// # Errors
    /// Where it does not wait. Nothing has changed then.
    pub fn unqueue(&self, message: &MessageId) -> Result<(), UnqueueError> {
        self.with_core(|core| core.unqueue(message))
    }

    /// Stops: cancels the turn that runs, and marks what is queued as not sent. Harmless when nothing runs.
    ///
    /// An agent that is being started is not waited for. Otherwise the turn ends by itself, usually at once; after
    /// [`Options::cancel_timeout`](crate::Options::cancel_timeout) it is ended here, and the agent is stopped.
    pub fn stop(&self) {
        self.with_core(Core::stop);
    }

    /// Cancels the turn that runs; the queue goes on. Otherwise as [`stop`](Self::stop).
    pub fn cancel_turn(&self) {
        self.with_core(Core::cancel_turn);
    }

    /// Answers a question of the agent with the option of this id.
    ///
    /// # Errors
    /// When the question is settled already: the answer reaches nobody. When there is no such option.
    pub fn answer(&self, permission: &PermissionId, option: &str) -> Result<(), AnswerError> {
        self.with_core(|core| core.answer(permission, option))
    }

    /// Puts the agent into one of the modes that it [offers](Transcript::modes), now and in every later session of this
    /// conversation, until [`AgentProfile::mode`](crate::AgentProfile::mode) becomes another one.
    ///
    /// Where no session is open, the agent is not started for it: the next one is opened so. Where a turn still waits for the
    /// agent, that turn is had so. Else this waits until the agent says that it is so; a turn may run meanwhile. Dropping the
    /// future gives up the waiting, and not the choice. The last choice counts, in whatever order they are answered.
    ///
    /// # Errors
    /// When the agent does not offer it, refuses it, or is not there.
    pub async fn set_mode(&self, mode: &str) -> Result<(), RequestError> {
        self.set(Setting::Mode(mode.to_owned())).await
    }

    /// Chooses the model that the agent works with; otherwise as [`set_mode`](Self::set_mode).
    ///
    /// # Errors
    /// When the agent does not offer it, refuses it, or is not there.
    pub async fn set_model(&self, model: &str) -> Result<(), RequestError> {
        self.set(Setting::Model(model.to_owned())).await
    }

    /// Sets one of the [options](Transcript::config_options) that the agent offers: `true` where it can be on or off, the id
    /// of a choice, `"high"`, otherwise. It is set in every later session too, where that still has it; otherwise as
    /// [`set_mode`](Self::set_mode).
    ///
    /// # Errors
    /// When the agent does not offer it, refuses it, or is not there; before the first session, since only that tells what
    /// there is.
    pub async fn set_option(
        &self,
        option: &str,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Result<(), RequestError> {
        self.set(Setting::Option(option.to_owned(), value.into())).await
    }

    async fn set(&self, setting: Setting) -> Result<(), RequestError> {
        let Some(errand) = self.with_core(|core| core.choose(setting))? else { return Ok(()) };
        let mut asking = Box::pin(errand::see_through(Arc::clone(&self.shared), errand));
        // Begun here, so that the agent is asked in the order in which things were chosen.
        if let Poll::Ready(result) = poll_fn(|context| Poll::Ready(asking.as_mut().poll(context))).await {
            return result;
        }
        // What the agent was asked for cannot be taken back, so its answer is heard whoever waits for it.
        self.shared.runtime.spawn(asking).await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(RequestError::Closed),
        })
    }

    /// Logs in by one of the ways that the agent offers, and then sends again, in order, what was not taken for want of a
    /// login. The ways are in [`Failure::methods`](crate::Failure::methods), and in the params of `login-required`.
    ///
    /// Starts the agent where needed, and may take as long as a person needs to visit a page. Dropping the future tells the
    /// agent that nobody waits any more. For agents that log in elsewhere, as in a terminal, call
    /// [`resend`](Self::resend) afterwards.
    ///
    /// # Errors
    /// When the agent refuses, knows no such way, or is not there. What waits for a login still does then.
    pub async fn authenticate(&self, method: &str) -> Result<(), RequestError> {
        self.open().map_err(|_| RequestError::Closed)?;
        let profile = self.shared.common.directory.find(&self.shared.agent).ok_or(RequestError::NoSuchAgent)?;
        let lease = profile.connector.borrow(self.shared.borrow_for("login")).await?;
        lease.connection().authenticate(&AuthMethodId::new(method)).await?;
        self.with_core(Core::logged_in);
        Ok(())
    }

    /// The conversation as it is now. Cheap, also while the agent writes.
    pub fn messages(&self) -> Arc<Transcript> {
        self.shared.common.hub.transcript(&self.shared.agent)
    }

    /// Everything that happens here, without a gap: the agent waits for one who follows and does not read.
    pub fn follow(&self) -> Follower {
        self.shared.common.hub.follow(&self.shared.agent)
    }

    /// Waits until no turn runs and nothing is queued. Cancel-safe.
    pub async fn idle(&self) {
        let mut busy = self.shared.busy.clone();
        // The sender lives in the core, and the core in `self`; a turn ends also where nobody is left to wait for the agent.
        let _ = busy.wait_for(|busy| !busy).await;
    }

    pub(crate) fn forget(&self) {
        self.with_core(Core::forget);
        if self.open().is_err() {
            let orders = self.shared.core().orders();
            drop(orders); // Nobody is left to take leave, or to be waited for.
        }
    }

    fn open(&self) -> Result<&Self, SendError> {
        if self.shared.core().is_closed() { Err(SendError::Closed) } else { Ok(self) }
    }

    fn with_core<T>(&self, call: impl FnOnce(&mut Core) -> T) -> T {
        let result = call(&mut self.shared.core());
        self.shared.changed.notify_one();
        result
    }
}

impl Shared {
    /// Beside a turn of this conversation, which may hold a lease of its own.
    pub(crate) fn borrow_for(&self, what: &str) -> Borrow {
        Borrow::by(self.core().owner().of(what))
    }

    /// Tells whether those who follow have room for more.
    pub(crate) fn room(&self) -> Room {
        self.common.hub.room(&self.agent)
    }

    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("agent", &self.shared.agent).finish_non_exhaustive()
    }
}
