//! peer <store> <command> ...: one call on the Rust engine, one JSON line on stdout. See README.md.
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use datalium_strata::checkpoint::*;
use datalium_strata::context::{NodeContext, RunConfig};
use datalium_strata::graph::*;
use datalium_strata::history::{ChatMessage, HistoryStore, MessageRole};
use datalium_strata::schema::Checkpoint;
use datalium_strata::store::LeasedSave;
use datalium_strata::wait::{BoundaryOptions, WaitOptions};
use datalium_strata::{BoxFuture, StrataError};
use datalium_strata_memory::checkpoint::SqliteCheckpointStore;
use datalium_strata_memory::history::SqliteHistoryStore;
use datalium_strata_memory::postgres_store::{PostgresCheckpointStore, PostgresHistoryStore};
use datalium_strata_memory::redis_store::{RedisCheckpointStore, RedisHistoryStore};
use datalium_strata_memory::{Deltas, Offload, PostgresStoreOptions, RedisStoreOptions, SqliteStoreOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

// ---- states and graphs -------------------------------------------------------------------------------

#[derive(Clone, Serialize, Deserialize)]
struct Essay {
    topic: String,
    min_score: i64,
    #[serde(default)]
    revision: i64,
    #[serde(default)]
    score: i64,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    published: bool,
}

#[derive(Clone, Serialize, Deserialize)]
struct Order {
    order_id: String,
    amount: i64,
    #[serde(default = "new_status")]
    status: String,
    #[serde(default)]
    approved_by: Option<String>,
    #[serde(default)]
    paid: bool,
    #[serde(default)]
    tries: i64,
    #[serde(default)]
    log: Vec<String>,
}
fn new_status() -> String {
    "new".into()
}

#[derive(Clone, Serialize, Deserialize)]
struct Book {
    title: String,
    #[serde(default)]
    chapters: Vec<String>,
    #[serde(default = "seven")]
    quality: i64,
    #[serde(default)]
    printed: bool,
}
fn seven() -> i64 {
    7
}

/// Hangs for ever in the node named by --hang; every node first sleeps for --node-ms.
#[derive(Clone, Default)]
struct Hang {
    node: Option<String>,
    delay_ms: u64,
}
impl Hang {
    async fn at(&self, ctx: &NodeContext) {
        if self.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.delay_ms)).await;
        }
        if self.node.as_deref() == Some(ctx.node_path()) {
            println!("{}", json!({"hanging": ctx.node_path(), "idempotency_key": ctx.idempotency_key()}));
            pending::<()>().await;
        }
    }
}

fn node<S, F>(g: StateGraph<S>, name: &'static str, hang: &Hang, work: F) -> StateGraph<S>
where
    S: Clone + Send + Sync + 'static,
    F: Fn(S, &NodeContext) -> S + Send + Sync + 'static,
{
    let (hang, work) = (hang.clone(), Arc::new(work));
    g.add_async_node(name, move |s: S, ctx: NodeContext| {
        let (hang, work) = (hang.clone(), work.clone());
        async move {
            hang.at(&ctx).await;
            work(s, &ctx)
        }
    })
}

fn essay_nodes(h: &Hang) -> StateGraph<Essay> {
    let g = StateGraph::new();
    let g = node(g, "draft", h, |mut s: Essay, _| {
        s.revision += 1;
        s.notes.push(format!("draft {}", s.revision));
        s
    });
    let g = node(g, "review", h, |mut s: Essay, _| {
        s.score = (s.revision * 3).min(10);
        s
    });
    let g = node(g, "publish", h, |mut s: Essay, _| {
        s.published = true;
        s.notes.push("published".into());
        s
    });
    g.add_edge("draft", "review")
        .add_conditional_edge("review", "draft", |s| s.score < s.min_score)
        .add_edge("review", "publish")
}

fn step(name: &'static str, status: &'static str) -> impl Fn(Order, &NodeContext) -> Order + Send + Sync + 'static {
    move |mut s, _| {
        s.status = status.into();
        s.log.push(name.into());
        s
    }
}

