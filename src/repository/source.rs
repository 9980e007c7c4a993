//! Templates from anywhere: what `--from` names.

use std::io;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::contents::Link;
use super::fetcher;
use super::github::GitHub;
use super::server::Server;
use super::{Error, File, Reason, Settings, disk};
use crate::error::suggest;
use crate::http::{Get, Url, display_url};

/// Pages of GitHub that show one file or folder of a branch, tag or commit.
const VIEWS: [&str; 4] = ["blob", "tree", "blame", "edit"];

/// Reads a template.
///
/// `-` is standard input. A path or `file:` URL is read from disk. Of GitHub's addresses, the pages of files
/// (`/{owner}/{repository}/blob/{ref}/{path}`), raw files and assets (`.../releases/download/{tag}/{file}`) are
/// understood, from private repositories too when there is a token for the host. Any other http(s) URL is fetched as it
/// is.
///
/// # Errors
/// There is no such file, it is a folder or a web page, or it is not UTF-8 text.
pub async fn fetch_template(
    from: &str,
    settings: &Settings,
    stdin: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Result<File, Error> {
    let enterprise = settings.enterprise.as_ref();
    let result = match Source::parse(from, enterprise.map(|enterprise| enterprise.host.as_str())) {
        Ok(Source::Stdin) => read_stdin(stdin),
        Ok(Source::Path(path)) => read_path(&path).await,
        Ok(Source::Url(url)) => fetch_url(&url, settings).await,
        Ok(Source::Contents(link)) => link.fetch(settings).await,
        Ok(Source::Raw(url, link)) => fetch_raw(&url, &link, settings).await,
        Ok(Source::Page(url, link)) => fetch_page(&url, &link, settings).await,
        Ok(Source::Asset(asset)) => asset.read(settings, &asset.version, &asset.file).await,
        Err(reason) => Err(reason),
    };
    result.map_err(|source| Error::Template {
        from: shown(from),
        source: Box::new(source),
    })
}

/// Returns what the user named, without what may be secret in it.
fn shown(from: &str) -> String {
    if !is_url(from) {
        return from.to_owned();
    }
    Url::parse(from).map_or_else(|_| without_secrets(from), |url| display_url(&url))
}

/// A text that is no valid URL may still have the password or token of the one that it was meant to be.
fn without_secrets(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.find("://").map_or(0, |at| at + "://".len());
            format!("{}{host}", &before[..scheme])
        }
        None => text.to_owned(),
    }
}

fn is_url(from: &str) -> bool {
    from.contains("://") || from.starts_with("file:")
}

#[derive(Debug, PartialEq, Eq)]
enum Source {
    Stdin,
    Path(PathBuf),
    Url(Url),
    /// A file in a repository.
    Contents(Link),
    /// The same by an address that gives the file itself, if it is public.
    Raw(Url, Link),
    /// An address of a host that nobody has called GitHub, but that looks like a page of one.
    Page(Url, Link),
    Asset(GitHub),
}

