//! Restricts which web pages may use the server. Every open page in a browser can send requests to a server on the same
//! machine or network, by Fetch and forms. A page with a host name that resolves to the server's address (DNS
//! rebinding) can also read the answers. Routes that change something or cost money therefore require a known host
//! name, and a known page as the sender.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::context::REQUEST_ID;
use crate::rejected::Rejected;
use crate::{App, SNAPSHOT_HEADER};

/// The header by which a browser reports whether a page of the same site sends the request (W3C, Fetch Metadata).
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The server's names and the pages that may use it.
#[derive(Debug, Clone, Default)]
pub struct SitePolicy {
    /// Host names of the server, with or without a port, in addition to `localhost` and IP addresses.
    pub hosts: Vec<HostName>,
    /// Pages of other sites.
    pub pages: AllowedPages,
}

/// The pages of other sites that may use the server.
#[derive(Debug, Clone, Default)]
pub struct AllowedPages {
    /// Whether every page may read the answers of unguarded routes.
    any: bool,
    /// The origins of pages that may use every route.
    named: Vec<PageOrigin>,
}

/// A host name with an optional port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    /// In lower case; an IPv6 address without its brackets.
    host: String,
    port: Option<u16>,
}

/// The origin of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOrigin {
    scheme: String,
    host: HostName,
}

impl HostName {
    /// Parses `maps.example.org`, `maps.example.org:8080` or `[::1]:8080`.
    pub fn parse(text: &str) -> Option<HostName> {
        let authority: Authority = text.parse().ok()?;
        let text = authority.as_str();
        let host = authority.host();
        let port = match text.strip_prefix(host)? {
            "" => None,
            rest => Some(rest.strip_prefix(':')?.parse().ok()?),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        (!host.is_empty()).then(|| HostName { host: host.to_ascii_lowercase(), port })
    }

    /// Returns whether it is a name or an address of the local machine.
    fn is_local(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self.host.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
    }

    /// Returns whether it is an IP address, which DNS rebinding cannot redirect.
    fn is_address(&self) -> bool {
        self.host.parse::<IpAddr>().is_ok()
    }
}

impl PageOrigin {
    /// Parses `https://maps.example.org`; the default port of a scheme may be omitted.
    pub fn parse(text: &str) -> Option<PageOrigin> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let host = HostName::parse(rest)?;
        let default = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        Some(PageOrigin { host: HostName { port: host.port.or(default), ..host }, scheme })
    }
}

impl AllowedPages {
    /// Parses a list of origins; `*` stands for any page, `none` for no page.
    ///
    /// # Errors
    /// Returns the text that is not a valid origin.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<AllowedPages, &'t str> {
        let mut pages = AllowedPages::default();
        for text in texts {
            match text.trim() {
                "*" => pages.any = true,
                "none" => {}
                text => pages.named.push(PageOrigin::parse(text).ok_or(text)?),
            }
        }
        Ok(pages)
    }

    /// Returns the CORS layer, which answers preflight requests and lets pages read answers.
    pub fn layer(&self) -> CorsLayer {
        let pages = self.clone();
        let may_read = move |origin: &HeaderValue, _: &axum::http::request::Parts| pages.name(origin);
        let origins = if self.any { AllowOrigin::any() } else { AllowOrigin::predicate(may_read) };
        CorsLayer::new()
            .allow_origin(origins)
            .allow_methods([Method::GET, Method::POST, Method::OPTIONS])
            // The requested headers are listed one by one, because `*` does not cover `Authorization`.
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers([header::CONTENT_LENGTH, header::RETRY_AFTER, SNAPSHOT_HEADER, REQUEST_ID])
            .max_age(Duration::from_secs(600))
    }

    /// Returns whether an origin is named, so that its pages may use every route.
    fn name(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(PageOrigin::parse);
        origin.is_some_and(|origin| self.named.contains(&origin))
    }
}

/// The reason why a request may not use a guarded route.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CrossSite {
    /// It is for a host name that the server does not have.
    Host,
    /// It comes from a page of another site.
    Page,
}

impl SitePolicy {
    fn has(&self, host: &HostName) -> bool {
        self.hosts.iter().any(|own| own.host == host.host && (own.port.is_none() || own.port == host.port))
    }

    /// Checks that a request is for a host name of this server and does not come from a page of another site.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), CrossSite> {
        let named = headers.get_all(header::HOST).iter().map(|host| host.to_str().ok());
        let hosts: Vec<Option<&str>> = named.chain(uri.authority().map(|host| Some(host.as_str()))).collect();
        let hosts: Option<Vec<HostName>> = hosts.into_iter().map(|host| HostName::parse(host?)).collect();
        let hosts = hosts.filter(|hosts| !hosts.is_empty()).ok_or(CrossSite::Host)?;
        if !hosts.iter().all(|host| host.is_local() || host.is_address() || self.has(host)) {
            return Err(CrossSite::Host);
        }
        // Pages from any port of the same machine are allowed: a program that serves them there can also send requests
        // itself.
        let may_use = |page: &PageOrigin| {
            let is_own =
                |host: &HostName| host.is_local() || self.has(host) || hosts.iter().any(|own| own.host == host.host);
            is_own(&page.host) || self.pages.named.contains(page)
        };
        let mut has_origin = false;
        for origin in headers.get_all(header::ORIGIN) {
            has_origin = true;
            let page = origin.to_str().ok().and_then(PageOrigin::parse);
            if !page.is_some_and(|page| may_use(&page)) {
                return Err(CrossSite::Page);
            }
        }
        // Images and links of other pages have no `Origin`, but browsers send `Sec-Fetch-Site` with them.
        if !has_origin && let Some(site) = headers.get(FETCH_SITE) {
            return if matches!(site.as_bytes(), b"none" | b"same-origin") { Ok(()) } else { Err(CrossSite::Page) };
        }
        if !has_origin && let Some(page) = headers.get(header::REFERER) {
            let page: Option<Uri> = page.to_str().ok().and_then(|page| page.parse().ok());
            let page =
                page.and_then(|page| PageOrigin::parse(&format!("{}://{}", page.scheme_str()?, page.authority()?)));
            return if page.is_some_and(|page| may_use(&page)) { Ok(()) } else { Err(CrossSite::Page) };
        }
        Ok(())
    }
}