fn order_nodes(h: &Hang) -> StateGraph<Order> {
    let g = StateGraph::new();
    let g = node(g, "receive", h, step("receive", "received"));
    let g = node(g, "price", h, step("price", "priced"));
    let g = node(g, "approve", h, step("approve", "awaiting_approval"));
    let g = node(g, "pay", h, |mut s: Order, ctx| {
        s.paid = true;
        s.status = "paid".into();
        if let Some(d) = ctx.decision() {
            s.approved_by = Some(d.reviewer.clone());
        }
        s.log.push("pay".into());
        s
    });
    let g = node(g, "ship", h, step("ship", "shipped"));
    let g = node(g, "refuse", h, step("refuse", "refused"));
    g.add_edge("receive", "price")
        .add_edge("price", "approve")
        .add_edge("approve", "pay")
        .add_edge("pay", "ship")
        .add_interrupt_boundary_with("approve", BoundaryOptions::new().with_reject("refuse"))
}

fn wait_nodes(h: &Hang) -> StateGraph<Order> {
    let g = node(StateGraph::new(), "receive", h, step("receive", "received"));
    let g = g.add_wait_for_event_with(
        "await_payment",
        "payment.received",
        WaitOptions::new().with_timeout(Duration::from_secs(90)).with_on_timeout("expire"),
    );
    let g = g.add_timer("cool_off", Duration::from_secs(60));
    let g = node(g, "ship", h, step("ship", "shipped"));
    let g = node(g, "expire", h, step("expire", "expired"));
    g.add_edge("receive", "await_payment")
        .add_edge("await_payment", "cool_off")
        .add_edge("cool_off", "ship")
}

fn book_nodes(h: &Hang) -> Result<StateGraph<Book>, StrataError> {
    let child = essay_nodes(h)
        .add_interrupt_boundary("review")
        .compile_with(CompileOptions::new().with_graph_id("essays").with_graph_version("7"))?;
    let g = node(StateGraph::new(), "plan", h, |mut s: Book, _| {
        s.chapters.push("plan".into());
        s
    });
    let g = g.add_subgraph(
        "write",
        child,
        |b: &Book| Essay {
            topic: b.title.clone(),
            min_score: b.quality,
            revision: 0,
            score: 0,
            notes: vec![],
            published: false,
        },
        |b: &Book, e: Essay| {
            let mut b = b.clone();
            b.chapters.push(format!("{} r{} s{} q{}", e.topic, e.revision, e.score, b.quality));
            b
        },
    );
    let g = node(g, "print", h, |mut s: Book, _| {
        s.printed = true;
        s
    });
    Ok(g.add_edge("plan", "write").add_edge("write", "print"))
}

// ---- stores ------------------------------------------------------------------------------------------

trait Full: CheckpointStore + CheckpointQuery {}
impl<T: CheckpointStore + CheckpointQuery> Full for T {}
struct Store(Arc<dyn Full>);
type R<T> = Result<T, CheckpointStoreError>;
impl CheckpointStore for Store {
    fn save(&self, c: Checkpoint) -> BoxFuture<'_, R<()>> {
        self.0.save(c)
    }
    fn load<'a>(&'a self, t: &'a str) -> BoxFuture<'a, R<Option<Checkpoint>>> {
        self.0.load(t)
    }
    fn load_latest<'a>(&'a self, t: &'a str) -> BoxFuture<'a, R<Option<LatestCheckpoint>>> {
        self.0.load_latest(t)
    }
    fn save_if_latest(&self, c: Checkpoint, e: Option<i64>) -> BoxFuture<'_, R<bool>> {
        self.0.save_if_latest(c, e)
    }
    fn try_acquire_lease<'a>(&'a self, t: &'a str, o: &'a str, ttl: Duration) -> BoxFuture<'a, R<LeaseAttempt>> {
        self.0.try_acquire_lease(t, o, ttl)
    }
    fn renew_lease<'a>(&'a self, l: &'a ThreadLease, ttl: Duration) -> BoxFuture<'a, R<Option<ThreadLease>>> {
        self.0.renew_lease(l, ttl)
    }
    fn release_lease<'a>(&'a self, l: &'a ThreadLease) -> BoxFuture<'a, R<bool>> {
        self.0.release_lease(l)
    }
    fn get_lease<'a>(&'a self, t: &'a str) -> BoxFuture<'a, R<Option<ThreadLease>>> {
        self.0.get_lease(t)
    }
    fn save_under_lease<'a>(&'a self, c: Checkpoint, l: &'a ThreadLease, e: Option<i64>) -> BoxFuture<'a, R<LeasedSave>> {
        self.0.save_under_lease(c, l, e)
    }
}
impl CheckpointQuery for Store {
    fn list_threads<'a>(&'a self, q: &'a ThreadQuery) -> BoxFuture<'a, R<ThreadPage>> {
        self.0.list_threads(q)
    }
    fn get_log<'a>(&'a self, t: &'a str, a: Option<i64>, l: usize) -> BoxFuture<'a, R<CheckpointLogPage>> {
        self.0.get_log(t, a, l)
    }
}

