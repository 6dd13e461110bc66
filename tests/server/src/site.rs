//! What lies behind a path.

use crate::connection::Connection;
use crate::connections::Connections;
use crate::control;
use crate::flow::{Flow, whole};
use crate::journal::Journal;
use crate::log::Entry;
use crate::reply::{Received, Reply, reply};
use crate::run::Run;
use crate::scenario::Scenario;
use crate::scripts::Scripts;
use crate::step::Step;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::json;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

const LARGEST_BODY: usize = 64 << 20;

/// Everything that the connections share.
pub(crate) struct Site {
    born: Instant,
    /// The sockets of the port that fails.
    pub(crate) connections: Connections,
    pub(crate) control_connections: Connections,
    pub(crate) scripts: Scripts,
    pub(crate) run: watch::Sender<Arc<Run>>,
    /// Turns true when the listeners have to close; each holds a receiver while it lives.
    pub(crate) stop: watch::Sender<bool>,
    /// Turns true when the server has nothing left to do.
    pub(crate) ended: watch::Sender<bool>,
    dice: Mutex<fastrand::Rng>,
    journal: Option<Journal>,
}

/// Which of the two ports a request came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Fault,
    Control,
}

impl Site {
    pub(crate) fn new(scenario: Scenario, journal: Option<Journal>) -> Self {
        Self {
            journal,
            born: Instant::now(),
            connections: Connections::default(),
            control_connections: Connections::default(),
            scripts: Scripts::default(),
            dice: Mutex::new(fastrand::Rng::with_seed(scenario.seed)),
            run: watch::Sender::new(Arc::new(Run::new(scenario))),
            stop: watch::Sender::new(false),
            ended: watch::Sender::new(false),
        }
    }

    pub(crate) fn connections(&self, port: Port) -> &Connections {
        match port {
            Port::Fault => &self.connections,
            Port::Control => &self.control_connections,
        }
    }

    /// Answers one request, or leaves an order with its connection and never returns.
    pub(crate) async fn serve(
        self: Arc<Self>,
        port: Port,
        connection: Arc<Connection>,
        request: Request<Incoming>,
    ) -> Response<Flow> {
        let reply = if let Some(path) = request.uri().path().strip_prefix("/_/") {
            let path = path.to_owned();
            Reply::Respond(control::serve(&self, port, &connection, &path, request).await)
        } else if port == Port::Control {
            Reply::Respond(problem(StatusCode::NOT_FOUND, "the control port knows only /_/..."))
        } else {
            self.fail(&connection, request).await
        };
        match reply {
            Reply::Respond(response) => response,
            Reply::Leave(order) => {
                connection.on_order(order);
                pending().await
            }
        }
    }

    async fn fail(&self, connection: &Connection, request: Request<Incoming>) -> Reply {
        let arrived = Instant::now();
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, LARGEST_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return Reply::Respond(closing(too_large())),
        };
        let number = self.journal.as_ref().map(|journal| journal.on_request(&head, body.len()));
        let received = Received { headers: head.headers.clone(), body: body.clone() };
        let Some(id) = script_id(head.uri.path()) else {
            return self.play(&received, number).await;
        };
        let step = self.scripts.on_request(id, |step| Entry {
            at_ms: (arrived - self.born).as_micros() as f64 / 1000.0,
            method: head.method.clone(),
            uri: head.uri.clone(),
            headers: head.headers.clone(),
            body,
            connection: connection.number,
            step,
        });
        match step {
            Some(step) => self.act(&step, &received, number).await,
            None => Reply::Respond(problem(StatusCode::NOT_FOUND, "no such script")),
        }
    }

    async fn act(&self, step: &Step, received: &Received, number: Option<u64>) -> Reply {
        let unit = self.dice.lock().unwrap_or_else(PoisonError::into_inner).f64();
        wait(step.latency.at(unit)).await;
        self.reply(step, received, number)
    }

    /// What the step replies to the request of this number, told to the journal before it goes out.
    fn reply(&self, step: &Step, received: &Received, number: Option<u64>) -> Reply {
        let reply = reply(step, received);
        if let (Some(journal), Some(number)) = (&self.journal, number) {
            journal.on_reply(number, step, &reply);
        }
        reply
    }

    /// Answers by the scenario.
    async fn play(&self, received: &Received, number: Option<u64>) -> Reply {
        let host = received.headers.get("x-host");
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or("-");
        let run = Arc::clone(&self.run.borrow());
        let Some(draw) = run.on_request(Instant::now(), host) else {
            // The phase went down while the request came in; its socket is being reset.
            return pending().await;
        };
        if let Some(work) = draw.work {
            // Fails only when the runtime itself ends.
            let _ = work.await;
        }
        wait(draw.latency).await;
        self.reply(&draw.step, received, number)
    }
}

/// A JSON answer of our own about what is wrong with a request.
pub(crate) fn problem(status: StatusCode, message: impl std::fmt::Display) -> Response<Flow> {
    json_response(status, &json!({"error": message.to_string()}))
}

pub(crate) fn json_response(status: StatusCode, value: &serde_json::Value) -> Response<Flow> {
    let mut response = Response::new(whole(value.to_string()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
    response
}

/// What is left of a refused body is not read: the connection ends with the answer.
pub(crate) fn closing(mut response: Response<Flow>) -> Response<Flow> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn too_large() -> Response<Flow> {
    let message = format!("the body did not come whole, or is longer than {LARGEST_BODY} bytes");
    problem(StatusCode::PAYLOAD_TOO_LARGE, message)
}

fn script_id(path: &str) -> Option<&str> {
    path.strip_prefix("/s/").and_then(|rest| rest.split('/').next())
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}
