//! strata-bench <workload>: prints one line `RESULT {json}`, as the contenders in Python do.
use std::sync::Arc;
use std::time::Instant;

use datalium_strata::checkpoint::*;
use datalium_strata::context::NodeContext;
use datalium_strata::graph::*;
use datalium_strata_memory::checkpoint::{InMemoryCheckpointStore, SqliteCheckpointStore};
use datalium_strata_memory::{GroupCommit, SqliteStoreOptions};
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

const HOPS: u64 = 1000;
const DHOPS: u64 = 300;
const THREADS: u64 = 200;
const THOPS: u64 = 50;
const RESUMES: u64 = 30;

#[derive(Clone, Serialize, Deserialize)]
struct S {
    count: u64,
}
#[derive(Clone, Serialize, Deserialize)]
struct Msg {
    role: String,
    content: String,
}
#[derive(Clone, Serialize, Deserialize)]
struct M {
    messages: Vec<Msg>,
    count: u64,
}
fn msg(i: u64, pad: usize) -> Msg {
    Msg {
        role: if i % 2 == 1 { "user" } else { "assistant" }.into(),
        content: format!("{i:06} {}", "x".repeat(pad - 7)),
    }
}
fn state(n: u64, pad: usize) -> M {
    M {
        messages: (0..n).map(|i| msg(i, pad)).collect(),
        count: 0,
    }
}

/// ping -> pong -> ping while count < n, then stop.
fn pingpong<T, W>(n: u64, sync: &str, count: fn(&T) -> u64, work: W, o: CompileOptions) -> CompiledGraph<T>
where
    T: Clone + Send + Sync + 'static,
    W: Fn(T) -> T + Clone + Send + Sync + 'static,
{
    let mut g = StateGraph::new();
    for name in ["ping", "pong"] {
        let w = work.clone();
        g = match sync {
            "async" => g.add_async_node(name, move |s: T, _: NodeContext| {
                let w = w.clone();
                async move { w(s) }
            }),
            "inline" => g.add_inline_node(name, w),
            _ => g.add_node(name, w),
        };
    }
    g.add_inline_node("stop", |s: T| s)
        .add_edge("ping", "pong")
        .add_conditional_edge("pong", "ping", move |s| count(s) < n)
        .add_edge("pong", "stop")
        .compile_with(o)
        .unwrap()
}
fn every() -> CompileOptions {
    CompileOptions::new().with_checkpointing(CheckpointPolicy::EveryNode)
}
fn turn(mut s: M) -> M {
    s.count += 1;
    s.messages.remove(0);
    s.messages.push(msg(s.count, 18));
    s
}
fn durable(n: u64) -> CompiledGraph<M> {
    pingpong(n, "async", |s: &M| s.count, turn, every())
}
fn done<T>(r: GraphExecutionResult<T>) -> T {
    match r {
        GraphExecutionResult::Completed(s) => s,
        GraphExecutionResult::Failed(e) => panic!("{e:?}"),
        _ => panic!("not completed"),
    }
}

fn data() -> std::path::PathBuf {
    let root = std::env::var("STRATA_BENCH_DATA").unwrap_or_else(|_| "data".into());
    let t = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let d = std::path::PathBuf::from(root).join(format!("rust-{}-{t}", std::process::id()));
    std::fs::create_dir_all(&d).unwrap();
    d
}
fn sqlite(journal: &str, o: SqliteStoreOptions) -> (std::path::PathBuf, Arc<SqliteCheckpointStore>) {
    let d = data();
    let p = d.join("db.sqlite");
    {
        let c = rusqlite::Connection::open(&p).unwrap();
        let _: String = c.query_row(&format!("pragma journal_mode={journal}"), [], |r| r.get(0)).unwrap();
    }
    (d, Arc::new(SqliteCheckpointStore::open_with(&p, o).unwrap()))
}
/// What a connection like the store's has for `synchronous` (2 FULL, 1 NORMAL): it is fixed when SQLite is built.
fn synchronous(d: &std::path::Path) -> i64 {
    let c = rusqlite::Connection::open(d.join("db.sqlite")).unwrap();
    let _: i64 = c.query_row("select count(*) from sqlite_master", [], |r| r.get(0)).unwrap();
    c.query_row("pragma synchronous", [], |r| r.get(0)).unwrap()
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let n = v.len();
    if n % 2 == 1 {
        v[n / 2]
    } else {
        (v[n / 2 - 1] + v[n / 2]) / 2.0
    }
}
async fn timed<Fut: std::future::Future<Output = ()>>(units: u64, reps: u64, warm: u64, extra: Value, f: impl Fn(u64) -> Fut) -> Value {
    let mut out = vec![];
    for i in 0..warm + reps {
        let t = Instant::now();
        f(i).await;
        if i >= warm {
            out.push(t.elapsed().as_secs_f64());
        }
    }
    let min = out.iter().cloned().fold(f64::MAX, f64::min);
    let mut v = json!({"us": median(out.clone()) / units as f64 * 1e6, "min_us": min / units as f64 * 1e6, "runs": reps});
    for (k, x) in extra.as_object().unwrap() {
        v[k] = x.clone();
    }
    v
}