fn redis_parts(url: &str) -> (&str, &str) {
    url.split_once('#').unwrap_or((url, "strata"))
}

async fn open(url: &str, args: &Args) -> Result<Store, CheckpointStoreError> {
    let deltas = args.number("deltas").map(|n| Deltas::new().with_full_every(n as u32));
    let offload = args.number("offload").map(|n| Offload::new().with_threshold(n as usize));
    Ok(Store(if let Some(path) = url.strip_prefix("sqlite:") {
        let mut o = SqliteStoreOptions::new();
        if let Some(d) = deltas {
            o = o.with_deltas(d);
        }
        if let Some(x) = offload {
            o = o.with_offload(x);
        }
        Arc::new(SqliteCheckpointStore::open_with(path, o)?)
    } else if url.starts_with("postgres") {
        let mut o = PostgresStoreOptions::new();
        if let Some(d) = deltas {
            o = o.with_deltas(d);
        }
        if let Some(x) = offload {
            o = o.with_offload(x);
        }
        Arc::new(PostgresCheckpointStore::connect_with(url, o).await?)
    } else {
        let (url, prefix) = redis_parts(url);
        let mut o = RedisStoreOptions::new().with_prefix(prefix);
        if let Some(d) = deltas {
            o = o.with_deltas(d);
        }
        if let Some(x) = offload {
            o = o.with_offload(x);
        }
        Arc::new(RedisCheckpointStore::connect_with(url, o).await?)
    }))
}

// ---- rendering ---------------------------------------------------------------------------------------

fn error_json(e: &StrataError) -> Value {
    use StrataError::*;
    match e {
        NodeNotFound(t) => json!({"error": "node_not_found", "text": t}),
        CompilationFailed(t) => json!({"error": "compilation_failed", "text": t}),
        ExecutionAborted(t) => json!({"error": "execution_aborted", "text": t}),
        NoMatchingEdge(n) => json!({"error": "no_matching_edge", "node": n}),
        NodeFailed { node, attempts, message } => json!({"error": "node_failed", "node": node, "attempts": attempts, "message": message}),
        HopLimitExceeded { node, hops, limit } => json!({"error": "hop_limit_exceeded", "node": node, "hops": hops, "limit": limit}),
        other => json!({"error": "other", "text": format!("{other:?}")}),
    }
}
fn result_json<S: Serialize>(r: &GraphExecutionResult<S>) -> Value {
    match r {
        GraphExecutionResult::Completed(s) => json!({"outcome": "completed", "state": s}),
        GraphExecutionResult::Interrupted {
            suspended_node,
            next_node,
            frozen_state,
            waiting_at,
            wait,
            ..
        } => {
            json!({"outcome": "interrupted", "suspended_node": suspended_node, "next_node": next_node, "state": frozen_state, "waiting_at": waiting_at, "wait": wait})
        }
        GraphExecutionResult::Failed(e) => {
            let mut v = error_json(e);
            v["outcome"] = json!("failed");
            v
        }
        GraphExecutionResult::Cancelled {
            node,
            reason,
            state,
            stopped_at,
            ..
        } => json!({"outcome": "cancelled", "node": node, "reason": format!("{reason:?}").to_lowercase(), "state": state, "stopped_at": stopped_at}),
    }
}

// ---- the command line --------------------------------------------------------------------------------

struct Args {
    plain: Vec<String>,
    options: Vec<(String, String)>,
}
impl Args {
    fn parse() -> Self {
        let (mut plain, mut options) = (vec![], vec![]);
        let mut it = std::env::args().skip(1);
        while let Some(a) = it.next() {
            match a.strip_prefix("--") {
                Some("reject" | "log" | "bounds") => options.push((a[2..].to_string(), String::new())),
                Some(name) => options.push((name.to_string(), it.next().unwrap_or_default())),
                None => plain.push(a),
            }
        }
        Self { plain, options }
    }
    fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
    fn all(&self, name: &str) -> Vec<(&str, &str)> {
        self.options
            .iter()
            .filter(|(n, _)| n == name)
            .map(|(_, v)| v.split_once('=').unwrap_or((v, "")))
            .collect()
    }
    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)
            .map(|v| v.parse().unwrap_or_else(|_| usage(&format!("--{name} needs a number"))))
    }
    fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(n, _)| n == name)
    }
}
fn usage(why: &str) -> ! {
    eprintln!("{why}\nusage: peer <store> start|resume|signal|wake|recover|end|checkpoint|list|definition|history ... (README.md)");
    std::process::exit(2)
}
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| usage(&format!("not JSON: {text}")))
}

