//! [`InfoServer`]: the info ports, on a thread of their own: gathering figures delays no call.

use crate::{Asked, Refused, STEP, Source, conf, html, jmx, prometheus, tasks};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

/// An answer.
#[derive(Debug)]
pub struct Page {
    pub(crate) status: u16,
    content_type: &'static str,
    pub(crate) body: String,
}

/// Pages that list tasks for programs, too.
const STATUS: [&str; 3] = ["/master-status", "/rs-status", "/regionserver.jsp"];

const PLAIN: &str = "text/plain; charset=utf-8";
/// A page runs and shows what this server's own files say, and nothing else, and stands in no other page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Page {
    pub(crate) fn json(body: String) -> Page {
        Page { status: 200, content_type: "application/json; charset=utf-8", body }
    }
    pub(crate) fn text(body: String) -> Page {
        Page { status: 200, content_type: PLAIN, body }
    }
    pub(crate) fn xml(body: String) -> Page {
        Page { status: 200, content_type: "text/xml; charset=utf-8", body }
    }
    pub(crate) fn html(body: String) -> Page {
        Page { status: 200, content_type: "text/html; charset=utf-8", body }
    }
    fn asset(content_type: &'static str, body: &str) -> Page {
        Page { status: 200, content_type, body: body.to_owned() }
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
        let headers = [
            (CONTENT_TYPE, self.content_type),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_FRAME_OPTIONS, "DENY"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        (status, headers, self.body).into_response()
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
            runtime.spawn(sample(source.clone()));
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

/// What the plots show is looked at whether or not somebody looks at them.
async fn sample(source: Arc<dyn Source>) {
    let mut ticks = tokio::time::interval(STEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        source.sample();
    }
}

type Shared = State<Arc<dyn Source>>;

fn router(source: Arc<dyn Source>) -> Router {
    let jmx = |State(source): Shared, RawQuery(query): RawQuery| async move {
        page(query, |asked| jmx::answer(asked, || source.records()))
    };
    let prometheus = |State(source): Shared, RawQuery(query): RawQuery| async move {
        page(query, |asked| prometheus::answer(asked, || source.records()))
    };
    let conf = |State(source): Shared, RawQuery(query): RawQuery| async move {
        page(query, |asked| conf::answer(asked, source.settings(), source.tabs()))
    };
    let home = |State(source): Shared| async move {
        let first = source.tabs().into_iter().next();
        first.map_or_else(
            || Page::absent("there is no page".to_owned()).into_response(),
            |tab| Redirect::temporary(&tab.to).into_response(),
        )
    };
    let view = |State(source): Shared, uri: Uri, RawQuery(query): RawQuery| async move {
        page(query, |asked| view(source.as_ref(), uri.path(), asked))
    };
    Router::new()
        .route("/", get(home))
        .route("/jmx", get(jmx))
        .route("/prometheus", get(prometheus))
        .route("/conf", get(conf))
        .route("/static/martite.css", get(async || Page::asset("text/css; charset=utf-8", html::STYLE)))
        .route("/static/martite.js", get(async || Page::asset("text/javascript; charset=utf-8", html::SCRIPT)))
        .fallback(get(view))
        .with_state(source)
}

fn view(source: &dyn Source, path: &str, asked: &Asked) -> Page {
    if asked.get("format") == Some("json") && STATUS.contains(&path) {
        return tasks::answer(asked, source.tasks());
    }
    match source.view(path, asked) {
        Some(Ok(mut view)) => {
            view.tabs = source.tabs();
            Page::html(html::page(&view, path))
        }
        Some(Err(Refused::Wrong(why))) => Page::refused(why),
        Some(Err(Refused::Absent(why))) => Page::absent(why),
        Some(Err(Refused::Failed(why))) => Page { status: 500, content_type: PLAIN, body: why + "\n" },
        None => Page::absent(format!("{path}: there is no such page")),
    }
}

fn page(query: Option<String>, answer: impl FnOnce(&Asked) -> Page) -> Page {
    match Asked::parse(&query.unwrap_or_default()) {
        Ok(asked) => answer(&asked),
        Err(why) => Page::refused(why),
    }
}
