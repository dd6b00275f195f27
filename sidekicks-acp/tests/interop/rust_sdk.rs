//! The official Rust SDK, in this process.

use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::*;
use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, UntypedMessage, on_receive_notification, on_receive_request,
};
use serde_json::json;
use sidekicks_acp::Connection;
use tokio::io::{duplex, split};
use tokio::sync::Notify;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

#[tokio::test]
async fn an_agent_on_the_rust_sdk() {
    let (ours, theirs) = duplex(64 * 1024);
    let (reader, writer) = split(theirs);
    let agent = tokio::spawn(serve(ByteStreams::new(writer.compat_write(), reader.compat())));
    let (reader, writer) = split(ours);
    let connection = Connection::over(reader, writer, &super::options()).await.unwrap();
    super::converse(&connection).await;
    connection.close();
    agent.await.unwrap().unwrap();
}

/// What the agent knows of its one session.
#[derive(Default)]
struct Session {
    loud: bool,
    model: Option<String>,
}

impl Session {
    fn options(&self) -> Vec<SessionConfigOption> {
        let models =
            vec![SessionConfigSelectOption::new("small", "Small"), SessionConfigSelectOption::new("large", "Large")];
        let model = self.model.as_deref().unwrap_or("small").to_owned();
        vec![
            SessionConfigOption::select("model", "Model", model, models),
            SessionConfigOption::boolean("loud", "Loud", self.loud),
        ]
    }
}

fn modes() -> SessionModeState {
    SessionModeState::new("ask", vec![SessionMode::new("ask", "Ask"), SessionMode::new("code", "Code")])
}

fn say(connection: &ConnectionTo<Client>, update: SessionUpdate) -> Result<(), Error> {
    connection.send_notification(SessionNotification::new("s", update))
}

fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text.into()))
}

async fn prompted(
    request: &PromptRequest,
    connection: &ConnectionTo<Client>,
    cancelled: &Notify,
) -> Result<StopReason, Error> {
    let ContentBlock::Text(first) = &request.prompt[0] else { return Err(Error::invalid_params()) };
    match first.text.as_str() {
        "hello" => {
            say(connection, SessionUpdate::AgentThoughtChunk(chunk("hm")))?;
            say(connection, SessionUpdate::AgentMessageChunk(chunk("hello")))?;
            let entry = PlanEntry::new("greet", PlanEntryPriority::High, PlanEntryStatus::Completed);
            say(connection, SessionUpdate::Plan(Plan::new(vec![entry])))?;
            say(connection, SessionUpdate::UsageUpdate(UsageUpdate::new(7, 100)))?;
        }
        "ask" => {
            let call = ToolCall::new("t1", "Delete it");
            say(connection, SessionUpdate::ToolCall(call.clone()))?;
            let options = vec![
                PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
                PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
            ];
            let question = RequestPermissionRequest::new("s", call.into(), options);
            let answer = connection.send_request(question).block_task().await?;
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
            say(connection, SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("t1", fields)))?;
            let selected =
                matches!(answer.outcome, RequestPermissionOutcome::Selected(chosen) if &*chosen.option_id.0 == "yes");
            say(connection, SessionUpdate::AgentMessageChunk(chunk(if selected { "allowed" } else { "refused" })))?;
        }
        "who" => {
            let schema = ElicitationSchema::new().string("name", true);
            let mode = ElicitationFormMode::new(ElicitationSessionScope::new("s"), schema);
            let question = CreateElicitationRequest::new(mode, "Who are you?");
            let answer = connection.send_request(question).block_task().await?;
            let name = match answer.action {
                ElicitationAction::Accept(accepted) => match accepted.content.unwrap_or_default().get("name") {
                    Some(ElicitationContentValue::String(name)) => name.clone(),
                    other => format!("{other:?}"),
                },
                other => format!("{other:?}"),
            };
            say(connection, SessionUpdate::AgentMessageChunk(chunk(format!("hello {name}"))))?;
        }
        "wait" => {
            say(connection, SessionUpdate::AgentMessageChunk(chunk("waiting")))?;
            cancelled.notified().await;
            return Ok(StopReason::Cancelled);
        }
        "fail" => return Err(Error::internal_error().data(json!({"message": "no model today"}))),
        _ => {
            let kinds: Vec<_> =
                request.prompt.iter().map(|block| serde_json::to_value(block).unwrap()["type"].clone()).collect();
            let kinds: Vec<_> = kinds.iter().filter_map(|kind| kind.as_str()).collect();
            say(connection, SessionUpdate::AgentMessageChunk(chunk(kinds.join(" "))))?;
        }
    }
    Ok(StopReason::EndTurn)
}

