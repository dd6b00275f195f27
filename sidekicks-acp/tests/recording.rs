//! The record of a real process: what went over the wire, and no value of its environment.

use std::fs::{self, File};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sidekicks_acp::schema::{ContentBlock, EnvVariable, McpServer, McpServerStdio, TextContent};
use sidekicks_acp::{
    AgentCommand, AgentConnection, AgentProcess, ConnectOptions, OpenSession, Recorder, SessionEvent, StopPolicy,
};

/// It tells everybody what it was given.
const INDISCREET: &str = r#"
    echo "my key is $KEY" >&2
    echo "Welcome, $KEY"
    read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"'"$KEY"'","version":"1"}}}'
    read line; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
    read line
    echo '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",
        "content":{"type":"text","text":"'"$KEY"' and hunter2222"}}}}' | tr -d '\n'; echo
    echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
    read line
"#;

#[tokio::test]
async fn a_record_holds_the_wire_and_no_environment_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wire.jsonl");
    let recorder = Recorder::new(File::create(&path).unwrap());
    let stderr = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&stderr);
    let mut options = ConnectOptions::default().on_stderr(move |line| heard.lock().unwrap().push(line.to_owned()));
    options.recorder = Some(recorder.named("sh"));
    let command = AgentCommand::new("sh").args(["-c", INDISCREET]).env("KEY", "sk-12345678");
    let agent = AgentProcess::start(&command, &options, &StopPolicy::default()).await.unwrap();
    assert_eq!(
        agent.connection().agent().implementation.as_ref().unwrap().name,
        "sk-12345678",
        "only the record hides"
    );

    let mcp = McpServerStdio::new("files", "/bin/files").env(vec![EnvVariable::new("TOKEN", "hunter2222")]);
    let mut events =
        agent.connection().open(OpenSession::new("/tmp").mcp_servers(vec![McpServer::Stdio(mcp)])).unwrap();
    while let Some(event) = events.next().await {
        match event {
            SessionEvent::Opened(session) => {
                let prompt = vec![ContentBlock::Text(TextContent::new("say 12345678"))];
                agent.connection().prompt(&session.unwrap().id, prompt).unwrap();
            }
            SessionEvent::TurnEnded { .. } => break,
            _ => {}
        }
    }
    agent.stop().await;
    recorder.flush().await.unwrap();

    let record = fs::read_to_string(&path).unwrap();
    assert!(!record.contains("sk-12345678") && !record.contains("hunter2222"), "{record}");
    let mut lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut times = Vec::new();
    for line in &mut lines {
        let line = line.as_object_mut().unwrap();
        times.push(line.remove("t").unwrap().as_f64().unwrap());
        assert_eq!(line.remove("agent"), Some("sh".into()));
    }
    let (stderr_lines, wire): (Vec<Value>, Vec<Value>) = lines.into_iter().partition(|line| line["dir"] == "2");
    assert_eq!(stderr_lines, [json!({"dir": "2", "text": "my key is [hidden]"})]);
    assert_eq!(*stderr.lock().unwrap(), ["my key is sk-12345678"]);
    let summary: Vec<String> = wire
        .iter()
        .map(|line| {
            let message = &line["msg"];
            let what = message["method"].as_str().map_or_else(|| format!("reply to {}", message["id"]), str::to_owned);
            line["text"]
                .as_str()
                .map_or(format!("{} {what}", line["dir"].as_str().unwrap()), |noise| format!("? {noise}"))
        })
        .collect();
    let mut expected = vec![
        "> initialize",
        "? Welcome, [hidden]",
        "< reply to 1",
        "> session/new",
        "< reply to 2",
        "> session/prompt",
        "< session/update",
        "< reply to 3",
    ];
    // The agent greets before or after it hears of us.
    if summary[0].starts_with('?') {
        expected.swap(0, 1);
    }
    assert_eq!(summary, expected);
    let shown = |at: usize, path: &str| wire[at].pointer(path).unwrap().clone();
    assert_eq!(shown(3, "/msg/params/mcpServers/0/env"), json!([{"name": "TOKEN", "value": "[hidden]"}]));
    assert_eq!(shown(5, "/msg/params/prompt/0/text"), "say 12345678");
    assert_eq!(shown(6, "/msg/params/update/content/text"), "[hidden] and [hidden]");
}
