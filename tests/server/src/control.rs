//! The paths under `/_/`, which never fail.

use crate::connection::Connection;
use crate::flow::Flow;
use crate::invalid::{Invalid, parse};
use crate::run::Run;
use crate::scenario::Scenario;
use crate::script::Script;
use crate::site::{Port, Site, closing, json_response, problem};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const LARGEST_BODY: usize = 16 << 20;
const LONGEST_ID: usize = 128;
/// Time for the last answer to reach its client.
const FAREWELL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(1);

/// Answers the control request for `path`, which comes without its `/_/`.
pub(crate) async fn serve(
    site: &Arc<Site>,
    port: Port,
    connection: &Connection,
    path: &str,
    request: Request<Incoming>,
) -> Response<Flow> {
    let method = request.method().clone();
    let query = request.uri().query().unwrap_or("").to_owned();
    let Ok(body) = Limited::new(request.into_body(), LARGEST_BODY).collect().await else {
        let message = format!("a control body has at most {LARGEST_BODY} bytes");
        return closing(problem(StatusCode::PAYLOAD_TOO_LARGE, message));
    };
    let body = body.to_bytes();
    match (&method, path.split_once('/').unwrap_or((path, ""))) {
        (&Method::POST, ("script", id)) => on_script(site, id, &body),
        (&Method::GET, ("log", id)) => log(site, id),
        (&Method::DELETE, ("log", id)) => match site.scripts.on_clear(id) {
            true => done(),
            false => unknown_script(id),
        },
        (&Method::GET, ("connections", "")) => connections(site, port),
        (&Method::GET, ("timeline", "")) => timeline(site, &query),
        (&Method::POST, ("scenario", "")) => on_scenario(site, &body),
        (&Method::POST, ("start", "")) => {
            let scenario = site.run.borrow().scenario.clone();
            site.run.send_replace(Arc::new(Run::new(scenario)));
            done()
        }
        (&Method::POST, ("kill", "")) => on_kill(site, port, connection).await,
        _ => problem(StatusCode::NOT_FOUND, format_args!("no {method} /_/{path} here")),
    }
}

fn on_script(site: &Site, id: &str, body: &Bytes) -> Response<Flow> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if id.is_empty() || id.len() > LONGEST_ID || !id.bytes().all(allowed) {
        let message = format!(
            "the id of a script is {id:?}; allowed: 1 to {LONGEST_ID} letters, digits, - . _ ~"
        );
        return problem(StatusCode::BAD_REQUEST, message);
    }
    match parse::<Script>(body) {
        Err(invalid) => refused(&invalid),
        Ok(script) => match site.scripts.on_script(id, script, body.len()) {
            Ok(()) => done(),
            Err(_) => problem(StatusCode::INSUFFICIENT_STORAGE, "too many scripts"),
        },
    }
}

fn log(site: &Site, id: &str) -> Response<Flow> {
    let Some((entries, dropped)) = site.scripts.log(id) else {
        return unknown_script(id);
    };
    let mut response = json_response(StatusCode::OK, &entries);
    response.headers_mut().insert("x-dropped", HeaderValue::from(dropped));
    response
}

fn connections(site: &Site, port: Port) -> Response<Flow> {
    let (open, opened) = site.connections.count();
    let asking = usize::from(port == Port::Fault);
    let shown = json!({"open": open.saturating_sub(asking), "opened_total": opened});
    json_response(StatusCode::OK, &shown)
}

fn timeline(site: &Site, query: &str) -> Response<Flow> {
    let since = query.split('&').find_map(|pair| pair.strip_prefix("since_ms=")).unwrap_or("0");
    match since.parse::<u64>() {
        Ok(since_ms) => {
            let run = Arc::clone(&site.run.borrow());
            json_response(StatusCode::OK, &run.shown(Instant::now(), since_ms))
        }
        Err(_) => {
            let message = format!("since_ms is {since:?}; allowed: a whole number from 0");
            problem(StatusCode::BAD_REQUEST, message)
        }
    }
}

fn on_scenario(site: &Site, body: &Bytes) -> Response<Flow> {
    match parse::<Scenario>(body) {
        Err(invalid) => refused(&invalid),
        Ok(scenario) => {
            site.run.send_replace(Arc::new(Run::new(scenario)));
            done()
        }
    }
}

/// Closes the listeners, resets every socket but the asking one, answers, and ends.
async fn on_kill(site: &Arc<Site>, port: Port, connection: &Connection) -> Response<Flow> {
    site.stop.send_replace(true);
    // A port that another process took meanwhile would keep the listener waiting.
    let _ = timeout(PATIENCE, site.stop.closed()).await;
    let spared = |side| (port == side).then_some(connection.number);
    site.connections.cut(spared(Port::Fault));
    site.control_connections.cut(spared(Port::Control));
    let site = Arc::clone(site);
    tokio::spawn(async move {
        sleep(FAREWELL).await;
        site.ended.send_replace(true);
    });
    closing(done())
}

fn done() -> Response<Flow> {
    json_response(StatusCode::OK, &Value::Object(serde_json::Map::new()))
}

fn refused(invalid: &Invalid) -> Response<Flow> {
    problem(StatusCode::BAD_REQUEST, invalid)
}

fn unknown_script(id: &str) -> Response<Flow> {
    problem(StatusCode::NOT_FOUND, format_args!("there is no script {id:?}"))
}
