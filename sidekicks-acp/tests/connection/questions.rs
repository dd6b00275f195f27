//! What the agent asks.

use serde_json::{Value, json};
use sidekicks_acp::schema::{ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities};
use sidekicks_acp::{AnswerError, ConnectionEvent};
use tokio::sync::oneshot;

use super::*;

#[tokio::test]
async fn questions_are_answered_with_the_id_as_it_was_written() {
    let (done, answers) = oneshot::channel();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        let mut answers = Vec::new();
        for id in [json!(0), json!("a8098c1a-f86e"), Value::Null, json!(9007199254740993_i64), json!(1.5)] {
            let options = [("always", "allow_always"), ("once", "allow_once"), ("odd", "allow_somehow")];
            peer.ask(&id, "s1", json!({"toolCallId": "t"}), &options).await;
            answers.push(peer.answer(&id).await);
        }
        peer.send(json!({"id": 1, "method": "craft/drain", "params": {}})).await;
        answers.push(peer.hear().await.unwrap());
        peer.send(json!({"id": "x", "method": "session/request_permission", "params": {}})).await;
        answers.push(peer.hear().await.unwrap());
        done.send(answers).unwrap();
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    for choice in ["once", "always", "odd"] {
        let request = question(&mut events).await;
        assert_eq!(request.select("twice"), Err(AnswerError::UnknownOption("twice".to_owned())));
        assert_eq!(request.select(choice), Ok(()));
        assert_eq!(request.select(choice), Err(AnswerError::AlreadySettled));
        assert_eq!(request.cancel(), Err(AnswerError::AlreadySettled));
    }
    question(&mut events).await.cancel().unwrap();
    drop(question(&mut events).await);
    let answers = answers.await.unwrap();
    let outcome = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    assert_eq!(answers[..5], [outcome("once"), outcome("always"), outcome("odd"), cancelled.clone(), cancelled]);
    assert_eq!((&answers[5]["id"], &answers[5]["error"]["code"]), (&json!(1), &json!(-32601)));
    assert_eq!((&answers[6]["id"], &answers[6]["error"]["code"]), (&json!("x"), &json!(-32602)));
}

#[tokio::test]
async fn a_question_with_a_broken_tool_call_is_still_asked() {
    let calls = [json!(null), json!(7), json!({}), json!({"toolCallId": "t", "kind": "teleport", "status": 3})];
    let count = calls.len();
    let connection = connect(async move |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        for (id, call) in calls.into_iter().enumerate() {
            peer.ask(&json!(id), "s1", call, &[("yes", "allow_once")]).await;
            peer.answer(&json!(id)).await;
        }
        peer.send(json!({"id": 9, "method": "session/request_permission", "params": {"sessionId": "s1", "options": [
            {"optionId": 5, "name": "", "kind": 7}, {"name": "no id"}, "nothing"]}}))
            .await;
        peer.answer(&json!(9)).await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    for _ in 0..count {
        question(&mut events).await.select("yes").unwrap();
    }
    let odd = question(&mut events).await;
    let options: Vec<_> = odd.options.iter().map(|o| (o.id.as_str(), o.name.as_str(), o.kind.as_str())).collect();
    assert_eq!(options, [("5", "5", "")]);
}

#[tokio::test]
async fn the_agent_can_take_its_question_back() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.ask(&json!("q"), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": "other"}})).await;
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": "q"}})).await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "cancelled");
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let request = question(&mut events).await;
    let withdrawn = next(&mut events).await;
    assert!(matches!(withdrawn, Some(SessionEvent::Withdrawn(id)) if id == request.id()), "{withdrawn:?}");
    assert_eq!(request.select("y"), Err(AnswerError::AlreadySettled));
    assert_eq!(rest(&mut events).await, ["failed: connection-lost sent=true", "ended: connection-lost"]);
}

fn form(message: &str, scope: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let mut params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    params.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
    params
}

#[tokio::test]
async fn an_elicitation_that_was_not_offered_is_declined() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.elicit(&json!("e"), form("Who?", json!({"sessionId": "s1"}))).await;
        assert_eq!(peer.answer(&json!("e")).await, json!({"action": "decline"}));
        peer.end_turn(&prompt, "end_turn").await;
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut events).await, ["end_turn sent=true", "ended: connection-lost"]);
}

