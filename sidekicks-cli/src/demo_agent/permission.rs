//! Asking before something real happens.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse, SessionMode,
    SessionModeId, SessionModeState,
};

/// What the agent can do to the computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Tool {
    Run,
    Write,
}

/// What was decided about a tool for the whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Ask,
    Always,
    Never,
}

/// How the session goes about its tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Ask,
    Allow,
}

impl Mode {
    pub(super) fn find(id: &SessionModeId) -> Option<Self> {
        match id.0.as_ref() {
            "ask" => Some(Self::Ask),
            "allow" => Some(Self::Allow),
            _ => None,
        }
    }

    /// The modes as a new session offers them.
    pub(super) fn offer() -> SessionModeState {
        SessionModeState::new(
            SessionModeId::new("ask"),
            vec![
                SessionMode::new(SessionModeId::new("ask"), "Ask")
                    .description("Asks before it runs a command or writes a file".to_owned()),
                SessionMode::new(SessionModeId::new("allow"), "Allow")
                    .description("Runs commands and writes files without asking".to_owned()),
            ],
        )
    }
}

/// The ways to answer.
pub(super) fn options(tool: Tool) -> Vec<PermissionOption> {
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let (always, never) = match tool {
        Tool::Run => ("Always allow commands in this session", "Never run commands in this session"),
        Tool::Write => ("Always allow file edits in this session", "Never edit files in this session"),
    };
    vec![
        PermissionOption::new("allow_once", "Allow once", AllowOnce),
        PermissionOption::new("allow_always", always, AllowAlways),
        PermissionOption::new("reject_once", "Reject", RejectOnce),
        PermissionOption::new("reject_always", never, RejectAlways),
    ]
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on; `Always` is to be remembered.
    Allowed(Standing),
    /// Do not; `Never` is to be remembered. The sentence says why.
    Refused(Standing, String),
    /// The client cancelled the turn.
    Cancelled,
}

/// Reads the client's answer. Whatever is not clearly a yes is a no.
pub(super) fn verdict(answer: Result<RequestPermissionResponse, Error>) -> Verdict {
    let refused = |standing, why: &str| Verdict::Refused(standing, why.to_owned());
    let outcome = match answer {
        Ok(response) => response.outcome,
        Err(error) => {
            return Verdict::Refused(Standing::Ask, format!("the client could not ask you: {}", error.message));
        }
    };
    match outcome {
        RequestPermissionOutcome::Cancelled => Verdict::Cancelled,
        RequestPermissionOutcome::Selected(selected) => match selected.option_id.0.as_ref() {
            "allow_once" => Verdict::Allowed(Standing::Ask),
            "allow_always" => Verdict::Allowed(Standing::Always),
            "reject_once" => refused(Standing::Ask, "you said no"),
            "reject_always" => refused(Standing::Never, "you said never"),
            other => Verdict::Refused(Standing::Ask, format!("the client chose “{other}”, which was not offered")),
        },
        _ => refused(Standing::Ask, "the client's answer was not understood"),
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::SelectedPermissionOutcome;

    use super::*;

    fn selected(option: &str) -> Verdict {
        let selected = SelectedPermissionOutcome::new(option.to_owned());
        verdict(Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))))
    }

    #[test]
    fn every_option_is_understood() {
        for option in options(Tool::Run) {
            let expected = match option.kind {
                PermissionOptionKind::AllowOnce => Verdict::Allowed(Standing::Ask),
                PermissionOptionKind::AllowAlways => Verdict::Allowed(Standing::Always),
                PermissionOptionKind::RejectOnce => Verdict::Refused(Standing::Ask, "you said no".to_owned()),
                _ => Verdict::Refused(Standing::Never, "you said never".to_owned()),
            };
            assert_eq!(selected(&option.option_id.0), expected);
        }
    }

    #[test]
    fn only_a_clear_yes_allows() {
        assert!(matches!(selected("allow"), Verdict::Refused(Standing::Ask, _)));
        assert!(matches!(verdict(Err(Error::method_not_found())), Verdict::Refused(Standing::Ask, _)));
        let cancelled = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        assert_eq!(verdict(Ok(cancelled)), Verdict::Cancelled);
    }

    #[test]
    fn every_offered_mode_exists() {
        let offer = Mode::offer();
        assert_eq!(Mode::find(&offer.current_mode_id), Some(Mode::default()));
        assert!(offer.available_modes.iter().all(|mode| Mode::find(&mode.id).is_some()));
    }
}
