//! Four real servers with four passwords: two on this machine, one behind `ssh`, one behind nginx with TLS of a
//! private authority and a base path. All are read and acted on, and no password is anywhere.
//!
//! Needs `sshd` and `nginx` (Debian: openssh-server and nginx-light), started with files of their own in a
//! temporary folder; nothing of the system's is read or written.

use crate::drive::request;
use crate::install;
use crate::screen::Screen;
use crate::server::{OpenCode, free_port, several};
use crate::support::{PATIENCE, eventually};
use portable_pty::CommandBuilder;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const PASSWORDS: [&str; 4] = [
    "sesame-one-5521",
    "sesame-two-7714",
    "sesame-ssh-9038",
    "sesame-tls-3349",
];
const NAMES: [&str; 4] = ["one", "two", "home", "front"];
/// Holds a program and ends it when our end of the pipe closes, however that comes.
const KEEPER: &str = r#""$@" </dev/null & child=$!; read -r _; kill "$child"; wait "$child""#;

/// A program that ends with this value.
struct Kept(Child);

impl Kept {
    fn start(program: &Path, arguments: &[&str], log: &Path) -> Self {
        let log = fs::File::create(log).unwrap();
        let mut sh = Command::new("sh");
        sh.args(["-c", KEEPER, "sh"]).arg(program).args(arguments);
        sh.stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0);
        Self(sh.spawn().expect("a shell"))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}

/// A program of Debian's; without it the test says what to install.
fn program(name: &str, package: &str) -> PathBuf {
    let folders = install::path();
    let folders = folders
        .split(':')
        .chain(["/usr/sbin", "/sbin", "/usr/local/sbin"]);
    let found = folders
        .map(|it| Path::new(it).join(name))
        .find(|it| it.is_file());
    found.unwrap_or_else(|| {
        panic!("no {name}: install Debian's {package}, or leave the live tests out (OCWATCH_SKIP_LIVE=1)")
    })
}

/// Everything of this test but the servers.
struct Stage {
    folder: tempfile::TempDir,
    _sshd: Kept,
    _nginx: Kept,
}