impl Source {
    /// Takes the text apart; `enterprise` is the host that the user has called GitHub Enterprise.
    fn parse(from: &str, enterprise: Option<&str>) -> Result<Self, Reason> {
        if from == "-" {
            return Ok(Self::Stdin);
        }
        if !is_url(from) {
            return Ok(Self::Path(from.into()));
        }
        let url = Url::parse(from).map_err(|_| Reason::NotAUrl)?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (host, _) => host.unwrap_or_default().to_owned(),
        };
        match (url.scheme(), host.as_str()) {
            ("file", _) => match url.to_file_path() {
                Ok(path) => Ok(Self::Path(path)),
                Err(()) => Err(Reason::NotAUrl),
            },
            ("http" | "https", "github.com" | "www.github.com") => {
                Self::parse_github(url, Server::dot_com())
            }
            ("https", "raw.githubusercontent.com") => Ok(Self::parse_raw(url)),
            ("https", host) if enterprise.is_some_and(|known| Server::at(known).is(host)) => {
                let server = Server::at(host);
                Self::parse_github(url, server)
            }
            ("https", host) => Ok(Self::parse_stranger(Server::at(host), url)),
            ("http", _) => Ok(Self::Url(url)),
            (scheme, _) => Err(Reason::Scheme(scheme.to_owned())),
        }
    }

    fn parse_github(url: Url, server: Server) -> Result<Self, Reason> {
        let decoded = segments(&url);
        let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
        match segments[..] {
            [owner, repository, view, ref route @ ..]
                if VIEWS.contains(&view) && route.len() > 1 =>
            {
                Ok(Self::Contents(link(server, owner, repository, route, &url)))
            }
            [owner, repository, "raw", ref route @ ..] if route.len() > 1 => {
                let link = link(server, owner, repository, route, &url);
                Ok(match link.server.is_dot_com() {
                    true => Self::Raw(url, link),
                    // Where everything is private, a page asks for a password.
                    false => Self::Contents(link),
                })
            }
            // A tag may have slashes.
            [
                owner,
                repository,
                "releases",
                "download",
                ref tag @ ..,
                file,
            ] if !tag.is_empty() => {
                let asset = GitHub::new(owner, repository, &tag.join("/"), file);
                Ok(Self::Asset(asset.on(server)))
            }
            // This leads to the file by itself.
            [_, _, "releases", "latest", "download", _] => Ok(Self::Url(url)),
            _ => Err(Reason::UnknownGitHubUrl(display_url(&url))),
        }
    }

    fn parse_raw(url: Url) -> Self {
        let decoded = segments(&url);
        let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
        match segments[..] {
            [owner, repository, ref route @ ..] if route.len() > 1 => {
                let link = link(Server::dot_com(), owner, repository, route, &url);
                Self::Raw(url, link)
            }
            _ => Self::Url(url),
        }
    }

    fn parse_stranger(server: Server, url: Url) -> Self {
        let decoded = segments(&url);
        let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
        match segments[..] {
            [owner, repository, "blob", ref route @ ..] if route.len() > 1 => {
                let link = link(server, owner, repository, route, &url);
                Self::Page(url, link)
            }
            _ => Self::Url(url),
        }
    }
}

/// Returns the segments of the path without escapes; empty ones, as of a slash at the end, mean nothing.
fn segments(url: &Url) -> Vec<String> {
    let segments = url.path_segments().into_iter().flatten();
    segments
        .filter(|segment| !segment.is_empty())
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
        .collect()
}

fn link(server: Server, owner: &str, repository: &str, route: &[&str], page: &Url) -> Link {
    Link {
        server,
        slug: format!("{owner}/{repository}"),
        route: route.iter().map(|&segment| segment.to_owned()).collect(),
        page: display_url(page),
    }
}

fn read_stdin(stdin: impl FnOnce() -> io::Result<Vec<u8>>) -> Result<File, Reason> {
    let bytes = stdin().map_err(Reason::Stdin)?;
    File::from_bytes(bytes, "standard input".into())
}

/// Reads a path as it is written, else as clusterctl would: as the path of a URL.
async fn read_path(path: &Path) -> Result<File, Reason> {
    if let Some(file) = disk::read_if_exists(path).await? {
        return Ok(file);
    }
    if let Some(meant) = path.to_str().and_then(path_of_reference)
        && let Some(file) = disk::read_if_exists(Path::new(&meant)).await?
    {
        return Ok(file);
    }
    Err(Reason::MissingPath {
        path: path.to_owned(),
        similar: similar(path).await,
    })
}

/// Returns the path that a URL reference means, if that is another one: without query and fragment, escapes decoded.
fn path_of_reference(text: &str) -> Option<String> {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8().ok()?;
    (!path.is_empty() && path != text).then(|| path.into_owned())
}

/// Returns the file beside a missing one whose name is most like it.
async fn similar(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let listed = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let names = disk::names_in(listed, std::fs::Metadata::is_file).await;
    let name = path.file_name()?.to_str()?;
    suggest(name, names.iter().map(String::as_str)).map(|name| folder.join(name))
}

async fn fetch_url(url: &Url, settings: &Settings) -> Result<File, Reason> {
    match settings.fetcher.listing(Get::new(url.as_str())).await {
        Err(fetcher::Error::WebPage { url }) => Err(Reason::WebPage { url, host: None }),
        answer => File::from_bytes(answer?.body, display_url(url)),
    }
}

/// The raw address costs no request of the API's; the API has what is private, and knows a folder.
async fn fetch_raw(url: &Url, link: &Link, settings: &Settings) -> Result<File, Reason> {
    match fetch_url(url, settings).await {
        Err(reason) if reason.is_not_found() && link.server.token(settings).is_none() => {
            Err(Reason::MissingUrl {
                url: link.page.clone(),
                authorized: false,
            })
        }
        Err(reason) if reason.is_not_found() || matches!(reason, Reason::WebPage { .. }) => {
            link.fetch(settings).await
        }
        answer => answer,
    }
}