fn config(a: &Args) -> RunConfig {
    let mut c = RunConfig::new();
    if let Some(n) = a.number("limit") {
        c = c.with_max_node_hops(n as u32);
    }
    for (k, v) in a.all("metadata") {
        c = c.with_metadata(k, v);
    }
    if let Some(id) = a.get("run-id") {
        c = c.with_run_id(id);
    }
    if let Some(o) = a.get("lease") {
        c = c.with_lease(LeaseOptions::new(o, Duration::from_millis(a.number("ttl-ms").unwrap_or(30_000))));
    }
    c
}
fn signal(a: &Args) -> HumanSignal {
    let who = a.get("reviewer").unwrap_or("rust@example.com");
    let mut s = if a.has("reject") {
        HumanSignal::reject(who)
    } else {
        HumanSignal::approve(who)
    };
    for (k, v) in a.all("override") {
        s = s.with_override(k, value(v));
    }
    s
}
fn compile<S: Clone + Send + Sync + 'static>(g: StateGraph<S>, id: &str, a: &Args) -> CompiledGraph<S> {
    let mut o = CompileOptions::new();
    let id = a.get("graph-id").unwrap_or(id);
    if !id.is_empty() {
        o = o.with_graph_id(id).with_graph_version(a.get("graph-version").unwrap_or("1"));
    }
    if !a.has("bounds") {
        o = o.with_checkpointing(CheckpointPolicy::EveryNode);
    }
    if let Some(n) = a.number("compiled-limit") {
        o = o.with_max_node_hops(n as u32);
    }
    g.compile_with(o).unwrap_or_else(|e| usage(&format!("{e:?}")))
}

/// The commands that need a graph.
async fn on_graph<S>(g: CompiledGraph<S>, store: Store, a: &Args) -> Value
where
    S: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    let store = Arc::new(store);
    let thread = || a.plain.get(3).cloned().unwrap_or_else(|| usage("which thread?"));
    match a.plain[1].as_str() {
        "start" => {
            let s: S = serde_json::from_value(value(a.get("state").unwrap_or("{}"))).unwrap_or_else(|e| usage(&format!("--state: {e}")));
            result_json(&g.run_with(thread(), s, store, config(a)).await)
        }
        "resume" => result_json(&g.resume_with(thread(), signal(a), store, config(a)).await),
        "signal" => {
            let mut e = EventSignal::new(a.get("event").unwrap_or("payment.received"));
            for (k, v) in a.all("override") {
                e = e.with_override(k, value(v));
            }
            result_json(&g.signal_with(thread(), e, store, config(a)).await)
        }
        "recover" => result_json(&g.recover_with(thread(), store, config(a)).await),
        "end" => {
            let e = a.get("by").map(ThreadEnd::by).unwrap_or_default();
            result_json(&g.end_with(thread(), e, store, config(a)).await)
        }
        "wake" => {
            let now = Utc::now() + chrono::Duration::seconds(a.number("in").unwrap_or(0) as i64);
            match g
                .wake_due_with(store, now, datalium_strata::wait::WakeOptions::new().with_config(config(a)))
                .await
            {
                Ok(r) => json!({
                    "woken": r.woken.iter().map(|w| json!({"thread_id": w.thread_id, "reason": w.reason.as_str(), "result": result_json(&w.result)})).collect::<Vec<_>>(),
                    "skipped": r.skipped.iter().map(|w| json!({"thread_id": w.thread_id, "reason": w.reason})).collect::<Vec<_>>()}),
                Err(e) => error_json(&e),
            }
        }
        _ => usage("unknown command"),
    }
}

