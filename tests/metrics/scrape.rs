//! A running `ocwatch metrics`, and what a scrape of it tells.

use crate::lines::signal;
use crate::program::{Home, Ran};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Long enough for a busy machine; a test that works never waits for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The running program; dropping it kills it.
pub struct Exporter {
    child: Child,
    stderr: Mutex<Receiver<String>>,
    /// What it said so far on stderr.
    pub said: Vec<String>,
    /// Where it listens, as it said.
    pub address: String,
}

impl Exporter {
    /// Starts it on a free port of this machine.
    pub fn start(home: &Home, more: &[&str]) -> Self {
        let args = [&["metrics", "--listen", "127.0.0.1:0"], more].concat();
        Self::spawn(&mut home.command(&args))
    }

    pub fn spawn(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        let lines = BufReader::new(child.stderr.take().expect("its stderr")).lines();
        let (to_test, stderr) = channel();
        std::thread::spawn(move || {
            let mut lines = lines.map_while(Result::ok);
            lines.try_for_each(|line| to_test.send(line))
        });
        let first = stderr.recv_timeout(PATIENCE).expect("where it listens");
        let address = first.strip_prefix("ocwatch: metrics on http://");
        let address = address.and_then(|it| it.strip_suffix("/metrics"));
        let address = address.unwrap_or_else(|| panic!("{first}")).to_owned();
        Self {
            child,
            stderr: Mutex::new(stderr),
            said: vec![first],
            address,
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream
    }

    /// Sends this and reads until the connection is closed.
    pub fn ask(&self, request: &str) -> Reply {
        let mut stream = self.connect();
        // It may be refused before all of it is sent.
        stream.write_all(request.as_bytes()).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        Reply(String::from_utf8(answer).expect("text"))
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
    }

    pub fn scrape(&self) -> Scrape {
        let reply = self.get("/metrics");
        assert_eq!(reply.status(), 200, "{}", reply.0);
        Scrape(reply.body().to_owned())
    }

    /// The first scrape that is as wanted.
    pub fn until(&self, what: &str, wanted: impl Fn(&Scrape) -> bool) -> Scrape {
        let begun = Instant::now();
        loop {
            let scrape = self.scrape();
            if wanted(&scrape) {
                return scrape;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "never: {what}\n{}",
                scrape.told()
            );
            std::thread::park_timeout(Duration::from_millis(30));
        }
    }

    /// Ends it by a signal; its exit code.
    pub fn end_by(mut self, name: &str) -> Option<i32> {
        signal(self.child.id(), name);
        let begun = Instant::now();
        loop {
            if let Some(ended) = self.child.try_wait().expect("a process") {
                self.said
                    .extend(self.stderr.get_mut().expect("lines").try_iter());
                return ended.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// The next line on stderr.
    pub fn next_line(&mut self) -> String {
        let line = self
            .stderr
            .get_mut()
            .expect("lines")
            .recv_timeout(PATIENCE)
            .expect("a line");
        self.said.push(line.clone());
        line
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An HTTP answer as it came.
#[derive(Debug)]
pub struct Reply(pub String);

impl Reply {
    pub fn status(&self) -> u16 {
        let word = self.0.split(' ').nth(1).and_then(|it| it.parse().ok());
        word.unwrap_or_else(|| panic!("no answer: {:?}", self.0))
    }

    pub fn head(&self) -> &str {
        self.0.split_once("\r\n\r\n").expect("a head").0
    }

    pub fn body(&self) -> &str {
        self.0.split_once("\r\n\r\n").expect("a head").1
    }
}

/// What was told.
#[derive(Debug, Clone)]
pub struct Scrape(pub String);

impl Scrape {
    /// What `--once` printed.
    pub fn of(ran: &Ran) -> Self {
        Self(ran.out.clone())
    }

    /// The one sample of this name whose labels these are among.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let mut found = self
            .samples()
            .filter(|it| it.name == name && it.has(labels));
        let value = found.next().map(|it| it.value);
        assert!(
            found.next().is_none(),
            "several {name} {labels:?}:\n{}",
            self.0
        );
        value
    }

    pub fn samples(&self) -> impl Iterator<Item = Sample<'_>> {
        let lines = self.0.lines().filter(|it| !it.starts_with('#'));
        lines.map(Sample::parse)
    }

    /// Sessions of the levels stuck, needs-you, watch, ok, unknown of a server.
    pub fn levels(&self, server: &str) -> [u32; 5] {
        let levels = ["stuck", "needs-you", "watch", "ok", "unknown"];
        levels.map(|level| {
            let labels = [("server", server), ("level", level)];
            let mut all = self.samples();
            let found = all.find(|it| it.name == "ocwatch_sessions" && it.has(&labels));
            let value = found.and_then(|it| it.text.parse().ok());
            value.unwrap_or_else(|| panic!("no {level} of {server}:\n{}", self.0))
        })
    }

    /// The samples that are not 0.
    pub fn told(&self) -> String {
        let lines = self.0.lines();
        let told = lines.filter(|it| !it.starts_with('#') && !it.ends_with(" 0"));
        told.collect::<Vec<_>>().join("\n")
    }
}

/// One line; labels whose values need no escapes.
#[derive(Debug)]
pub struct Sample<'a> {
    pub name: &'a str,
    pub labels: Vec<(&'a str, &'a str)>,
    pub value: f64,
    text: &'a str,
}

impl<'a> Sample<'a> {
    fn parse(line: &'a str) -> Self {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let labels = labels.strip_suffix('}').expect("an end of labels");
        let labels = labels.split_terminator("\",").map(|label| {
            let (name, value) = label.split_once("=\"").expect("a label");
            (name, value.trim_end_matches('"'))
        });
        Self {
            name,
            labels: labels.collect(),
            value: value.parse().expect("a number"),
            text: value,
        }
    }

    pub fn has(&self, labels: &[(&str, &str)]) -> bool {
        labels.iter().all(|it| self.labels.contains(it))
    }
}
