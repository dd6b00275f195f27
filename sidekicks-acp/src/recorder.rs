//! The wire of a connection, written down.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::wire::Heard;
#[cfg(feature = "process")]
use crate::wire::Line;

mod secrets;

use secrets::Secrets;

/// Writes down what goes over the wire, for bug reports and for replaying: one JSON object on each line.
///
/// | field | |
/// |---|---|
/// | `t` | milliseconds since the recorder was made |
/// | `agent` | whose wire it is, where it was [named](Self::named) |
/// | `dir` | `>` to the agent, `<` from the agent, `?` noise on its stdout, `2` a line of its stderr, `#` a note |
/// | `msg` | with `>` and `<`: the message, as it was written |
/// | `text` | otherwise: the line, cut to 64 KiB |
/// | `length` | with `?` and `2`: of a line that was too long to keep, its length in bytes; `text` is its first 40 bytes |
/// | `lost` | with `#`: how many lines are missing here, because the sink was too slow |
///
/// **Environment values are not in it:** neither those of [`AgentCommand::env`](crate::AgentCommand::env), nor those of the
/// MCP servers of a session and their HTTP headers, nor what is [hidden](Self::hide) by hand. Where they are set, and where
/// the agent repeats them, stands `[hidden]` instead. Values shorter than 4 bytes are replaced only where they are set, since
/// `1` is everywhere. What an agent makes of a value cannot be known: one that it encodes, or tells in two messages, stands
/// in the record.
///
/// Writing is done on a thread of its own, so that no slow disk holds up an agent; up to 16 MiB wait for it. The lines are
/// flushed whenever nothing waits, so a record is whole after a crash but for the last moment. Before the program exits,
/// [`flush`](Self::flush). Cheap to clone; the sink is dropped after the last clone and the last connection.
///
/// ```no_run
/// # use sidekicks_acp::{ConnectOptions, Recorder};
/// # async fn record() -> std::io::Result<()> {
/// let recorder = Recorder::new(std::fs::File::create("wire.jsonl")?);
/// let mut options = ConnectOptions::default();
/// options.recorder = Some(recorder.named("codex"));
/// // … AgentProcess::start(&command, &options, &stop), and at the end:
/// recorder.flush().await
/// # }
/// ```
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    agent: Option<Arc<str>>,
}

struct Shared {
    begun: Instant,
    jobs: mpsc::Sender<Job>,
    /// What waits for the sink, in bytes.
    waiting: Arc<AtomicUsize>,
    lost: AtomicU64,
    secrets: Mutex<Secrets>,
}

enum Job {
    Line(Vec<u8>),
    Flush(oneshot::Sender<io::Result<()>>),
}

/// How much may wait for the sink.
const MAX_WAITING: usize = 16 << 20;

/// How much of a line that was too long to read is written down.
const MAX_HEAD: usize = 40;

/// How much of a line that is no message is written down.
const MAX_TEXT: usize = 64 << 10;