async fn history(url: &str, a: &Args) -> Value {
    let store: Arc<dyn HistoryStore> = if let Some(path) = url.strip_prefix("sqlite:") {
        Arc::new(SqliteHistoryStore::open(path).unwrap())
    } else if url.starts_with("postgres") {
        Arc::new(PostgresHistoryStore::connect(url).await.unwrap())
    } else {
        let (url, prefix) = redis_parts(url);
        Arc::new(RedisHistoryStore::connect_with_prefix(url, prefix).await.unwrap())
    };
    let session = a.plain.get(2).unwrap_or_else(|| usage("which session?"));
    if let Some(text) = a.get("append") {
        let role = match a.get("role").unwrap_or("user") {
            "system" => MessageRole::System,
            "assistant" => MessageRole::Assistant,
            "tool" => MessageRole::Tool,
            _ => MessageRole::User,
        };
        let at = a
            .get("at")
            .map(|t| DateTime::parse_from_rfc3339(t).expect("--at").with_timezone(&Utc))
            .unwrap_or_else(Utc::now);
        store
            .append(
                session,
                ChatMessage {
                    role,
                    content: Arc::from(text),
                    timestamp: at,
                },
            )
            .await
            .unwrap();
    }
    let got = store.get_history(session, a.number("tail").unwrap_or(1000) as usize).await.unwrap();
    json!(got.iter().map(|m| json!({"role": format!("{:?}", m.role).to_lowercase(), "content": &*m.content, "timestamp": m.timestamp.to_rfc3339_opts(SecondsFormat::AutoSi, true)})).collect::<Vec<_>>())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let a = Args::parse();
    if a.plain.len() < 2 {
        usage("what shall I do?");
    }
    let url = a.plain[0].clone();
    let hang = Hang {
        node: a.get("hang").map(str::to_string),
        delay_ms: a.number("node-ms").unwrap_or(0),
    };
    let definition = a.plain[1] == "definition";
    let out = match a.plain[1].as_str() {
        "checkpoint" => {
            let store = open(&url, &a).await.unwrap_or_else(|e| usage(&e.0));
            let thread = a.plain.get(2).unwrap_or_else(|| usage("which thread?"));
            if a.has("log") {
                let page = store.get_log(thread, None, 1000).await.unwrap();
                for e in page.entries {
                    println!("{}", serde_json::to_string(&e.checkpoint).unwrap());
                }
                return;
            }
            match store.load(thread).await {
                Ok(Some(c)) => {
                    println!("{}", serde_json::to_string(&c).unwrap());
                    return;
                }
                Ok(None) => Value::Null,
                Err(e) => json!({"error": "store", "text": e.0}),
            }
        }
        "list" => {
            let store = open(&url, &a).await.unwrap_or_else(|e| usage(&e.0));
            let mut q = ThreadQuery::default().with_limit(a.number("page").unwrap_or(1000) as usize);
            for (s, _) in a.all("state") {
                q = q.with_states(ThreadState::parse(s));
            }
            for (k, v) in a.all("metadata") {
                q = q.with_metadata(k, v);
            }
            if let Some(g) = a.get("graph-id") {
                q = q.with_graph(g);
            }
            if let Some(c) = a.get("cursor") {
                q = q.with_cursor(c);
            }
            match store.list_threads(&q).await {
                Ok(p) => json!({"next_cursor": p.next_cursor, "threads": p.threads.iter().map(|t| json!({
                    "thread_id": t.thread_id, "sequence": t.sequence, "state": t.state.as_str(), "status": t.status, "suspended_node": t.suspended_node, "next_node": t.next_node,
                    "waiting_at": t.waiting_at, "metadata": t.metadata.iter().collect::<BTreeMap<_, _>>(), "updated_at": t.updated_at.to_rfc3339_opts(SecondsFormat::Secs, true), "schema_version": t.schema_version, "wait": t.wait, "graph": t.graph})).collect::<Vec<_>>()}),
                Err(e) => json!({"error": "store", "text": e.0}),
            }
        }
        "history" => history(&url, &a).await,
        _ => {
            macro_rules! with {
                ($g:expr, $id:literal) => {{
                    let g = compile($g, $id, &a);
                    if definition {
                        let d = g.to_definition();
                        println!("{}", serde_json::to_string(&json!({"identity": d.identity})).unwrap());
                        println!("{}", serde_json::to_string(&d).unwrap());
                        return;
                    }
                    match open(&url, &a).await {
                        Ok(store) => on_graph(g, store, &a).await,
                        Err(e) => json!({"error": "store", "text": e.0}),
                    }
                }};
            }
            match a.plain.get(2).map(String::as_str) {
                Some("essay") => with!(essay_nodes(&hang), "essays"),
                Some("order") => with!(order_nodes(&hang), "orders"),
                Some("wait") => with!(wait_nodes(&hang), "waits"),
                Some("book") => with!(book_nodes(&hang).unwrap_or_else(|e| usage(&format!("{e:?}"))), "books"),
                _ => usage("which graph: essay, order, wait or book?"),
            }
        }
    };
    println!("{out}");
}
