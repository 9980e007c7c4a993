//! A stand-in for GitHub, at the socket.
//!
//! It is a proxy that answers CONNECT for GitHub's hosts by itself, with certificates of a CA made for the occasion. A
//! program that is led to it by the variables of [`GitHub::environment`] talks to it as if it were GitHub: capictl as
//! well as clusterctl. Every request is recorded; any can be made to fail. Other hosts are refused, so nothing gets out.

// Every test target uses a part of this.
#![allow(dead_code)]

mod answers;
mod gitlab;
mod tunnel;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

use super::random::Random;

/// The stand-in; it stops when this is dropped.
pub struct GitHub {
    proxy_url: String,
    ca_pem: String,
    folder: TempDir,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub host: String,
    /// Path with query.
    pub path: String,
    pub authorization: Option<String>,
    pub user_agent: String,
    pub accept: String,
    pub range: Option<String>,
    pub if_range: Option<String>,
    pub if_none_match: Option<String>,
}

impl Request {
    /// Returns `host/path?query`.
    pub fn url(&self) -> String {
        format!("{}{}", self.host, self.path)
    }
}

/// What happens to a request in place of its answer.
#[derive(Debug, Clone)]
pub enum Failure {
    /// This status.
    Status(u16),
    /// This status with `Retry-After`, in seconds.
    RetryAfter(u16, u64),
    /// The API's refusal when no requests are left.
    RateLimit,
    /// The same with this status, and the time when there are requests again, in seconds since 1970.
    RateLimitUntil(u16, u64),
    /// A redirect.
    RedirectTo(String),
    /// The connection ends in the middle of the body.
    Cut,
    /// So, and the next answer is that of a file that has changed meanwhile.
    CutAndChanged,
    /// There is no answer at all.
    Silence,
    /// The connection is silent in the middle of the body, until [`GitHub::let_go`].
    Hold,
}

#[derive(Default)]
struct State {
    repositories: BTreeMap<String, Repository>,
    /// Those of GitLab, by `group/name`.
    projects: BTreeMap<String, gitlab::Project>,
    /// Texts at `go.example` and `web.example`, by host and path.
    texts: BTreeMap<String, String>,
    /// New names of repositories by their old ones.
    renamed: BTreeMap<String, String>,
    tokens: BTreeSet<String>,
    failures: Vec<(String, Failure, usize)>,
    requests: Vec<Request>,
    refused_hosts: Vec<String>,
    last_id: u64,
    chaos: Option<(Random, usize)>,
    /// Goes into the ETags of files.
    edition: u64,
    /// Tells answers that are held to go on.
    gate: watch::Sender<bool>,
    /// What the proxy answers to whoever wants to get anywhere.
    proxy_refusal: Option<u16>,
}

#[derive(Default)]
struct Repository {
    id: u64,
    private: bool,
    /// In the order of their making.
    releases: Vec<Release>,
    /// By reference and path.
    files: BTreeMap<(String, String), Vec<u8>>,
    /// The references that are tags; others are branches, or commits by their length.
    tags: BTreeSet<String>,
}

struct Release {
    id: u64,
    tag: String,
    draft: bool,
    assets: Vec<Asset>,
}

struct Asset {
    id: u64,
    name: String,
    bytes: Vec<u8>,
    /// Its upload has not ended.
    partial: bool,
}

impl State {
    fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn repository(&mut self, name: &str) -> &mut Repository {
        let id = self.new_id();
        self.repositories
            .entry(name.to_owned())
            .or_insert_with(|| Repository {
                id,
                ..Repository::default()
            })
    }

    fn add_asset(&mut self, repository: &str, tag: &str, name: &str, bytes: Vec<u8>) {
        let id = self.new_id();
        let release = self.release(repository, tag);
        release.assets.push(Asset {
            id,
            name: name.to_owned(),
            bytes,
            partial: false,
        });
    }

    fn release(&mut self, repository: &str, tag: &str) -> &mut Release {
        let id = self.new_id();
        let releases = &mut self.repository(repository).releases;
        let index = releases
            .iter()
            .position(|release| release.tag == tag)
            .unwrap_or_else(|| {
                releases.push(Release {
                    id,
                    tag: tag.to_owned(),
                    draft: false,
                    assets: Vec::new(),
                });
                releases.len() - 1
            });
        &mut releases[index]
    }
}