/// The address as it is comes first. Only when that is no file is the host taken for a GitHub, which sees no token,
/// since nobody has said that it may.
async fn fetch_page(url: &Url, link: &Link, settings: &Settings) -> Result<File, Reason> {
    let refused = |reason: &Reason| match reason {
        Reason::WebPage { .. } => true,
        Reason::Http(error) => error
            .status()
            .is_some_and(|s| matches!(s.code, 401 | 403 | 404)),
        _ => false,
    };
    match fetch_url(url, settings).await {
        Err(reason) if refused(&reason) => match (link.fetch(settings).await, reason) {
            (Ok(file), _) => Ok(file),
            (Err(folder @ Reason::Folder { .. }), _) => Err(folder),
            (Err(_), Reason::WebPage { url, .. }) => Err(Reason::WebPage {
                url,
                host: Some(link.server.host().to_owned()),
            }),
            (Err(_), reason) => Err(reason),
        },
        answer => answer,
    }
}

/// What must hold of any text that `--from` may name, for the tests here and the fuzz target in `tests/fuzz`. Where
/// `secret` is in the text it is a secret: it may stand in a URL's credentials, query or fragment only.
#[cfg(any(test, fuzzing))]
pub fn assert_sound(from: &str, enterprise: &str, secret: &str) {
    use super::fetcher::Fetcher;
    use super::store::Store;
    use crate::http::Http;
    use crate::model::Secret;

    let fetcher = Fetcher::new(Http::new("test"), Store::new(None), true);
    let settings = Settings::new(fetcher, Some(Secret::new("public")), None).with_enterprise(Some(
        super::Enterprise {
            host: enterprise.to_owned(),
            token: Some(Secret::new("enterprise")),
        },
    ));
    assert!(!is_url(from) || !shown(from).contains(secret), "{from}");
    let named = Url::parse(from);
    match Source::parse(from, Some(enterprise)) {
        Ok(Source::Stdin) => assert_eq!(from, "-"),
        Ok(Source::Path(path)) => match is_url(from) {
            true => assert_eq!(named.map(|url| url.to_file_path()), Ok(Ok(path))),
            false => assert_eq!(path, Path::new(from)),
        },
        Ok(Source::Url(url)) => {
            assert!(matches!(url.scheme(), "http" | "https"), "{url}");
            assert_eq!(Ok(url), named);
        }
        Ok(Source::Contents(link) | Source::Raw(_, link) | Source::Page(_, link)) => {
            assert!(link.route.len() > 1, "{link:?}");
            assert!(!link.page.contains(secret), "{link:?}");
            let named = named.expect("it is a URL");
            assert_asks(&link.server, &named, &settings);
            let url =
                (link.server).repository_api(&link.slug, link.route.iter().map(String::as_str));
            let repositories = format!("{}/repos/", link.server.api());
            assert!(url.as_str().starts_with(&repositories), "{url}");
            assert_eq!(
                (url.query(), url.fragment(), url.username()),
                (None, None, "")
            );
        }
        Ok(Source::Asset(asset)) => {
            assert_asks(asset.server(), &named.expect("it is a URL"), &settings);
            assert!(!asset.location().contains(secret), "{asset:?}");
        }
        Err(reason) => assert!(!reason.to_string().contains(secret), "{from}: {reason}"),
    }
}