impl Stage {
    fn new(behind_ssh: &OpenCode, behind_nginx: &OpenCode) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("ocwatch-far-")
            .tempdir()
            .unwrap();
        for name in ["ssh", "nginx", "secrets", "watcher", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let (sshd, ssh_port) = sshd(&folder.path().join("ssh"));
        let (nginx, tls_port) = nginx(&folder.path().join("nginx"), behind_nginx);
        let stage = Self {
            folder,
            _sshd: sshd,
            _nginx: nginx,
        };
        for port in [ssh_port, tls_port] {
            eventually("it listens", PATIENCE, || {
                TcpStream::connect(("127.0.0.1", port))
                    .map_err(|why| format!("{why}: {}", stage.logs()))
            });
        }
        stage.ssh_config(ssh_port);
        stage.configure(behind_ssh, tls_port);
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn logs(&self) -> String {
        let logs = ["ssh/log", "nginx/log"].map(|it| fs::read_to_string(self.at(it)));
        logs.into_iter().flatten().collect()
    }

    fn ssh_config(&self, port: u16) {
        let ssh = self.at("ssh");
        let key = fs::read_to_string(ssh.join("host.pub")).unwrap();
        private(&ssh.join("known"), &format!("[127.0.0.1]:{port} {key}"));
        let text = format!(
            "Host nas\n HostName 127.0.0.1\n Port {port}\n IdentityFile {0}/id\n IdentitiesOnly yes\n UserKnownHostsFile {0}/known\n",
            ssh.display()
        );
        private(&ssh.join("config"), &text);
    }

    /// One password in a variable, one in a URL, two in files.
    fn configure(&self, behind_ssh: &OpenCode, tls_port: u16) {
        let secrets = self.at("secrets");
        for n in 2..4 {
            private(&secrets.join(NAMES[n]), PASSWORDS[n]);
        }
        let port = behind_ssh.url.rsplit(':').next().unwrap();
        let text = format!(
            "[ssh]\ncommand = [\"ssh\", \"-F\", \"{ssh}/config\"]\n\
             [[server]]\nname = \"one\"\nurl = \"$ONE\"\npassword_env = \"ONE_PASSWORD\"\n\
             [[server]]\nname = \"two\"\nurl = \"$TWO\"\n\
             [[server]]\nname = \"home\"\nurl = \"ssh://nas/{port}\"\npassword_file = \"home\"\n\
             [[server]]\nname = \"front\"\nurl = \"https://localhost:{tls_port}/code/\"\npassword_file = \"front\"\nca_file = \"../nginx/ca.pem\"\n",
            ssh = self.at("ssh").display(),
        );
        private(&secrets.join("config.toml"), &text);
    }

    fn say_where(&self, one: &OpenCode, two: &OpenCode) {
        let path = self.at("secrets/config.toml");
        let two = two
            .url
            .replace("://", &format!("://opencode:{}@", PASSWORDS[1]));
        let text = fs::read_to_string(&path).unwrap();
        private(&path, &text.replace("$ONE", &one.url).replace("$TWO", &two));
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PATH", install::path()),
            ("HOME", self.at("watcher").display().to_string()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("ONE_PASSWORD", PASSWORDS[0].to_owned()),
        ]
    }

    fn words(&self) -> Vec<String> {
        let config = self.at("secrets/config.toml").display().to_string();
        ["--config", &config, "--log-level", "trace"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Runs the program to its end; nothing that it says holds a password.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ocwatch"));
        command
            .env_clear()
            .envs(self.environment())
            .current_dir(self.at("work"));
        let output = command.args(self.words()).args(arguments).output().unwrap();
        for said in [&output.stdout, &output.stderr] {
            clean(arguments[0], said);
        }
        output
    }

    /// Once all are read: a server that has just started may keep its first watcher waiting.
    fn status(&self) -> Value {
        eventually("all are read", PATIENCE, || {
            let output = self.run(&["status", "--json", "--timeout", "60"]);
            let read = output.status.success();
            let document = serde_json::from_slice(&output.stdout);
            let document = document.ok().filter(|_| read);
            document.ok_or_else(|| format!("{output:?}\n{}", self.logs()))
        })
    }

    fn dashboard(&self) -> Screen {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ocwatch"));
        command.env_clear();
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command.cwd(self.at("work"));
        command.args(self.words());
        Screen::start(command)
    }

    /// Every file that the program wrote: log, audit log, memory, exports.
    fn written(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.at("watcher"), self.at("work")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files
    }
}

fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Holds none of the passwords, also not as HTTP Basic says them.
fn clean(what: &str, bytes: &[u8]) {
    use base64::Engine;
    let text = String::from_utf8_lossy(bytes);
    for password in PASSWORDS {
        let basic =
            base64::engine::general_purpose::STANDARD.encode(format!("opencode:{password}"));
        let found = text.contains(password) || text.contains(&basic);
        assert!(!found, "{what} holds a password");
    }
}

fn sshd(folder: &Path) -> (Kept, u16) {
    let sshd = program("sshd", "openssh-server");
    for key in ["host", "id"] {
        let made = Command::new(program("ssh-keygen", "openssh-client"))
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(folder.join(key))
            .status();
        assert!(made.unwrap().success());
    }
    fs::copy(folder.join("id.pub"), folder.join("allowed")).unwrap();
    // Where it locks itself in before a login; only root needs and may make it.
    fs::create_dir_all("/run/sshd").ok();
    let port = free_port();
    let text = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {0}/host\nAuthorizedKeysFile {0}/allowed\nPidFile none\n\
         PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\n",
        folder.display()
    );
    private(&folder.join("sshd_config"), &text);
    let config = folder.join("sshd_config").display().to_string();
    let log = folder.join("log");
    (Kept::start(&sshd, &["-D", "-e", "-f", &config], &log), port)
}

fn nginx(folder: &Path, behind: &OpenCode) -> (Kept, u16) {
    let nginx = program("nginx", "nginx-light");
    let mut of = CertificateParams::new(Vec::new()).unwrap();
    of.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(of, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let shown = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let shown = shown.signed_by(&key, &authority).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    fs::write(folder.join("cert.pem"), shown.pem()).unwrap();
    private(&folder.join("key.pem"), &key.serialize_pem());
    let port = free_port();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let folders = kinds.map(|it| format!("{it}_temp_path {}/{it};", folder.display()));
    // Its workers are another user otherwise, who may not enter our folder.
    let user = if rustix::process::geteuid().is_root() {
        "user root;"
    } else {
        ""
    };
    let text = format!(
        "{user} daemon off; pid {0}/pid; error_log stderr; events {{}}\nhttp {{ access_log off; {1}\n\
         server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {0}/cert.pem; ssl_certificate_key {0}/key.pem;\n\
         location /code/ {{ proxy_pass {2}/; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; proxy_read_timeout 1h; }} }} }}\n",
        folder.display(),
        folders.join(" "),
        behind.url,
    );
    private(&folder.join("nginx.conf"), &text);
    let (config, prefix) = (folder.join("nginx.conf"), folder.display().to_string());
    let config = config.display().to_string();
    let log = folder.join("log");
    (
        Kept::start(&nginx, &["-c", &config, "-p", &prefix], &log),
        port,
    )
}

/// A new session of a server that wants this password, with a turn that hangs.
fn hanging(server: &OpenCode, password: &str, title: &str) -> String {
    let url = server
        .url
        .replace("://", &format!("://opencode:{password}@"));
    let folder = server.projects[0].display();
    let path = format!("/session?directory={folder}");
    let made = request("POST", &url, &path, Some(&json!({"title": title})), 60).unwrap();
    let made: Value = serde_json::from_str(&made.1).unwrap();
    let id = made["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "hang"}]});
    let path = format!("/session/{id}/prompt_async?directory={folder}");
    request("POST", &url, &path, Some(&prompt), 60).unwrap();
    id
}

/// What the process list tells of the programs that a process started, and they in turn.
fn children_are_clean(of: u32) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let all = all.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: &u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()
    };
    let pairs: Vec<(u32, u32)> = all.filter_map(|it| Some((it, parent(&it)?))).collect();
    let mut family = vec![of];
    let mut at = 0;
    while let Some(one) = family.get(at).copied() {
        family.extend(pairs.iter().filter(|it| it.1 == one).map(|it| it.0));
        at += 1;
    }
    for pid in &family {
        let told = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        clean("a command line", &told("cmdline"));
        if *pid != of {
            clean("the environment of a child", &told("environ"));
        }
    }
    family.len() - 1
}

/// All are live and nothing is found about them; every session runs.
fn all_run(stage: &Stage, ids: &[String]) {
    let document = eventually("all run", PATIENCE, || {
        let document = stage.status();
        let sessions = document["sessions"].as_array().unwrap();
        let busy = |it: &&Value| it["reported"]["type"] == "busy";
        let running: Vec<&Value> = sessions.iter().filter(busy).map(|it| &it["id"]).collect();
        let all = ids.iter().all(|id| running.contains(&&json!(id)));
        all.then_some(document.clone()).ok_or(document.to_string())
    });
    let servers = document["servers"].as_array().unwrap();
    assert_eq!(servers.len(), NAMES.len());
    for (server, name) in servers.iter().zip(NAMES) {
        assert_eq!(server["name"], name);
        assert_eq!(server["state"], "live", "{server:#}");
        assert_eq!(server["findings"], json!([]), "also not unsecured");
    }
}

/// All are on one screen; a session is exported from it; what it starts knows no password.
fn on_the_dashboard(stage: &Stage) {
    let mut screen = stage.dashboard();
    screen.until("all sessions", |it| {
        let text = it.contents();
        NAMES
            .iter()
            .all(|name| text.contains(&format!("far {name}")))
    });
    let pid = screen.child.process_id().unwrap();
    assert!(children_are_clean(pid) >= 2, "a shell and ssh");
    screen.press("e");
    eventually("an export", PATIENCE, || {
        screen.take("the export");
        let is_export = |it: &PathBuf| it.extension().is_some_and(|it| it == "json");
        let found = stage.written().iter().any(is_export);
        found.then_some(()).ok_or_else(|| screen.text())
    });
    screen.press("C");
    screen.until_text("opencode attach");
    clean("the screen", screen.text().as_bytes());
    // Alone: together with the next key it would be another one.
    screen.press("\x1b");
    screen.until("the dialog's end", |it| !it.contents().contains("Copied:"));
    screen.press("Q");
    assert_eq!(screen.end(), 0);
}

#[test]
fn servers_near_behind_ssh_and_behind_nginx_are_read_and_acted_on_and_no_password_is_told() {
    let Some(servers) = several(&PASSWORDS) else {
        return;
    };
    let stage = Stage::new(&servers[2], &servers[3]);
    stage.say_where(&servers[0], &servers[1]);
    let all = servers.iter().zip(PASSWORDS).zip(NAMES);
    let ids: Vec<String> = all
        .map(|((server, password), name)| hanging(server, password, &format!("far {name}")))
        .collect();
    all_run(&stage, &ids);
    on_the_dashboard(&stage);
    for id in &ids {
        for words in [&["export", id, "--force"][..], &["abort", id, "--yes"]] {
            let ran = stage.run(words);
            assert!(ran.status.success(), "{words:?}: {ran:?}\n{}", stage.logs());
        }
    }
    let rest = stage.status();
    let mut sessions = rest["sessions"].as_array().unwrap().iter();
    assert!(
        sessions.all(|it| it["reported"]["type"] == "idle"),
        "{rest:#}"
    );
    assert!(stage.run(&["log"]).status.success());
    let written = stage.written();
    let count = written.len();
    assert!(count >= 6, "a log, an audit log, exports: {written:?}");
    for path in &written {
        clean(&path.display().to_string(), &fs::read(path).unwrap());
    }
}