impl GitHub {
    /// Starts it, empty, on a free port.
    pub fn start() -> Self {
        let authority = tunnel::Authority::new();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), authority.ca_pem()).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy_url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = oneshot::channel();
        let ca_pem = authority.ca_pem();
        let shared = state.clone();
        let thread = std::thread::spawn(move || tunnel::run(listener, &authority, shared, stopped));
        Self {
            proxy_url,
            ca_pem,
            folder,
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the variables that lead a program here.
    pub fn environment(&self) -> [(&'static str, String); 3] {
        let ca_file = self.ca_file().display().to_string();
        [
            ("HTTPS_PROXY", self.proxy_url.clone()),
            ("NO_PROXY", String::new()),
            ("SSL_CERT_FILE", ca_file),
        ]
    }

    /// Returns the URL of the proxy.
    pub fn proxy_url(&self) -> &str {
        &self.proxy_url
    }

    /// Returns the certificate of the CA.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Returns the path of the CA's certificate.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Adds files to a release of `owner/repository`, which is made if need be.
    pub fn add_release(&self, repository: &str, tag: &str, files: &[(&str, &str)]) {
        let mut state = self.state();
        state.release(repository, tag);
        for (name, text) in files {
            state.add_asset(repository, tag, name, text.as_bytes().to_vec());
        }
    }

    /// Adds a release that is not published.
    pub fn add_draft(&self, repository: &str, tag: &str) {
        self.state().release(repository, tag).draft = true;
    }

    /// Lets the upload of a file of a release be under way still.
    pub fn begin_upload(&self, repository: &str, tag: &str, name: &str) {
        let mut state = self.state();
        state.add_asset(repository, tag, name, Vec::new());
        let assets = &mut state.release(repository, tag).assets;
        assets.last_mut().unwrap().partial = true;
    }

    /// Gives a repository another name, to which the old one leads from then on.
    pub fn rename(&self, old: &str, new: &str) {
        let mut state = self.state();
        let repository = state.repositories.remove(old).unwrap();
        state.repositories.insert(new.to_owned(), repository);
        state.renamed.insert(old.to_owned(), new.to_owned());
    }

    /// Adds the versions in a provider's folder of a local repository, `{version}/{file}`, as releases. Several folders
    /// can go into one repository.
    pub fn add_folder(&self, repository: &str, folder: &Path) {
        let mut state = self.state();
        for version in sorted_entries(folder) {
            let tag = file_name(&version);
            state.release(repository, &tag);
            for file in sorted_entries(&version) {
                let bytes = fs::read(&file).unwrap();
                state.add_asset(repository, &tag, &file_name(&file), bytes);
            }
        }
    }

    /// Adds a file to the contents of a repository at a branch, tag or commit.
    pub fn add_file(&self, repository: &str, reference: &str, path: &str, text: &str) {
        let mut state = self.state();
        let key = (reference.to_owned(), path.to_owned());
        let files = &mut state.repository(repository).files;
        files.insert(key, text.as_bytes().to_vec());
    }

    /// Adds a file as [`GitHub::add_file`] at a tag.
    pub fn add_tagged_file(&self, repository: &str, tag: &str, path: &str, text: &str) {
        self.add_file(repository, tag, path, text);
        self.state().repository(repository).tags.insert(tag.into());
    }

    /// Hides a repository from requests without a token.
    pub fn make_private(&self, repository: &str) {
        self.state().repository(repository).private = true;
    }

    /// Adds a version of a generic package to a project of GitLab, which is at `gitlab.acme.example`.
    pub fn add_package(&self, project: &str, name: &str, version: &str, files: &[(&str, &str)]) {
        self.add_package_of_status(project, name, version, "default", files);
    }

    /// Adds a version as [`GitHub::add_package`] does, of a status.
    pub fn add_package_of_status(
        &self,
        project: &str,
        name: &str,
        version: &str,
        status: &str,
        files: &[(&str, &str)],
    ) {
        let files = files.iter();
        let files = files.map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        let package = gitlab::Package {
            name: name.to_owned(),
            version: version.to_owned(),
            status: status.to_owned(),
            files: files.collect(),
        };
        let mut state = self.state();
        let project = state.projects.entry(project.to_owned()).or_default();
        project.packages.push(package);
    }

    /// Hides a project of GitLab from requests without a token.
    pub fn make_project_private(&self, project: &str) {
        let mut state = self.state();
        state
            .projects
            .entry(project.to_owned())
            .or_default()
            .private = true;
    }

    /// Adds a text at `https://go.example{path}`.
    pub fn add_list(&self, path: &str, text: &str) {
        self.add_text(&format!("go.example{path}"), text);
    }

    /// Adds a text at `https://{place}`, at the host `go.example` or `web.example`.
    pub fn add_text(&self, place: &str, text: &str) {
        let texts = &mut self.state().texts;
        texts.insert(place.to_owned(), text.to_owned());
    }

    /// Accepts a token; others are bad credentials.
    pub fn accept_token(&self, token: &str) {
        self.state().tokens.insert(token.to_owned());
    }

    /// Lets the next requests fail whose `host/path?query` contains a text.
    pub fn fail(&self, url_part: &str, failure: Failure, times: usize) {
        let failure = (url_part.to_owned(), failure, times);
        self.state().failures.push(failure);
    }

    /// Lets no more requests fail.
    pub fn recover(&self) {
        self.state().failures.clear();
    }

    /// Lets go on what [`Failure::Hold`] holds.
    pub fn let_go(&self) {
        self.state().gate.send_replace(true);
    }

    /// Lets the proxy refuse all connections with a status.
    pub fn refuse_connections(&self, status: u16) {
        self.state().proxy_refusal = Some(status);
    }

    /// Lets so many of a hundred requests fail, each in a way of its own.
    pub fn fail_at_random(&self, random: Random, percent: usize) {
        self.state().chaos = Some((random, percent));
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    /// Returns the URLs of the requests so far, and forgets them.
    pub fn take_urls(&self) -> Vec<String> {
        let requests = std::mem::take(&mut self.state().requests);
        requests.iter().map(Request::url).collect()
    }

    /// Returns the hosts that somebody wanted to reach and could not: those that are not GitHub's, or all.
    pub fn refused_hosts(&self) -> Vec<String> {
        self.state().refused_hosts.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}
