#[test]
#[ignore]
fn probe() {
    let all = std::fs::read_to_string(std::env::var("PROBE").unwrap()).unwrap();
    for text in all.split("\n====\n") {
        let (found, value) = super::outcome(text);
        println!("{text}\n    -> {found:?}\n    => {value}");
    }
}
