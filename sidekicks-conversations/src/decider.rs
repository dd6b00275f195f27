//! Code that answers for a person.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;

use crate::permission::Permission;
#[cfg(doc)]
use crate::{AgentProfile, Conversation, Options, Policy};

/// Code that answers an agent's questions, or leaves them to a person: [`Options::decider`].
///
/// It is asked about whatever the rules and the [`Policy`] of the [`AgentProfile`] leave open, but not where a rule wants a
/// person to be asked; about several questions at a time where an agent asks several. It lives as long as the conversations
/// do, so one that holds them, or one of them, keeps them for ever. A question that it leaves to a person is told
/// ([`PermissionRequested`](crate::Event::PermissionRequested)) after those that came before it.
///
/// A function from a permission to a future is one:
///
/// ```
/// use std::sync::Arc;
/// use sidekicks_conversations::{Action, Decision, Options, Permission};
///
/// let options = Options::default().decider(|permission: Arc<Permission>| async move {
///     match permission.action {
///         Action::ReadFile if permission.dangers.is_empty() => Decision::Allow,
///         _ => Decision::Ask,
///     }
/// });
/// ```
#[async_trait]
pub trait Decider: Send + Sync {
    /// Decides about one question, which may be answered by its [id](Permission::id) too meanwhile.
    ///
    /// Runs as a task of its own, on the runtime that the conversations were made in. The future is dropped where the
    /// question is settled otherwise: by [`Conversation::stop`], by the agent, by time ([`Options::permission_timeout`]). One
    /// that panics refuses.
    async fn decide(&self, permission: Arc<Permission>) -> Decision;
}

#[async_trait]
impl<F, D> Decider for F
where
    F: Fn(Arc<Permission>) -> D + Send + Sync,
    D: Future<Output = Decision> + Send,
{
    async fn decide(&self, permission: Arc<Permission>) -> Decision {
        self(permission).await
    }
}

#[async_trait]
impl<T: Decider + ?Sized> Decider for Arc<T> {
    async fn decide(&self, permission: Arc<Permission>) -> Decision {
        (**self).decide(permission).await
    }
}

/// What a [`Decider`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It is allowed once. Where the agent offers no such answer, or two, a person is asked.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused once. Where the agent offers two such answers, a person is asked; where it offers none, the question is
    /// answered "cancelled".
    Deny,
    /// The [option](Permission::options) of this id is chosen, which may change more than this one answer. Where there is no
    /// such option it is refused.
    Select(String),
}
