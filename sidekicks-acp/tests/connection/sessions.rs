//! Opening, closing and setting sessions.

use super::*;

#[tokio::test]
async fn an_id_that_is_open_already_is_given_to_nobody_else() {
    let connection = connect(async |mut peer: Peer| {
        peer.shake_hands().await;
        peer.open("s1").await;
        peer.open("s1").await;
        let prompt = peer.prompted().await;
        peer.end_turn(&prompt, "end_turn").await;
    })
    .await;
    let mut first = opened(&connection).await;
    let mut second = connection.open(OpenSession::new("/tmp")).unwrap();
    assert_eq!(rest(&mut second).await, ["not opened: malformed-reply"]);
    connection.prompt(&s1(), text("go")).unwrap();
    assert_eq!(rest(&mut first).await, ["end_turn sent=true", "ended: connection-lost"]);
}
