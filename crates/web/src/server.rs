//! [`InfoServer`]: the info ports, on a thread of their own: gathering figures delays no call.

use crate::{Source, jmx, prometheus, query};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// An answer.
#[derive(Debug)]
pub struct Page {
    pub(crate) status: u16,
    content_type: &'static str,
    pub(crate) body: String,
}

const PLAIN: &str = "text/plain; charset=utf-8";

impl Page {
    pub(crate) fn json(body: String) -> Page {
        Page { status: 200, content_type: "application/json; charset=utf-8", body }
    }
    pub(crate) fn text(body: String) -> Page {
        Page { status: 200, content_type: PLAIN, body }
    }
    pub(crate) fn refused(why: String) -> Page {
        Page { status: 400, content_type: PLAIN, body: why + "\n" }
    }
    pub(crate) fn absent(why: String) -> Page {
        Page { status: 404, content_type: PLAIN, body: why + "\n" }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(CONTENT_TYPE, self.content_type)], self.body).into_response()
    }
}

/// Answers on its ports until it is dropped.
#[derive(Debug)]
pub struct InfoServer {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl InfoServer {
    /// Serves each source on its port.
    pub fn start(ports: Vec<(TcpListener, Arc<dyn Source>)>) -> io::Result<InfoServer> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        for (listener, source) in ports {
            listener.set_nonblocking(true)?;
            let entered = runtime.enter();
            let listener = tokio::net::TcpListener::from_std(listener)?;
            drop(entered);
            runtime.spawn(async move {
                if let Err(error) = axum::serve(listener, router(source)).await {
                    tracing::warn!(%error, "an info port is closed");
                }
            });
        }
        let run = move || {
            // Ends when the sender is dropped.
            let _ = runtime.block_on(stopped);
        };
        let thread = std::thread::Builder::new().name("info".to_owned()).spawn(run)?;
        Ok(InfoServer { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for InfoServer {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Shared = State<Arc<dyn Source>>;

fn router(source: Arc<dyn Source>) -> Router {
    let jmx = |State(source): Shared, RawQuery(query): RawQuery| async move {
        page(query, |fields| jmx::answer(fields, || source.records()))
    };
    let prometheus = |State(source): Shared, RawQuery(query): RawQuery| async move {
        page(query, |fields| prometheus::answer(fields, || source.records()))
    };
    Router::new().route("/jmx", get(jmx)).route("/prometheus", get(prometheus)).with_state(source)
}

fn page(query: Option<String>, answer: impl FnOnce(&[(String, String)]) -> Page) -> Page {
    match query::fields(&query.unwrap_or_default()) {
        Ok(fields) => answer(&fields),
        Err(why) => Page::refused(why),
    }
}