/// The API that is asked is that of the host that was named, and it sees the token that is meant for it or none.
#[cfg(any(test, fuzzing))]
fn assert_asks(server: &Server, named: &Url, settings: &Settings) {
    let host = named.host_str().expect("it is on a host");
    let port = named
        .port()
        .map_or(String::new(), |port| format!(":{port}"));
    let place = format!("{host}{port}");
    let token = server.token(settings).map(crate::model::Secret::expose);
    if ["github.com", "www.github.com", "raw.githubusercontent.com"].contains(&place.as_str()) {
        assert_eq!((server.host(), token), ("github.com", Some("public")));
        return;
    }
    assert_eq!((server.host(), named.scheme()), (place.as_str(), "https"));
    let enterprise = settings.enterprise.as_ref().expect("it is set above");
    let is_enterprise = place.eq_ignore_ascii_case(&enterprise.host);
    assert_eq!(token, is_enterprise.then_some("enterprise"), "{named}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTERPRISE: &str = "git.acme.example";

    /// Says in a few words what a text is taken for.
    fn read(from: &str) -> String {
        let at = |link: Link| {
            let host = link.server.host().to_owned();
            format!("{host} {} {}", link.slug, link.route.join(" | "))
        };
        match Source::parse(from, Some(ENTERPRISE)) {
            Ok(Source::Stdin) => "stdin".into(),
            Ok(Source::Path(path)) => format!("path {}", path.display()),
            Ok(Source::Url(url)) => format!("url {url}"),
            Ok(Source::Contents(link)) => format!("contents {}", at(link)),
            Ok(Source::Raw(_, link)) => format!("raw {}", at(link)),
            Ok(Source::Page(_, link)) => format!("page {}", at(link)),
            Ok(Source::Asset(asset)) => {
                let place = asset.location();
                format!("asset {place} {} {}", asset.version, asset.file)
            }
            Err(reason) => format!("error: {reason}"),
        }
    }

    #[track_caller]
    fn assert_reads(table: &[(&str, &str)]) {
        for (from, expected) in table {
            assert_eq!(read(from), *expected, "{from}");
        }
    }

    #[test]
    fn paths_and_file_urls_are_on_disk() {
        assert_reads(&[
            ("-", "stdin"),
            ("a/b c%20.yaml", "path a/b c%20.yaml"),
            ("./-", "path ./-"),
            ("C:\\x.yaml", "path C:\\x.yaml"),
            (
                "github.com/o/r/blob/main/x",
                "path github.com/o/r/blob/main/x",
            ),
            ("file:///a%20b.yaml", "path /a b.yaml"),
            ("file:/a.yaml", "path /a.yaml"),
            ("file://host/a.yaml", "error: it is not a valid URL"),
        ]);
        assert_eq!(path_of_reference("a%20b?x#y"), Some("a b".into()));
        assert_eq!(path_of_reference("a b"), None);
    }

    #[test]
    fn pages_of_files_are_read_by_the_api() {
        assert_reads(&[
            (
                "https://github.com/o/r/blob/main/x.yaml",
                "contents github.com o/r main | x.yaml",
            ),
            (
                "https://github.com/o/r/blob/f/x/y/z.yaml",
                "contents github.com o/r f | x | y | z.yaml",
            ),
            (
                "https://github.com/o/r/blob/a&b+c/x/y%20z.yaml?plain=1#L3-L9",
                "contents github.com o/r a&b+c | x | y z.yaml",
            ),
            (
                "https://github.com/o/r/blob/a%2Fb/x y.yaml?raw=true",
                "contents github.com o/r a/b | x y.yaml",
            ),
            (
                "https://github.com/o/r/blob/main/%E2%82%AC%23.yaml",
                "contents github.com o/r main | €#.yaml",
            ),
            (
                "https://github.com/o/r/blob/refs/heads/f/x.yaml",
                "contents github.com o/r refs | heads | f | x.yaml",
            ),
            (
                " https://GitHub.com/o/r//blob/main/x.yaml/ ",
                "contents github.com o/r main | x.yaml",
            ),
            (
                "http://www.github.com/o/r/blob/main/x.yaml",
                "contents github.com o/r main | x.yaml",
            ),
            (
                "https://github.com:443/o/r/blob/main/x.yaml",
                "contents github.com o/r main | x.yaml",
            ),
            (
                "https://me:pw@github.com/o/r/blob/main/x.yaml",
                "contents github.com o/r main | x.yaml",
            ),
            (
                "https://github.com/o/r/blob/main/../up/x.yaml",
                "contents github.com o/r up | x.yaml",
            ),
            (
                "https://github.com/o/r/tree/main/folder",
                "contents github.com o/r main | folder",
            ),
            (
                "https://github.com/o/r/edit/main/x.yaml",
                "contents github.com o/r main | x.yaml",
            ),
            (
                "https://github.com/o/r/blame/main/x.yaml",
                "contents github.com o/r main | x.yaml",
            ),
        ]);
    }

    #[test]
    fn raw_files_and_assets_have_addresses_of_their_own() {
        assert_reads(&[
            (
                "https://github.com/o/r/raw/main/x.yaml",
                "raw github.com o/r main | x.yaml",
            ),
            (
                "https://github.com/o/r/raw/refs/tags/v1/x.yaml",
                "raw github.com o/r refs | tags | v1 | x.yaml",
            ),
            (
                "https://raw.githubusercontent.com/o/r/main/x.yaml?token=t",
                "raw github.com o/r main | x.yaml",
            ),
            (
                "https://raw.githubusercontent.com/o/r",
                "url https://raw.githubusercontent.com/o/r",
            ),
            (
                "https://github.com/o/r/releases/download/v1.0.0/c.yaml",
                "asset https://github.com/o/r/releases v1.0.0 c.yaml",
            ),
            (
                "https://github.com/o/r/releases/download/a%2Fv1/c.yaml",
                "asset https://github.com/o/r/releases a/v1 c.yaml",
            ),
            (
                "https://github.com/o/r/releases/download/a/v1/c.yaml",
                "asset https://github.com/o/r/releases a/v1 c.yaml",
            ),
            (
                "https://github.com/o/r/releases/latest/download/c.yaml",
                "url https://github.com/o/r/releases/latest/download/c.yaml",
            ),
        ]);
    }

    #[test]
    fn other_hosts_are_github_when_the_user_says_so() {
        assert_reads(&[
            (
                "https://git.acme.example/o/r/blob/main/x.yaml",
                "contents git.acme.example o/r main | x.yaml",
            ),
            (
                "https://git.acme.example/o/r/raw/main/x.yaml",
                "contents git.acme.example o/r main | x.yaml",
            ),
            (
                "https://git.acme.example/o/r/releases/download/v1/c.yaml",
                "asset https://git.acme.example/o/r/releases v1 c.yaml",
            ),
            (
                "https://git.acme.example/x.yaml",
                "error: unknown github URL: `https://git.acme.example/x.yaml`",
            ),
            (
                "https://git.acme.example:8443/o/r/blob/main/x.yaml",
                "page git.acme.example:8443 o/r main | x.yaml",
            ),
            (
                "https://example.com/o/r/blob/main/x.yaml",
                "page example.com o/r main | x.yaml",
            ),
            (
                "https://example.com/o/r/raw/main/x.yaml",
                "url https://example.com/o/r/raw/main/x.yaml",
            ),
            (
                "https://github.com.evil.example/x.yaml",
                "url https://github.com.evil.example/x.yaml",
            ),
            (
                "http://example.com/o/r/blob/main/x.yaml?a=b",
                "url http://example.com/o/r/blob/main/x.yaml?a=b",
            ),
            (
                "https://gitlab.com/g/p/-/raw/main/x.yaml",
                "url https://gitlab.com/g/p/-/raw/main/x.yaml",
            ),
        ]);
    }

    #[test]
    fn other_urls_are_refused() {
        for (from, problem) in [
            ("https://github.com/o/r", "unknown github URL"),
            ("https://github.com/o/r/tree/main", "unknown github URL"),
            ("https://github.com/o/r/blob/main", "unknown github URL"),
            ("https://github.com/o/r/blob/main/", "unknown github URL"),
            (
                "https://github.com/o/r/releases/tag/v1",
                "unknown github URL",
            ),
            (
                "https://github.com/o/r/releases/download/c.yaml",
                "unknown github URL",
            ),
            ("ftp://example.com/x", "no way to read from `ftp:`"),
            ("https://", "not a valid URL"),
        ] {
            let read = read(from);
            assert!(read.contains(problem), "{from}: {read}");
        }
    }

    #[test]
    fn a_broken_url_is_shown_without_secrets() {
        for (from, expected) in [
            ("https://me:pw@a b/x?token=t#f", "https://a b/x"),
            ("https://me:p/w@host:port/x", "https://host:port/x"),
            ("https://a b/x", "https://a b/x"),
        ] {
            assert_eq!(shown(from), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn tokens_go_where_they_are_meant_to_go(
            beginning in proptest::sample::select(BEGINNINGS),
            words in proptest::collection::vec(proptest::sample::select(WORDS), 0..12),
            end in proptest::sample::select(&["", "?token=qZx7", "#qZx7"][..]),
        ) {
            let text = format!("{beginning}{}{end}", words.concat());
            assert_sound(&text, ENTERPRISE, "qZx7");
        }
    }

    #[rustfmt::skip]
    const BEGINNINGS: &[&str] = &[
        "https://", "https://u:qZx7@", "http://u:qZx7@", "http://", "https://github.com/o/r/", "file://", "file:", "ftp://", "",
    ];
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "github.com", "www.github.com", "raw.githubusercontent.com", ENTERPRISE, "GIT.acme.example", "acme.ghe.com",
        "example.com", "[::1]", "://", ":443", ":8443", ":80", "@", "/", "//", "/o/r", "/blob/", "/tree/", "/raw/", "main/",
        "refs/heads/", "x.yaml", "/releases/download/", "v1/", "/releases/latest/download/", "..", "%2e%2e", "%2F", "%", "%FF",
        "\\", " ", "é", "-", "%00",
    ];
}