/// Rejects requests on guarded routes that are for another host name, or come from a page of another site.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(route) = app.routes.of(&request).filter(|route| route.is_guarded) else { return next.run(request).await };
    let message = match app.settings.sites.check(request.uri(), request.headers()) {
        Ok(()) => return next.run(request).await,
        Err(CrossSite::Host) => {
            "the host name of the request (`Host`) is not allowed: the operator can allow it with --public-host"
        }
        Err(CrossSite::Page) => {
            "the request comes from a page of another site (`Origin`): the operator can allow it with --cors"
        }
    };
    let why = Rejected::Foreign(message);
    app.metrics.rejected(&why);
    route.wording.reject(&why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(hosts: &[&str], pages: &[&str]) -> SitePolicy {
        SitePolicy {
            hosts: hosts.iter().map(|host| HostName::parse(host).unwrap()).collect(),
            pages: AllowedPages::of(pages.iter().copied()).unwrap(),
        }
    }

    fn check(sites: &SitePolicy, headers: &[(&'static str, &str)]) -> Result<(), CrossSite> {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        sites.check(&Uri::from_static("/ask"), &headers.collect())
    }

    #[test]
    fn only_the_names_of_the_server_are_answered() {
        let own = sites(&["maps.example.org", "other.example:8080"], &["*"]);
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "a.localhost",
            "127.0.0.1:8080",
            "[::1]:8080",
            "192.168.1.5:8080",
            "[2001:db8::1]",
            "maps.example.org",
            "Maps.Example.Org.:443",
            "other.example:8080",
        ] {
            assert_eq!(check(&own, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "other.example",
            "other.example:80",
            "localhost.evil.example",
            "test",
            "maps.example.org.evil.example",
            "127.0.0.1.evil.example",
            "",
            "a b",
            "localhost:x",
            "x@localhost:1:2",
        ] {
            assert_eq!(check(&own, &[("host", host)]), Err(CrossSite::Host), "{host}");
        }
        assert_eq!(check(&own, &[]), Err(CrossSite::Host));
        let mut both = HeaderMap::new();
        both.append(header::HOST, HeaderValue::from_static("localhost"));
        both.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert_eq!(own.check(&Uri::from_static("/ask"), &both), Err(CrossSite::Host));
        let elsewhere = Uri::from_static("http://evil.example/ask");
        let local = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost"))]);
        assert_eq!(own.check(&elsewhere, &local), Err(CrossSite::Host));
    }

    #[test]
    fn only_known_pages_are_answered() {
        let own = sites(&["maps.example.org"], &["*", "https://friend.example", "http://friend.example:8000"]);
        let host = ("host", "192.168.1.5:8080");
        for origin in [
            "http://192.168.1.5:8080",
            "http://192.168.1.5:3000",
            "http://localhost:3000",
            "http://127.0.0.1",
            "http://[::1]:1",
            "https://maps.example.org",
            "https://friend.example",
            "https://friend.example:443",
            "http://friend.example:8000",
        ] {
            assert_eq!(check(&own, &[host, ("origin", origin)]), Ok(()), "{origin}");
        }
        for origin in [
            "null",
            "",
            "x",
            "https://evil.example",
            "http://friend.example",
            "https://friend.example:8443",
            "http://6.6.6.6",
            "https://friend.example.evil.example",
            "https://maps.example.org.evil.example",
            "file://",
            "http://localhost.evil.example",
            "*",
        ] {
            assert_eq!(check(&own, &[host, ("origin", origin)]), Err(CrossSite::Page), "{origin}");
        }
        assert_eq!(check(&own, &[host]), Ok(()), "no browser");
        // Images and links have no `Origin`. For a URL typed by the user, the site is `none`.
        for (site, expected) in [
            ("cross-site", Err(CrossSite::Page)),
            ("same-site", Err(CrossSite::Page)),
            ("same-origin", Ok(())),
            ("none", Ok(())),
        ] {
            assert_eq!(check(&own, &[host, ("sec-fetch-site", site)]), expected, "{site}");
        }
        let friend = [host, ("origin", "https://friend.example"), ("sec-fetch-site", "cross-site")];
        assert_eq!(check(&own, &friend), Ok(()));
        assert_eq!(check(&own, &[host, ("referer", "http://evil.example/page")]), Err(CrossSite::Page));
        assert_eq!(check(&own, &[host, ("referer", "http://192.168.1.5:8080/")]), Ok(()));
        assert_eq!(AllowedPages::of(["none", "friend.example"]).err(), Some("friend.example"));
    }
}
