//! Agents written on the official SDKs: one conversation that goes through the whole protocol, the same with each.

mod rust_sdk;
mod typescript_sdk;

use serde_json::json;
use sidekicks_acp::schema::{
    AudioContent, ClientCapabilities, ContentBlock, ElicitationCapabilities, ElicitationFormCapabilities,
    EmbeddedResource, EmbeddedResourceResource, ImageContent, ListSessionsRequest, ResourceLink, SessionId,
    SessionUpdate, TextContent, TextResourceContents,
};
use sidekicks_acp::{
    AgentConnection, CallError, ConnectOptions, Connection, OpenSession, SessionEvent, SessionEvents, Traffic,
};

/// What the agents count on.
fn options() -> ConnectOptions {
    let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
    let mut options = ConnectOptions::default();
    options.capabilities = ClientCapabilities::new().elicitation(forms);
    options
}

fn text(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::Text(TextContent::new(text))]
}

/// One event in a few words.
fn word(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Opened(Ok(session)) => {
            let modes = session.modes.as_ref().map_or(0, |modes| modes.available_modes.len());
            format!("opened, {modes} modes, {} options", session.config_options.len())
        }
        SessionEvent::Update(update) => match update.typed.as_ref().expect("the SDK writes what the schema holds") {
            SessionUpdate::AgentMessageChunk(chunk) => format!("says {}", said(&chunk.content)),
            SessionUpdate::AgentThoughtChunk(chunk) => format!("thinks {}", said(&chunk.content)),
            SessionUpdate::UserMessageChunk(chunk) => format!("user said {}", said(&chunk.content)),
            SessionUpdate::ToolCall(call) => format!("tool {}", call.title),
            SessionUpdate::ToolCallUpdate(update) => format!("tool is {:?}", update.fields.status.unwrap()),
            SessionUpdate::Plan(plan) => format!("plan of {}", plan.entries.len()),
            SessionUpdate::CurrentModeUpdate(mode) => format!("mode {}", mode.current_mode_id),
            SessionUpdate::UsageUpdate(usage) => format!("used {} of {}", usage.used, usage.size),
            other => format!("{other:?}"),
        },
        SessionEvent::Permission(request) => {
            let options: Vec<_> = request.options.iter().map(|option| option.kind.as_str()).collect();
            format!("asks for {}: {}", request.tool_call.as_ref().unwrap().tool_call_id, options.join(", "))
        }
        SessionEvent::Elicitation(request) => format!("elicits {}", request.message),
        SessionEvent::Notification(notification) => format!("{} {}", notification.method, notification.params),
        SessionEvent::TurnEnded { end: Ok(end), .. } => format!("ends {}", end.stop_reason),
        SessionEvent::TurnEnded { end: Err(error), .. } => format!("fails: {error}"),
        SessionEvent::Ended(end) => format!("over: {end}"),
        other => format!("{other:?}"),
    }
}

fn said(content: &ContentBlock) -> &str {
    match content {
        ContentBlock::Text(text) => &text.text,
        other => panic!("{other:?}"),
    }
}

/// The words of a turn, in which questions are answered and a wait is cancelled.
async fn turn(
    connection: &Connection,
    session: &SessionId,
    events: &mut SessionEvents,
    prompt: Vec<ContentBlock>,
) -> String {
    connection.prompt(session, prompt).unwrap();
    let mut words = Vec::new();
    while let Some(event) = events.next().await {
        words.push(word(&event));
        match event {
            SessionEvent::Permission(request) => request.select("yes").unwrap(),
            SessionEvent::Elicitation(request) => {
                request.submit([("name".to_owned(), "Ada".to_owned().into())].into()).unwrap();
            }
            SessionEvent::Update(_) if words.last().is_some_and(|word| word == "says waiting") => {
                connection.cancel(session).unwrap();
            }
            SessionEvent::TurnEnded { .. } => break,
            _ => {}
        }
    }
    words.join("; ")
}

