//! Tasks as HBase's status pages list them with `format=json`, which the shell's `processlist` reads.

use crate::Asked;
use crate::server::Page;
use serde_json::json;

/// Something that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub description: String,
    pub status: String,
    pub started_ms: u64,
}

/// `filter`: `general` (by default), `handler`, `rpc`, `operation`, `all`. Calls are no tasks here: of their kinds there are none.
pub(crate) fn answer(asked: &Asked, tasks: Vec<Task>) -> Page {
    let tasks = match asked.get("filter").unwrap_or("general") {
        "general" | "all" => tasks,
        "handler" | "rpc" | "operation" => Vec::new(),
        other => {
            return Page::refused(format!("filter: {other} is none of general, handler, rpc, operation, all"));
        }
    };
    let task = |task: Task| {
        json!({
            "description": task.description,
            "status": task.status,
            "state": "RUNNING",
            "starttimems": task.started_ms,
            "statustimems": task.started_ms,
        })
    };
    Page::json(serde_json::Value::from_iter(tasks.into_iter().map(task)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_listed_by_kind() {
        let ask = |query: &str| {
            let task = Task { description: "Flushing \"t\"".to_owned(), status: "s".to_owned(), started_ms: 7 };
            answer(&Asked::parse(query).unwrap(), vec![task])
        };
        let all = json!([{
            "description": "Flushing \"t\"", "status": "s", "state": "RUNNING", "starttimems": 7, "statustimems": 7
        }]);
        for (query, want) in [("", &all), ("filter=all", &all), ("filter=handler", &json!([]))] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&ask(query).body).unwrap(), *want, "{query}");
        }
        assert_eq!(ask("filter=x").status, 400);
    }
}