#[tokio::test]
async fn an_elicitation_reaches_who_wants_it() {
    let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
    let mut options = ConnectOptions::default();
    options.capabilities = ClientCapabilities::new().elicitation(forms);
    let (done, answers) = oneshot::channel();
    let script = async move |mut peer: Peer| {
        let initialize = peer.expect("initialize").await;
        assert_eq!(initialize["params"]["clientCapabilities"]["elicitation"], json!({"form": {}}));
        peer.reply(&initialize, json!({"protocolVersion": 1})).await;
        // Before any session, on behalf of another call; the second is taken back.
        for id in 0..2 {
            peer.elicit(&json!(id), form("Which account?", json!({"requestId": 1}))).await;
        }
        peer.send(json!({"method": "$/cancel_request", "params": {"requestId": 1}})).await;
        let mut answers = vec![peer.answer(&json!(1)).await, peer.answer(&json!(0)).await];
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        for id in 2..5 {
            peer.elicit(&json!(id), form("Who?", json!({"sessionId": "s1"}))).await;
        }
        peer.elicit(&json!(5), json!({"sessionId": "s1", "mode": "telepathy"})).await;
        // The cancel passes the answers.
        assert_eq!(peer.hear().await.unwrap()["method"], "session/cancel");
        for id in 2..6 {
            answers.push(peer.answer(&json!(id)).await);
        }
        peer.end_turn(&prompt, "cancelled").await;
        done.send(answers).unwrap();
    };
    let connection = testing::connect(script, &options).await.unwrap();
    let mut asides = Vec::new();
    for _ in 0..3 {
        asides.push(connection.event().await.unwrap());
    }
    let [ConnectionEvent::Elicitation(first), ConnectionEvent::Elicitation(second), ConnectionEvent::Withdrawn(id)] =
        &asides[..]
    else {
        panic!("{asides:?}");
    };
    assert_eq!((first.session.as_ref(), first.message.as_str()), (None, "Which account?"));
    assert_eq!((second.id(), second.accept()), (*id, Err(AnswerError::AlreadySettled)));
    first.submit([("name".to_owned(), "me".to_owned().into())].into()).unwrap();

    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    let mut asked = Vec::new();
    for _ in 0..4 {
        match next(&mut events).await {
            Some(SessionEvent::Elicitation(request)) => asked.push(request),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((asked[0].session.clone(), asked[0].typed.is_ok()), (Some(s1()), true));
    asked[0].accept().unwrap();
    asked[1].decline().unwrap();
    drop(asked.remove(2));
    connection.cancel(&s1()).unwrap();
    assert_eq!(asked[2].cancel(), Err(AnswerError::AlreadySettled));
    assert_eq!(rest(&mut events).await, ["withdrawn", "cancelled sent=true", "ended: connection-lost"]);
    let action = |word: &str| json!({"action": word});
    let expected = [
        action("cancel"),
        json!({"action": "accept", "content": {"name": "me"}}),
        action("accept"),
        action("decline"),
        action("cancel"),
        action("cancel"),
    ];
    assert_eq!(answers.await.unwrap(), expected);
}

#[tokio::test]
async fn an_id_that_comes_again_is_the_question_that_is_open() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.prompted().await;
        peer.ask(&json!("q"), "s1", json!({}), &[("y", "allow_once")]).await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "selected");
        peer.ask(&json!("q"), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.notify("$/cancel_request", json!({"requestId": "q"})).await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "cancelled");
    })
    .await;
    let mut events = opened(&connection).await;
    connection.prompt(&s1(), text("go")).unwrap();
    question(&mut events).await.select("y").unwrap();
    let again = question(&mut events).await;
    assert_eq!(word(&next(&mut events).await.unwrap()), "withdrawn");
    assert_eq!(again.select("y"), Err(AnswerError::AlreadySettled));
}

#[tokio::test]
async fn a_question_that_outlives_its_events_ends_with_the_connection() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.ask(&json!("q"), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.farewell().await;
    })
    .await;
    let mut events = opened(&connection).await;
    let asked = question(&mut events).await;
    drop(events);
    connection.close();
    assert_eq!(asked.select("y"), Err(AnswerError::AlreadySettled));
}

#[tokio::test]
async fn a_question_that_is_taken_back_before_its_session_is_known_is_not_asked() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        let open = peer.expect("session/new").await;
        peer.ask(&json!("q"), "s1", json!({}), &[("y", "allow_once")]).await;
        peer.say("s1", "early").await;
        peer.notify("$/cancel_request", json!({"requestId": "q"})).await;
        assert_eq!(peer.answer(&json!("q")).await["outcome"]["outcome"], "cancelled");
        peer.reply(&open, json!({"sessionId": "s1"})).await;
    })
    .await;
    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    assert_eq!(rest(&mut events).await, ["opened s1", "early (late)", "ended: connection-lost"]);
}