/// Goes through the protocol with an agent that does what those of this test do.
async fn converse(connection: &Connection) {
    let agent = connection.agent();
    assert_eq!(agent.implementation.as_ref().unwrap().name, "interop");
    connection.authenticate(agent.auth_methods[0].id()).await.unwrap();

    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    let opened = events.next().await.unwrap();
    assert_eq!(word(&opened), "opened, 2 modes, 2 options");
    let SessionEvent::Opened(Ok(session)) = opened else { unreachable!() };
    let session = session.id;
    assert_eq!(word(&events.next().await.unwrap()), format!(r#"_interop/hello {{"sessionId":"{session}"}}"#));
    connection.set_mode(&session, &"code".into()).await.unwrap();
    assert_eq!(word(&events.next().await.unwrap()), "mode code");
    let options = connection.set_config_option(&session, &"loud".into(), true.into()).await.unwrap();
    assert_eq!(serde_json::to_value(&options[1]).unwrap()["currentValue"], json!(true));
    let options = connection.set_config_option(&session, &"model".into(), "large".into()).await.unwrap();
    assert_eq!(serde_json::to_value(&options[0]).unwrap()["currentValue"], json!("large"));

    let turns = [
        ("hello", "thinks hm; says hello; plan of 1; used 7 of 100; ends end_turn"),
        ("ask", "tool Delete it; asks for t1: allow_once, reject_once; tool is Completed; says allowed; ends end_turn"),
        ("who", "elicits Who are you?; says hello Ada; ends end_turn"),
        ("wait", "says waiting; ends cancelled"),
        ("fail", "fails: no model today"),
    ];
    for (prompt, expected) in turns {
        assert_eq!(turn(connection, &session, &mut events, text(prompt)).await, expected, "{prompt}");
    }
    let resource = TextResourceContents::new("text", "file:///a.txt");
    let blocks = vec![
        ContentBlock::Text(TextContent::new("see")),
        ContentBlock::Image(ImageContent::new("AA==", "image/png")),
        ContentBlock::Resource(EmbeddedResource::new(EmbeddedResourceResource::TextResourceContents(resource))),
        ContentBlock::ResourceLink(ResourceLink::new("b.txt", "file:///b.txt")),
    ];
    let echoed = turn(connection, &session, &mut events, blocks).await;
    assert_eq!(echoed, "says text image resource resource_link; ends end_turn");
    let audio = vec![ContentBlock::Audio(AudioContent::new("AA==", "audio/wav"))];
    assert_eq!(connection.prompt(&session, audio), Err(CallError::UnsupportedContent("audio")));

    let echo = json!({"n": 1, "s": "é"});
    assert_eq!(connection.call_raw("_interop/echo", echo.clone()).await, Ok(echo));
    let unknown = connection.call_raw("_interop/nothing", json!({})).await.unwrap_err();
    assert!(matches!(&unknown, CallError::Agent(error) if error.code == -32601), "{unknown:?}");

    let page = connection.list_sessions(ListSessionsRequest::new()).await.unwrap();
    assert_eq!(page.sessions.iter().map(|known| &known.session_id).collect::<Vec<_>>(), [&session]);
    connection.close_session(&session).await.unwrap();
    assert_eq!(word(&events.next().await.unwrap()), "over: the session was closed");
    let mut loaded = connection.open(OpenSession::load(session.clone(), "/tmp")).unwrap();
    let mut words = Vec::new();
    for _ in 0..3 {
        words.push(word(&loaded.next().await.unwrap()));
    }
    assert_eq!(words, ["user said hello", "says hello", "opened, 2 modes, 2 options"]);
    connection.close_session(&session).await.unwrap();
    let mut resumed = connection.open(OpenSession::resume(session.clone(), "/tmp")).unwrap();
    assert_eq!(word(&resumed.next().await.unwrap()), "opened, 2 modes, 2 options");
    assert_eq!(turn(connection, &session, &mut resumed, text("hello")).await, turns[0].1);
    connection.delete_session(&session).await.unwrap();
    connection.logout().await.unwrap();

    let mut traffic = Traffic::default();
    traffic.unknown = 1; // The vendor's hello.
    assert_eq!(connection.traffic(), traffic);
}
