//! Forms: `multipart/form-data` (RFC 7578) and `application/x-www-form-urlencoded`.

use capictl::http::Url;

/// Returns the fields of a form, or what is wrong with it.
pub fn parse(content_type: &str, body: &[u8]) -> Result<Vec<(String, String)>, String> {
    let (media_type, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    match media_type.trim() {
        "multipart/form-data" => {
            let boundary = parameters
                .split(';')
                .find_map(|parameter| parameter.trim().strip_prefix("boundary="))
                .ok_or("the form has no boundary")?;
            multipart(boundary.trim_matches('"'), body)
        }
        "application/x-www-form-urlencoded" => Ok(url_encoded(
            std::str::from_utf8(body).map_err(|e| e.to_string())?,
        )),
        other => Err(format!("`{other}` is no form")),
    }
}

/// Returns the pairs of a query.
pub fn url_encoded(text: &str) -> Vec<(String, String)> {
    let url = Url::parse(&format!("http://host/?{text}")).unwrap();
    url.query_pairs().into_owned().collect()
}

fn multipart(boundary: &str, body: &[u8]) -> Result<Vec<(String, String)>, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let delimiter = format!("\r\n--{boundary}");
    // The first delimiter has no line break before it.
    let text = format!("\r\n{text}");
    let mut parts = text.split(&delimiter);
    if parts.next() != Some("") {
        return Err("the form does not begin with its boundary".into());
    }
    let mut fields = Vec::new();
    for part in parts {
        match part.strip_prefix("\r\n") {
            Some(part) => fields.push(field(part)?),
            None if part.trim_end() == "--" => return Ok(fields),
            None => return Err("a boundary is longer than it should be".into()),
        }
    }
    Err("the form has no end".into())
}

fn field(part: &str) -> Result<(String, String), String> {
    let (head, value) = part.split_once("\r\n\r\n").ok_or("a part has no body")?;
    let name = head
        .lines()
        .filter(|line| line.to_lowercase().starts_with("content-disposition:"))
        .find_map(|line| line.split("; name=\"").nth(1)?.split('"').next())
        .ok_or("a part has no name")?;
    Ok((name.to_owned(), value.to_owned()))
}
