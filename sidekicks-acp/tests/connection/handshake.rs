//! Connecting, and letting go.

use std::sync::Arc;

use serde_json::json;
use sidekicks_acp::{End, StartFailure};
use tokio::sync::oneshot;

use super::*;

#[tokio::test]
async fn the_handshake_offers_version_one_and_nothing_that_is_not_there() {
    let (heard, request) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        let initialize = peer.expect("initialize").await;
        peer.reply(&initialize, json!({"protocolVersion": 1, "agentInfo": {"name": "a", "version": "2"}})).await;
        heard.send(initialize).unwrap();
        peer.farewell().await;
    })
    .await;
    let params = request.await.unwrap()["params"].clone();
    assert_eq!(params["protocolVersion"], 1);
    assert_eq!(params["clientInfo"]["name"], "sidekicks");
    assert_eq!(params["clientCapabilities"]["terminal"], false);
    let session = json!({"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}});
    assert_eq!(params["clientCapabilities"]["session"], session);
    assert_eq!(connection.agent().implementation.as_ref().unwrap().version, "2");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_says_how() {
    async fn failed<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Peer) -> S) -> (&'static str, String) {
        let error = testing::connect(script, &ConnectOptions::default()).await.unwrap_err();
        (error.code(), error.to_string())
    }
    let (code, text) = failed(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.reply(&request, json!({"protocolVersion": 2})).await;
        peer.farewell().await;
    })
    .await;
    assert_eq!((code, text.contains("version 2")), ("unsupported-version", true), "{text}");
    let (code, text) = failed(async |mut peer: Peer| {
        peer.hear().await;
        peer.write("this agent is no longer maintained\n").await;
    })
    .await;
    assert_eq!(
        (code, text.as_str()),
        (
            "connection-lost",
            "it left before it was ready: the agent closed the connection; this agent is no longer maintained"
        )
    );
    let (code, text) = failed(async |mut peer: Peer| {
        let request = peer.expect("initialize").await;
        peer.refuse(&request, json!({"code": -32000, "message": "Log in first"})).await;
        peer.farewell().await;
    })
    .await;
    assert_eq!((code, text.as_str()), ("login-required", "the handshake failed"));
    let (code, text) = failed(async |mut peer: Peer| peer.farewell().await).await;
    assert_eq!((code, text.as_str()), ("start-timeout", "it was not ready within 60 seconds"));
}

#[tokio::test]
async fn a_lost_handshake_carries_the_noise() {
    let script = async |mut peer: Peer| {
        peer.hear().await;
        peer.write("this agent is no longer maintained\nuse the other one").await;
    };
    let error = testing::connect(script, &ConnectOptions::default()).await.unwrap_err();
    assert!(matches!(*error.failure, StartFailure::Left(End::OutputClosed)), "{error:?}");
    assert_eq!(error.noise, ["this agent is no longer maintained", "use the other one"]);
}

#[tokio::test]
async fn handles_are_send_and_the_last_one_closes() {
    fn handle<T: Send + Sync + Clone + 'static>(_: &T) {}
    let (gone, left) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.farewell().await;
        gone.send(()).unwrap();
    })
    .await;
    handle(&connection);
    let shared: Arc<dyn AgentConnection> = Arc::new(connection.clone());
    drop(connection);
    assert!(tokio::time::timeout(Duration::from_millis(50), shared.closed()).await.is_err());
    drop(shared);
    tokio::time::timeout(PATIENCE, left).await.unwrap().unwrap();
}

#[test]
fn a_connection_ends_with_its_runtime() {
    let begun = tokio::runtime::Runtime::new().unwrap();
    let connection = begun.block_on(connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.farewell().await;
    }));
    drop(begun);
    let later = tokio::runtime::Runtime::new().unwrap();
    let end = later.block_on(async { tokio::time::timeout(PATIENCE, connection.closed()).await }).unwrap();
    assert!(matches!(end, End::Failed(_)), "{end:?}");
    assert_eq!(connection.open(OpenSession::new("/")).unwrap_err().code(), "connection-lost");
}
