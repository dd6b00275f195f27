//! Cancelling a prompt.

use serde_json::json;
use sidekicks_acp::{AnswerError, CallError};
use tokio::sync::oneshot;

use super::*;

#[tokio::test]
async fn cancel_comes_first_and_settles_what_is_open() {
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(0), "s1", json!({"toolCallId": "a"}), &[("y", "allow_once")]).await;
        peer.ask(&json!(1), "s1", json!({"toolCallId": "b"}), &[("y", "allow_once")]).await;
        let mut heard = vec![peer.hear().await.unwrap(), peer.hear().await.unwrap(), peer.hear().await.unwrap()];
        // A question that crosses the cancel is answered without anybody being asked.
        peer.ask(&json!(2), "s1", json!({"toolCallId": "c"}), &[("y", "allow_once")]).await;
        heard.push(peer.hear().await.unwrap());
        peer.end_turn(&prompt, "cancelled").await;
        // The next prompt is sent, and nothing before it.
        heard.push(peer.hear().await.unwrap());
        done.send(heard).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    assert_eq!(connection.cancel(&s1()), Ok(()), "nothing to cancel");
    connection.prompt(&s1(), text("go")).unwrap();
    let questions = [question(&mut events).await, question(&mut events).await];
    connection.cancel(&s1()).unwrap();
    connection.cancel(&s1()).unwrap();
    assert_eq!(questions[0].select("y"), Err(AnswerError::AlreadySettled));
    let mut words = Vec::new();
    for _ in 0..3 {
        words.push(word(&next(&mut events).await.unwrap()));
    }
    assert_eq!(words, ["withdrawn", "withdrawn", "cancelled sent=true"]);
    connection.cancel(&s1()).unwrap();
    connection.prompt(&s1(), text("again")).unwrap();
    let heard = heard.await.unwrap();
    assert_eq!(heard[0]["method"], "session/cancel");
    assert_eq!(heard[0].get("id"), None);
    for (message, id) in heard[1..4].iter().zip(0..) {
        assert_eq!((&message["id"], &message["result"]["outcome"]["outcome"]), (&json!(id), &json!("cancelled")));
    }
    assert_eq!(heard[4]["params"]["prompt"][0]["text"], "again");
}

#[tokio::test]
async fn a_prompt_behind_a_full_pipe_is_taken_back() {
    // The agent reads nothing after the opening, so the large prompt stays in the pipe and the other in the outbox.
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s2").await;
        std::future::pending::<()>().await;
    })
    .await;
    let _first = opened(&connection).await;
    let mut second = opened(&connection).await;
    connection.prompt(&s1(), text(&"x".repeat(1 << 20))).unwrap();
    let s2 = SessionId::new("s2");
    connection.prompt(&s2, text("small")).unwrap();
    connection.cancel(&s2).unwrap();
    assert_eq!(word(&next(&mut second).await.unwrap()), "cancelled sent=false");
    connection.cancel(&s1()).unwrap();
    for _ in 0..15 {
        assert_eq!(connection.prompt(&s2, text(&"y".repeat(1 << 20))).map(drop), Ok(()));
        connection.cancel(&s2).unwrap();
    }
    connection.prompt(&s2, text(&"z".repeat(15 << 20))).unwrap();
    assert_eq!(
        connection.open(OpenSession::new(format!("/{}", "w".repeat(2 << 20)))).unwrap_err(),
        CallError::Backpressure
    );
}

#[tokio::test]
async fn an_agent_that_never_reads_again_can_be_cancelled_and_ended() {
    // It reads the prompt, and after it nothing: the cancel waits before everything else that is to be written.
    let (prompted, in_turn) = oneshot::channel();
    let (read_on, wait) = oneshot::channel::<()>();
    let (done, heard) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        prompted.send(()).unwrap();
        wait.await.unwrap();
        let mut methods = Vec::new();
        for _ in 0..4 {
            methods.push(peer.hear().await.unwrap()["method"].clone());
        }
        done.send(methods).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    in_turn.await.unwrap();
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { connection.call_raw("vendor/call", json!(["x".repeat(100_000)])).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let large = connection.call_raw("vendor/large", json!(["y".repeat(20 << 20)])).await;
    assert_eq!(large, Err(CallError::Backpressure));
    connection.cancel(&s1()).unwrap();
    read_on.send(()).unwrap();
    let heard = heard.await.unwrap();
    // The first call was in the pipe already.
    assert_eq!(heard, ["vendor/call", "session/cancel", "vendor/call", "vendor/call"]);
    assert_eq!(rest(&mut events).await, ["failed: connection-lost sent=true", "ended: connection-lost"]);
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap_err().code(), "connection-lost");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_floods_while_it_is_cancelled_hears_it() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        let content = json!({"type": "text", "text": "more"});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        let more = json!({"method": "session/update", "params": {"sessionId": "s1", "update": update}});
        assert_eq!(peer.flood(&more).await.unwrap()["method"], "session/cancel");
        peer.end_turn(&prompt, "cancelled").await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    for _ in 0..100 {
        assert_eq!(word(&next(&mut events).await.unwrap()), "more");
    }
    connection.cancel(&s1()).unwrap();
    loop {
        match word(&next(&mut events).await.unwrap()).as_str() {
            "more" => {}
            end => break assert_eq!(end, "cancelled sent=true"),
        }
    }
}

#[tokio::test]
async fn a_cancel_that_was_not_written_goes_with_its_turn() {
    let (done, heard) = oneshot::channel();
    let (prompted, in_turn) = oneshot::channel();
    let (end, wait) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        prompted.send(()).unwrap();
        wait.await.unwrap();
        peer.end_turn(&prompt, "end_turn").await;
        peer.notify("vendor/ended", json!({})).await;
        // Only now it reads on.
        let mut methods = Vec::new();
        for _ in 0..2 {
            methods.push(peer.hear().await.unwrap()["method"].clone());
        }
        done.send(methods).unwrap();
        peer.farewell().await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    in_turn.await.unwrap();
    // It fills the pipe, so that the cancel stays in the outbox.
    let large = tokio::spawn({
        let connection = connection.clone();
        async move { connection.call_raw("vendor/large", json!(["x".repeat(1 << 20)])).await }
    });
    tokio::task::yield_now().await;
    connection.cancel(&s1()).unwrap();
    end.send(()).unwrap();
    assert_eq!(word(&next(&mut events).await.unwrap()), "end_turn sent=true");
    connection.event().await.unwrap();
    connection.prompt(&s1(), text("again")).unwrap();
    assert_eq!(heard.await.unwrap(), ["vendor/large", "session/prompt"]);
    connection.close();
    assert_eq!(large.await.unwrap().unwrap_err().code(), "closed");
}
