//! Who may ask: only the page of this server, opened by somebody who knows the token.
//!
//! - The token is the first part of every path, and not in a header or a cookie: so pictures, modules and requests all
//!   carry it, and other servers of this machine, which share its cookies, never see it.
//! - The host must be this machine by its number or `localhost`. A page of another site whose name suddenly means this
//!   machine (DNS rebinding) has another name there.
//! - The origin, where the browser tells it, must be the page's own; and what changes something must be JSON, which
//!   forms of other sites cannot send (CSRF).

use std::net::IpAddr;

use crate::http::{Request, Response};

/// Letters of the token: 128 bits.
const TOKEN_BYTES: usize = 16;

/// What every request is measured by.
pub(crate) struct Guard {
    token: String,
    port: u16,
}

impl Guard {
    /// A guard for a port, with a new token.
    pub(crate) fn new(port: u16) -> std::io::Result<Guard> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Guard { token, port })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// What is asked for, behind the token; the error is what to answer.
    pub(crate) fn admit<'r>(&self, request: &'r Request) -> Result<&'r str, Response> {
        let refuse = |message: &str| Err(Response::refusal(403, message));
        let host = match request.header("host") {
            Some(host) if self.is_ours(host) => host,
            Some(_) => return refuse("this server is not known by that name"),
            None => return refuse("the request does not say which host it is for"),
        };
        if request.has("origin")
            && request.header("origin").and_then(|origin| origin.strip_prefix("http://")) != Some(host)
        {
            return refuse("requests of other pages are not answered");
        }
        // Browsers say where a request comes from: the page itself, or the address bar.
        if request.has("sec-fetch-site")
            && !matches!(request.header("sec-fetch-site"), Some("same-origin" | "none"))
        {
            return refuse("requests of other pages are not answered");
        }
        let rest = request.path.strip_prefix('/').unwrap_or_default();
        let (token, rest) = rest.split_once('/').unwrap_or((rest, ""));
        if !is_equal(token.as_bytes(), self.token.as_bytes()) {
            let page = include_str!("../page/refused.html");
            return Err(Response::new(403, "text/html; charset=utf-8", page.as_bytes()));
        }
        match request.method.as_str() {
            "GET" => Ok(rest),
            "POST" => match request.header("content-type") {
                Some(kind) if kind.split(';').next() == Some("application/json") => Ok(rest),
                _ => Err(Response::refusal(415, "what is sent must be application/json")),
            },
            _ => Err(Response::refusal(405, "there are only GET and POST here")),
        }
    }

    /// Whether a host is this machine, by a number or as `localhost`, and the port ours.
    fn is_ours(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return self.port == 80 && is_number(host) };
        port.parse() == Ok(self.port) && (name.eq_ignore_ascii_case("localhost") || is_number(name))
    }
}

fn is_number(name: &str) -> bool {
    let inside = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    inside.parse::<IpAddr>().is_ok()
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_of_machines_are_hosts() {
        let guard = Guard { token: "t".into(), port: 8080 };
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080", "192.168.1.2:8080"] {
            assert!(guard.is_ours(host), "{host}");
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:8080",
            "",
            ":",
            ":8080",
        ] {
            assert!(!guard.is_ours(host), "{host}");
        }
        assert!(is_equal(b"abc", b"abc") && !is_equal(b"abc", b"abd") && !is_equal(b"abc", b"ab"));
    }
}