async fn serve(
    transport: ByteStreams<impl futures_io::AsyncWrite + Send + 'static, impl futures_io::AsyncRead + Send + 'static>,
) -> Result<(), Error> {
    let session = Arc::new(Mutex::new(Session::default()));
    let cancelled = Arc::new(Notify::new());
    let options = {
        let session = Arc::clone(&session);
        move || session.lock().unwrap_or_else(PoisonError::into_inner).options()
    };
    let (opening, loading, resuming, setting) = (options.clone(), options.clone(), options.clone(), options);
    let cancelling = Arc::clone(&cancelled);
    Agent
        .v1()
        .name("interop")
        .on_receive_request(
            async |_: InitializeRequest, responder, _| {
                let sessions = SessionCapabilities::new()
                    .list(SessionListCapabilities::new())
                    .delete(SessionDeleteCapabilities::new())
                    .resume(SessionResumeCapabilities::new())
                    .close(SessionCloseCapabilities::new());
                let capabilities = AgentCapabilities::new()
                    .load_session(true)
                    .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
                    .session_capabilities(sessions)
                    .auth(AgentAuthCapabilities::new().logout(LogoutCapabilities::new()));
                responder.respond(
                    InitializeResponse::new(ProtocolVersion::V1)
                        .agent_info(Implementation::new("interop", "1"))
                        .agent_capabilities(capabilities)
                        .auth_methods(vec![AuthMethod::Agent(AuthMethodAgent::new("key", "Key"))]),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: AuthenticateRequest, responder, _| responder.respond(AuthenticateResponse::new()),
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: LogoutRequest, responder, _| responder.respond(LogoutResponse::new()),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, connection: ConnectionTo<Client>| {
                responder.respond(NewSessionResponse::new("s").modes(modes()).config_options(opening()))?;
                connection.send_notification(UntypedMessage::new("_interop/hello", json!({"sessionId": "s"}))?)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: LoadSessionRequest, responder, connection: ConnectionTo<Client>| {
                say(&connection, SessionUpdate::UserMessageChunk(chunk("hello")))?;
                say(&connection, SessionUpdate::AgentMessageChunk(chunk("hello")))?;
                responder.respond(LoadSessionResponse::new().modes(modes()).config_options(loading()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: ResumeSessionRequest, responder, _| {
                responder.respond(ResumeSessionResponse::new().modes(modes()).config_options(resuming()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: ListSessionsRequest, responder, _| {
                responder.respond(ListSessionsResponse::new(vec![SessionInfo::new("s", "/tmp")]))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: CloseSessionRequest, responder, _| responder.respond(CloseSessionResponse::new()),
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: DeleteSessionRequest, responder, _| responder.respond(DeleteSessionResponse::new()),
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: SetSessionModeRequest, responder, connection: ConnectionTo<Client>| {
                say(&connection, SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(request.mode_id)))?;
                responder.respond(SetSessionModeResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _| {
                {
                    let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
                    match request.value {
                        SessionConfigOptionValue::Boolean { value } => session.loud = value,
                        SessionConfigOptionValue::ValueId { value } => session.model = Some(value.0.to_string()),
                        _ => {}
                    }
                }
                responder.respond(SetSessionConfigOptionResponse::new(setting()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let (cancelled, out) = (Arc::clone(&cancelled), connection.clone());
                connection.spawn(async move {
                    match prompted(&request, &out, &cancelled).await {
                        Ok(reason) => responder.respond(PromptResponse::new(reason)),
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _| {
                cancelling.notify_one();
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async |request: UntypedMessage, responder, _| match request.method() {
                "_interop/echo" => responder.respond(request.params().clone()),
                _ => responder.respond_with_error(Error::method_not_found()),
            },
            on_receive_request!(),
        )
        .connect_to(transport)
        .await
}
