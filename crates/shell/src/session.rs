//! [`Session`]: what commands work with: the connection, made when first needed; the printer; the input.

use crate::commands;
use crate::failure::{Failure, Run};
use crate::formatter::Formatter;
use crate::language::{Raise, Value};
use martite_catalog::TableName;
use martite_client::{Admin, Connection, Options, Table};
use martite_proto as pb;
use std::collections::VecDeque;
use std::future::Future;
use std::time::{Duration, Instant};

/// How a session is set up.
#[derive(Debug, Clone)]
pub struct Setup {
    pub options: Options,
    /// Errors are printed and the session goes on; else the first ends it.
    pub interactive: bool,
    /// Timestamps as numbers (`hbase.shell.timestamp.format.epoch`).
    pub epoch_timestamps: bool,
    pub debug: bool,
}

/// Where lines come from that a command asks for.
pub trait Input {
    fn read_line(&mut self) -> Option<String>;
}

/// Lines that are there already.
impl Input for VecDeque<String> {
    fn read_line(&mut self) -> Option<String> {
        self.pop_front()
    }
}

pub struct Session {
    pub setup: Setup,
    pub print: Formatter,
    pub input: Box<dyn Input>,
    runtime: Option<tokio::runtime::Runtime>,
    connection: Option<Connection>,
    started: Instant,
    ended: Option<Instant>,
}

impl Session {
    pub fn new(setup: Setup, print: Formatter, input: Box<dyn Input>) -> Session {
        Session { setup, print, input, runtime: None, connection: None, started: Instant::now(), ended: None }
    }

    /// Waits for something asynchronous: nothing else goes on meanwhile. At a terminal ^C ends the waiting.
    pub fn wait<T>(&mut self, future: impl Future<Output = Result<T, martite_client::Error>>) -> Run<T> {
        let runtime = match &self.runtime {
            Some(runtime) => runtime,
            None => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|e| Failure::runtime(format!("no event loop: {e}")))?;
                self.runtime.insert(runtime)
            }
        };
        let at_terminal = self.print.is_terminal();
        runtime.block_on(async {
            tokio::select! {
                result = future => result.map_err(Failure::from),
                () = interrupted(), if at_terminal => Err(Failure::runtime("interrupted")),
            }
        })
    }

    /// The connection to the cluster.
    pub fn connection(&mut self) -> Run<Connection> {
        if let Some(connection) = &self.connection {
            return Ok(connection.clone());
        }
        let options = self.setup.options.clone();
        let connection = self.wait(async { Connection::new(options) })?;
        self.connection = Some(connection.clone());
        Ok(connection)
    }

    pub fn admin(&mut self) -> Run<Admin> {
        Ok(self.connection()?.admin())
    }

    pub fn table(&mut self, name: &str) -> Run<Table> {
        let name = TableName::parse(name)?;
        Ok(self.connection()?.table(name))
    }

    /// A line of the input, without its end.
    pub fn read_line(&mut self) -> Option<String> {
        self.print.flush();
        self.input.read_line()
    }

    /// Time counts from here: what came before was only preparation.
    pub fn restart_clock(&mut self) {
        self.started = Instant::now();
    }

    /// Time does not count any more.
    pub fn stop_clock(&mut self) {
        self.ended = Some(Instant::now());
    }

    /// Runs a command with everything that belongs to it: its time, its error in words.
    pub fn run(&mut self, command: &commands::Command, arguments: Vec<Value>) -> Result<Value, Failure> {
        self.started = Instant::now();
        self.ended = None;
        let first = arguments.first().map(Value::to_text);
        let result = match command.arity.check(arguments.len()) {
            Ok(()) => (command.run)(self, commands::Arguments::new(arguments)),
            Err(raise) => Err(raise.into()),
        };
        let result = match result {
            Err(Failure::Exit(code)) => Err(Failure::Exit(code)),
            Err(failure) => self.failed(command, &failure, first.as_deref()).map(|()| Value::Nil),
            Ok(value) => Ok(value),
        };
        let took = self.ended.unwrap_or_else(Instant::now).saturating_duration_since(self.started);
        self.took(took);
        result
    }

    fn took(&mut self, took: Duration) {
        self.print.puts(format!("Took {:.4} seconds", took.as_secs_f64()));
        self.print.flush();
    }

    fn failed(&mut self, command: &commands::Command, failure: &Failure, first: Option<&str>) -> Result<(), Failure> {
        let raise = self.in_words(failure, first);
        if !self.setup.interactive {
            return Err(raise.into());
        }
        self.print.puts(format!("\nERROR: {}", raise.message));
        if self.setup.debug {
            self.print.puts(format!("{}: {failure:?}", raise.class));
        }
        self.print.puts(format!("\nFor usage try 'help \"{}\"'\n", command.name));
        Ok(())
    }

    fn in_words(&mut self, failure: &Failure, first: Option<&str>) -> Raise {
        if failure.is("NoSuchColumnFamilyException")
            && let Some(families) = first.and_then(|table| self.families_of(table))
        {
            let names: Vec<String> = families.iter().map(|f| format!("{f}:*")).collect();
            return Raise::runtime(format!("Unknown column family! Valid column names: {}", names.join(", ")));
        }
        crate::failure::translate(failure, first)
    }

    /// The names of a table's families, if they can be had.
    pub fn families_of(&mut self, table: &str) -> Option<Vec<String>> {
        let name = TableName::parse(table).ok()?;
        let connection = self.connection().ok()?;
        let request = pb::GetTableDescriptorsRequest { table_names: vec![name.to_proto()], ..Default::default() };
        let call = async { connection.master_call("MasterService", "GetTableDescriptors", &request).await };
        let answer: pb::GetTableDescriptorsResponse = self.wait(call).ok()?;
        let families = &answer.table_schema.first()?.column_families;
        Some(families.iter().map(|family| String::from_utf8_lossy(&family.name).into_owned()).collect())
    }
}

/// Until ^C; forever, where it cannot be noticed.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