async fn w1(sync: &'static str) -> Value {
    let g = pingpong(
        HOPS,
        sync,
        |s: &S| s.count,
        |mut s: S| {
            s.count += 1;
            s
        },
        CompileOptions::new(),
    );
    let store: Arc<dyn CheckpointStore> = Arc::new(InMemoryCheckpointStore::new());
    timed(HOPS, 20, 3, json!({}), |i| {
        let (g, store) = (&g, store.clone());
        async move {
            assert_eq!(done(g.run(format!("t{i}"), S { count: 0 }, store).await).count, HOPS);
        }
    })
    .await
}
async fn chain(store: Arc<dyn CheckpointStore>, n: u64, reps: u64, extra: Value) -> Value {
    let g = durable(n);
    let tag = std::process::id();
    timed(n, reps, 1, extra, |i| {
        let (g, store) = (&g, store.clone());
        async move {
            let s = done(g.run(format!("t{tag}-{i}"), state(20, 18), store).await);
            assert!(s.count == n && s.messages.len() == 20);
        }
    })
    .await
}
async fn w3(journal: &str, o: SqliteStoreOptions, note: &str) -> Value {
    let (d, store) = sqlite(journal, o);
    let s = synchronous(&d);
    let r = chain(store, DHOPS, 5, json!({"durability": format!("{journal} synchronous={s}{note}")})).await;
    let _ = std::fs::remove_dir_all(d);
    r
}
async fn w7(o: SqliteStoreOptions, note: &str) -> Value {
    let (d, store) = sqlite("WAL", o);
    let g = Arc::new(durable(THOPS));
    let s = synchronous(&d);
    let r = timed(THREADS * THOPS, 3, 1, json!({"durability": format!("WAL synchronous={s}{note}")}), |i| {
        let (g, store) = (g.clone(), store.clone());
        async move {
            let tasks: Vec<_> = (0..THREADS)
                .map(|t| {
                    let (g, store) = (g.clone(), store.clone());
                    tokio::spawn(async move {
                        assert_eq!(done(g.run(format!("{i}-{t}"), state(20, 18), store).await).count, THOPS);
                    })
                })
                .collect();
            for t in tasks {
                t.await.unwrap();
            }
        }
    })
    .await;
    let _ = std::fs::remove_dir_all(d);
    r
}
async fn w9(o: CompileOptions, note: &str) -> Value {
    let (d, store) = sqlite("WAL", SqliteStoreOptions::new());
    let g = StateGraph::new()
        .add_inline_node("pause", |s: M| s)
        .add_async_node("step", |mut s: M, _: NodeContext| async move {
            s.count += 1;
            s.messages.push(msg(s.count, 95));
            s
        })
        .add_edge("pause", "step")
        .add_interrupt_boundary("pause")
        .compile_with(o)
        .unwrap();
    for t in 0..RESUMES + 5 {
        let r = g.run(format!("t{t}"), state(800, 95), store.clone()).await;
        assert!(matches!(r, GraphExecutionResult::Interrupted { .. }));
    }
    let bytes = serde_json::to_string(&state(800, 95)).unwrap().len();
    let r = timed(1, RESUMES, 5, json!({"note": note, "json_bytes": bytes}), |t| {
        let (g, store) = (&g, store.clone());
        async move {
            assert_eq!(
                done(g.resume(format!("t{t}"), HumanSignal::approve("x"), store).await).messages.len(),
                801
            );
        }
    })
    .await;
    let _ = std::fs::remove_dir_all(d);
    r
}

async fn go(what: &str) -> Value {
    let plain = SqliteStoreOptions::new;
    match what {
        "w1" => w1("async").await,
        "w1s" => w1("inline").await,
        "w2" => chain(Arc::new(InMemoryCheckpointStore::new()), HOPS, 5, json!({})).await,
        "w3" => w3("WAL", plain(), "").await,
        "w7" => w7(plain().with_group_commit(GroupCommit::new()), ", group commit").await,
        "w9" => w9(CompileOptions::new(), "the stamp is the only row written").await,
        "w9__durable" => w9(every(), "a claim and a completed row").await,
        other => panic!("unknown workload {other}"),
    }
}

fn rss_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find(|l| l.starts_with("VmHWM"))
        .and_then(|l| l.split_whitespace().nth(1))
        .and_then(|v| v.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1024.0
}

fn main() {
    let what = std::env::args().nth(1).expect("which workload?");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mut v = runtime.block_on(async { tokio::spawn(async move { go(&what).await }).await.unwrap() });
    v["rss_mb"] = json!(rss_mb());
    println!("RESULT {v}");
}
