//! Templates from anywhere: what `--from` names.

use std::io;
use std::path::{Path, PathBuf};

use super::github::{self, GitHub};
use super::{Error, File, Reason, Settings, disk};
use crate::http::{Get, Url, display_url};

/// Asks the contents API for the file itself in place of a description with the file in base64.
const RAW: &str = "application/vnd.github.raw+json";

/// Reads a template.
///
/// `-` is standard input. A path or `file:` URL is read from disk. Of `https://github.com`, files
/// (`/{owner}/{repository}/blob/{ref}/{path}`) and assets (`.../releases/download/{tag}/{file}`) are understood, from
/// private repositories too when there is a token. Any other http(s) URL is fetched as it is.
///
/// # Errors
/// There is no such file, it is a folder or a web page, or it is not UTF-8 text.
pub async fn fetch_template(
    from: &str,
    settings: &Settings,
    stdin: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Result<File, Error> {
    let result = match Source::parse(from) {
        Ok(Source::Stdin) => read_stdin(stdin),
        Ok(Source::Path(path)) => read_path(&path).await,
        Ok(Source::Url(url)) => fetch_url(url.as_str(), settings).await,
        Ok(Source::Contents { url, page }) => fetch_contents(&url, page, settings).await,
        Ok(Source::Asset(asset)) => asset.read(settings, &asset.version, &asset.file).await,
        Err(reason) => Err(reason),
    };
    result.map_err(|source| Error::Template {
        from: Url::parse(from).map_or_else(|_| from.to_owned(), |url| display_url(&url)),
        source: Box::new(source),
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Source {
    Stdin,
    Path(PathBuf),
    Url(Url),
    /// A file in a repository: URL of the contents API, and of the page that the user named.
    Contents {
        url: String,
        page: String,
    },
    Asset(GitHub),
}

impl Source {
    fn parse(from: &str) -> Result<Self, Reason> {
        if from == "-" {
            return Ok(Self::Stdin);
        }
        if !from.contains("://") && !from.starts_with("file:") {
            return Ok(Self::Path(from.into()));
        }
        let url = Url::parse(from).map_err(|_| Reason::NotAUrl)?;
        match (url.scheme(), url.host_str()) {
            ("file", _) => match url.to_file_path() {
                Ok(path) => Ok(Self::Path(path)),
                Err(()) => Err(Reason::NotAUrl),
            },
            ("https", Some("github.com")) => Self::parse_github(url),
            ("http" | "https", _) => Ok(Self::Url(url)),
            (scheme, _) => Err(Reason::Scheme(scheme.to_owned())),
        }
    }

    fn parse_github(url: Url) -> Result<Self, Reason> {
        let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        match segments[..] {
            [owner, repository, "blob", reference, ref path @ ..] if !path.is_empty() => {
                // Still escaped for a path; a query gives these two another meaning.
                let reference = reference.replace('&', "%26").replace('+', "%2B");
                let path = path.join("/");
                Ok(Self::Contents {
                    url: format!(
                        "{}/repos/{owner}/{repository}/contents/{path}?ref={reference}",
                        github::API
                    ),
                    page: display_url(&url),
                })
            }
            [owner, repository, "releases", "download", tag, file] => {
                Ok(Self::Asset(GitHub::new(owner, repository, tag, file)))
            }
            // These lead to files by themselves.
            [_, _, "raw", _, _, ..] | [_, _, "releases", "latest", "download", _] => {
                Ok(Self::Url(url))
            }
            _ => Err(Reason::UnknownGitHubUrl(display_url(&url))),
        }
    }
}

fn read_stdin(stdin: impl FnOnce() -> io::Result<Vec<u8>>) -> Result<File, Reason> {
    let bytes = stdin().map_err(Reason::Stdin)?;
    File::from_bytes(bytes, "standard input".into())
}

async fn read_path(path: &Path) -> Result<File, Reason> {
    let file = disk::read_if_exists(path).await?;
    file.ok_or_else(|| Reason::MissingPath(path.to_owned()))
}

async fn fetch_url(url: &str, settings: &Settings) -> Result<File, Reason> {
    let response = settings
        .http
        .get(Get::new(url))
        .await
        .map_err(Reason::Http)?;
    let origin = Url::parse(url).map_or_else(|_| url.to_owned(), |url| display_url(&url));
    if response.content_type().starts_with("text/html") {
        return Err(Reason::WebPage(origin));
    }
    File::from_bytes(response.body, origin)
}

async fn fetch_contents(url: &str, page: String, settings: &Settings) -> Result<File, Reason> {
    let response = github::get(settings, url, RAW).await?;
    // For a folder the API answers with a list, whatever was asked for.
    if response.content_type().starts_with("application/json") {
        return Err(Reason::Folder {
            path: page,
            contents: Vec::new(),
        });
    }
    File::from_bytes(response.body, page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(from: &str) -> Source {
        Source::parse(from).unwrap()
    }

    #[test]
    fn paths_and_file_urls_are_on_disk() {
        assert_eq!(parse("-"), Source::Stdin);
        assert_eq!(parse("a/b c%20.yaml"), Source::Path("a/b c%20.yaml".into()));
        assert_eq!(
            parse("file:///a%20b.yaml"),
            Source::Path("/a b.yaml".into())
        );
    }

    #[test]
    fn files_and_assets_of_github_are_recognised() {
        assert_eq!(
            parse("https://github.com/o/r/blob/a&b+c/x/y%20z.yaml?plain=1#L3"),
            Source::Contents {
                url: "https://api.github.com/repos/o/r/contents/x/y%20z.yaml?ref=a%26b%2Bc".into(),
                page: "https://github.com/o/r/blob/a&b+c/x/y%20z.yaml".into()
            }
        );
        assert_eq!(
            parse("https://github.com/o/r/releases/download/v1.0.0/c.yaml"),
            Source::Asset(GitHub::new("o", "r", "v1.0.0", "c.yaml"))
        );
        for plain in [
            "https://github.com/o/r/raw/main/x.yaml",
            "https://github.com/o/r/releases/latest/download/c.yaml",
            "https://example.com/o/r/blob/main/x.yaml",
            "http://example.com/x.yaml",
        ] {
            assert_eq!(parse(plain), Source::Url(Url::parse(plain).unwrap()));
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for (from, problem) in [
            ("https://github.com/o/r", "unknown github URL"),
            ("https://github.com/o/r/tree/main/x", "unknown github URL"),
            ("https://github.com/o/r/blob/main", "unknown github URL"),
            ("ftp://example.com/x", "no way to read from `ftp:`"),
            ("https://", "not a valid URL"),
        ] {
            let error = Source::parse(from).unwrap_err().to_string();
            assert!(error.contains(problem), "{from}: {error}");
        }
    }
}