impl Recorder {
    /// Writes to `sink`: a file, say. It needs no buffer of its own.
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        let (jobs, inbox) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let written = Arc::clone(&waiting);
        // Where there can be no thread everything is lost, which `flush` tells.
        let _ = thread::Builder::new().spawn(move || write(BufWriter::new(sink), &inbox, &written));
        let (lost, secrets) = (AtomicU64::new(0), Mutex::default());
        Self { shared: Arc::new(Shared { begun: Instant::now(), jobs, waiting, lost, secrets }), agent: None }
    }

    /// The same record, with the name of an agent on each line: for several agents in one file.
    pub fn named(&self, agent: &str) -> Self {
        Self { shared: Arc::clone(&self.shared), agent: Some(agent.into()) }
    }

    /// Keeps this text out of the record from now on: a key, say, that the agent finds in its inherited environment.
    /// Texts shorter than 4 bytes are not looked for.
    pub fn hide(&self, secret: impl Into<String>) {
        self.secrets(|secrets| secrets.add(secret.into()));
    }

    /// Waits until everything so far is written and flushed: for ever, if the sink blocks for ever. Cancel-safe.
    ///
    /// # Errors
    /// When the sink failed, now or before; after that nothing is written any more.
    pub async fn flush(&self) -> io::Result<()> {
        let (done, flushed) = oneshot::channel();
        let gone = || io::Error::other("the recorder's thread is gone");
        self.shared.jobs.send(Job::Flush(done)).map_err(|_| gone())?;
        flushed.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Something that goes to the agent: one whole line.
    pub(crate) fn said(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let message = self.secrets(|secrets| secrets.hidden_in_ours(text.trim_end()));
        self.message(">", &message);
    }

    pub(crate) fn heard(&self, heard: &Heard<'_>) {
        match heard {
            Heard::Update { text, .. } | Heard::Message { text, .. } => {
                let text = String::from_utf8_lossy(text);
                let message = self.secrets(|secrets| secrets.hidden_in_json(&text));
                self.message("<", &message);
            }
            Heard::Noise(line) => self.text("?", line, None),
            Heard::TooLong { head, length } => self.text("?", head, Some(*length)),
        }
    }

    #[cfg(feature = "process")]
    pub(crate) fn stderr(&self, line: &Line<'_>) {
        match line {
            Line::Whole(line) => self.text("2", line.strip_suffix(b"\r").unwrap_or(line), None),
            Line::TooLong { head, length } => self.text("2", head, Some(*length)),
        }
    }

    fn message(&self, dir: &str, message: &str) {
        // One line, also where the agent spread it over several; and JSON, also where its bytes were broken.
        let one_line = !message.contains('\n');
        match serde_json::from_str::<&RawValue>(message) {
            Ok(raw) if one_line => self.line(dir, "\"msg\":", raw.get()),
            _ => self.line(dir, "\"msg\":", &crate::raw::value(message).to_string()),
        }
    }

    fn text(&self, dir: &str, text: &[u8], length: Option<u64>) {
        // Looked through before it is cut, which could cut a secret in two.
        let text = String::from_utf8_lossy(text);
        let mut text = self.secrets(|secrets| {
            // The head of a longer line was cut already.
            let text = if length.is_some() { secrets.without_a_cut_one(&text) } else { &text };
            secrets.hidden_in_line(text).into_owned()
        });
        let most = if length.is_some() { MAX_HEAD } else { MAX_TEXT };
        if let Some(end) = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)) {
            text.truncate(end);
        }
        let text = json!(text);
        match length {
            Some(length) => self.line(dir, &format!("\"length\":{length},\"text\":"), &text.to_string()),
            None => self.line(dir, "\"text\":", &text.to_string()),
        }
    }

    fn line(&self, dir: &str, key: &str, json: &str) {
        let lost = self.shared.lost.swap(0, Ordering::Relaxed);
        let mut line = self.formatted(dir, key, json);
        if lost > 0 {
            line.insert_str(0, &self.formatted("#", "\"lost\":", &lost.to_string()));
        }
        let length = line.len();
        let waiting = self.shared.waiting.fetch_add(length, Ordering::Relaxed);
        let fits = waiting == 0 || waiting + length <= MAX_WAITING;
        if !fits || self.shared.jobs.send(Job::Line(line.into_bytes())).is_err() {
            self.shared.waiting.fetch_sub(length, Ordering::Relaxed);
            self.shared.lost.fetch_add(lost + 1, Ordering::Relaxed);
        }
    }

    fn formatted(&self, dir: &str, key: &str, json: &str) -> String {
        let at = self.shared.begun.elapsed().as_secs_f64() * 1000.0;
        let agent = self.agent.as_deref().map_or(String::new(), |agent| format!("\"agent\":{},", json!(agent)));
        format!("{{\"t\":{at:.3},{agent}\"dir\":\"{dir}\",{key}{json}}}\n")
    }

    fn secrets<T>(&self, with: impl FnOnce(&mut Secrets) -> T) -> T {
        with(&mut self.shared.secrets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes until every handle is gone. After a failure only those who flush are told.
fn write(mut sink: impl Write, inbox: &mpsc::Receiver<Job>, waiting: &AtomicUsize) {
    let mut failed: Option<(io::ErrorKind, String)> = None;
    let mut attempt = |step: &mut dyn FnMut() -> io::Result<()>| {
        if failed.is_none()
            && let Err(error) = step()
        {
            tracing::warn!(%error, "the record cannot be written");
            failed = Some((error.kind(), error.to_string()));
        }
        failed.clone().map_or(Ok(()), |(kind, text)| Err(io::Error::new(kind, text)))
    };
    loop {
        let job = match inbox.try_recv() {
            Ok(job) => job,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                let _ = attempt(&mut || sink.flush());
                let Ok(job) = inbox.recv() else { break };
                job
            }
        };
        match job {
            Job::Line(line) => {
                let _ = attempt(&mut || sink.write_all(&line));
                waiting.fetch_sub(line.len(), Ordering::Relaxed);
            }
            Job::Flush(done) => {
                let _ = done.send(attempt(&mut || sink.flush())); // Nobody waits any more: nothing to tell.
            }
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("agent", &self.agent).finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "process"))]
mod tests {
    use super::*;
    use crate::wire::MessageReader;
    use serde_json::Value;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink {
        /// The lines without their times.
        fn lines(&self) -> Vec<String> {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let untimed = |line: &str| {
                let line: Value = serde_json::from_str(line).unwrap();
                assert!(line["t"].as_f64().is_some_and(|t| t >= 0.0), "{line}");
                line
            };
            text.lines()
                .map(|line| {
                    untimed(line);
                    format!("{{{}", line.split_once(',').unwrap().1)
                })
                .collect()
        }
    }

    fn hear(recorder: &Recorder, bytes: &[u8]) {
        let mut reader = MessageReader::new(300);
        reader.push(bytes, &mut |heard| recorder.heard(&heard));
        reader.finish(&mut |heard| recorder.heard(&heard));
    }

    #[tokio::test]
    async fn each_line_says_what_went_where() {
        let sink = Sink::default();
        let recorder = Recorder::new(sink.clone());
        recorder.said(b"{\"id\":1,\"method\":\"initialize\"}\n");
        recorder.stderr(&Line::Whole(b"starting\r"));
        hear(&recorder, b"Welcome \x1b[1m\xFF\n{\"id\":1.0,\"id\":1.0,\"result\":{}}{\"method\":\"a\"}\n");
        hear(&recorder, b"{\n\"id\": 2,\n\"result\": \"\xFF\"\n}\n");
        hear(&recorder.named("codex"), &[b'x'; 400]);
        recorder.hide("k".repeat(64));
        hear(&recorder, &[&[b'k'; 64][..], &[b'x'; 400]].concat());
        recorder.flush().await.unwrap();
        let x = "x".repeat(40);
        let expected = [
            r#"{"dir":">","msg":{"id":1,"method":"initialize"}}"#,
            r#"{"dir":"2","text":"starting"}"#,
            r#"{"dir":"?","text":"Welcome \u001b[1m�"}"#,
            r#"{"dir":"<","msg":{"id":1.0,"id":1.0,"result":{}}}"#,
            r#"{"dir":"<","msg":{"method":"a"}}"#,
            r#"{"dir":"<","msg":{"id":2,"result":"�"}}"#,
            &format!(r#"{{"agent":"codex","dir":"?","length":400,"text":"{x}"}}"#),
            &format!(r#"{{"dir":"?","length":464,"text":"[hidden]{}"}}"#, "x".repeat(32)),
        ];
        assert_eq!(sink.lines(), expected);
    }

    #[tokio::test]
    async fn a_sink_that_fails_is_told_to_who_flushes() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let recorder = Recorder::new(Full);
        recorder.stderr(&Line::Whole(&[b'x'; 100_000]));
        for _ in 0..2 {
            assert_eq!(recorder.flush().await.unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
    }

    #[tokio::test]
    async fn a_sink_that_is_slow_loses_lines_and_says_how_many() {
        let (sink, held) = (Sink::default(), Arc::new(Mutex::new(())));
        struct Slow(Sink, Arc<Mutex<()>>);
        impl Write for Slow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let _wait = self.1.lock().unwrap();
                self.0.write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let recorder = Recorder::new(Slow(sink.clone(), Arc::clone(&held)));
        let stuck = held.lock().unwrap();
        let line = "x".repeat(MAX_TEXT);
        for _ in 0..300 {
            recorder.stderr(&Line::Whole(line.as_bytes()));
        }
        drop(stuck);
        recorder.flush().await.unwrap();
        recorder.stderr(&Line::Whole(b"after"));
        recorder.flush().await.unwrap();
        let lines = sink.lines();
        let [before @ .., lost, after] = &lines[..] else { panic!("{}", lines.len()) };
        assert_eq!(*lost, format!("{{\"dir\":\"#\",\"lost\":{}}}", 300 - before.len()));
        assert_eq!(after, r#"{"dir":"2","text":"after"}"#);
        assert!(before.len() * MAX_TEXT <= MAX_WAITING, "bounded");
    }
}
