use cepa_core::testing::Logged;

use super::*;

type Log = Arc<Mutex<Vec<u32>>>;

const SECOND: Duration = Duration::from_secs(1);

fn note(log: &Log, number: u32, time: Duration) -> Write {
    let log = log.clone();
    Box::pin(async move {
        tokio::time::sleep(time).await;
        log.lock().unwrap().push(number);
    })
}

fn push(writes: &Writes, lane: &str, write: Write) {
    let origin = Origin { session: Some(lane.into()), user: Some("ada".into()) };
    writes.push(lane.to_owned(), origin, write);
}

fn writes() -> (Writes, Log) {
    (Writes::new("test", Bounds::default()), Log::default())
}

#[tokio::test(start_paused = true)]
async fn writes_of_a_lane_keep_their_order_and_flush_waits_for_them() {
    let (writes, log) = writes();
    push(&writes, "a", note(&log, 1, 5 * SECOND));
    push(&writes, "a", note(&log, 2, Duration::ZERO));
    assert_eq!(writes.flush(SECOND).await, Err(FlushError::Pending { limit: SECOND }));
    assert!(log.lock().unwrap().is_empty());
    writes.flush(10 * SECOND).await.unwrap();
    assert_eq!(*log.lock().unwrap(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn lanes_are_written_beside_each_other_up_to_the_limit() {
    let writes = Writes::new("test", Bounds { at_once: 4, unfinished: 100 });
    let (log, start) = (Log::default(), tokio::time::Instant::now());
    for number in 0..8 {
        push(&writes, &number.to_string(), note(&log, number, SECOND));
    }
    writes.flush(Duration::MAX).await.unwrap();
    assert_eq!(log.lock().unwrap().len(), 8);
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn flush_does_not_wait_for_what_comes_after_it() {
    let (writes, log) = writes();
    push(&writes, "a", note(&log, 1, SECOND));
    let later = async {
        tokio::time::sleep(SECOND / 2).await;
        push(&writes, "b", note(&log, 2, 100 * SECOND));
    };
    let (flushed, ()) = tokio::join!(writes.flush(10 * SECOND), later);
    flushed.unwrap();
    assert_eq!(*log.lock().unwrap(), [1]);
}

#[tokio::test(start_paused = true)]
async fn what_is_queued_is_written_after_the_layer_is_gone() {
    let (writes, log) = writes();
    push(&writes, "a", note(&log, 1, 5 * SECOND));
    drop(writes);
    tokio::time::sleep(6 * SECOND).await;
    assert_eq!(*log.lock().unwrap(), [1]);
}

#[tokio::test(start_paused = true)]
async fn too_many_are_dropped_with_their_names_and_flush_tells_once() {
    let warnings = Logged::warnings("cepa_memory");
    let writes = Writes::new("test", Bounds { at_once: 1, unfinished: 3 });
    let log = Log::default();
    for number in 0..5 {
        push(&writes, &format!("session-{number}"), note(&log, number, Duration::ZERO));
    }
    assert_eq!(writes.flush(SECOND).await, Err(FlushError::Lost { writes: 2 }));
    assert_eq!(writes.flush(SECOND).await, Ok(()));
    assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
    let lines = warnings.take();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("session=session-3;") && lines[0].contains("user=\"ada\""), "{lines:?}");
    // There is room again.
    push(&writes, "a", note(&log, 5, Duration::ZERO));
    writes.flush(SECOND).await.unwrap();
    assert_eq!(log.lock().unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_panics_takes_no_other_with_it_and_flush_tells() {
    let warnings = Logged::warnings("cepa_memory");
    let (writes, log) = writes();
    push(&writes, "a", Box::pin(async { panic!("a client's bug") }));
    push(&writes, "a", note(&log, 1, Duration::ZERO));
    push(&writes, "b", note(&log, 2, SECOND));
    assert_eq!(writes.flush(10 * SECOND).await, Err(FlushError::Lost { writes: 1 }));
    assert_eq!(*log.lock().unwrap(), [1, 2]);
    let lines = warnings.take();
    assert!(
        lines.len() == 1 && lines[0].contains("panicked") && lines[0].contains("session=a;"),
        "{lines:?}"
    );
}

#[test]
fn a_runtime_that_ends_loses_its_writes_and_the_next_has_a_task_of_its_own() {
    let warnings = Logged::warnings("cepa_memory");
    let (writes, log) = writes();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let first = runtime();
    first.block_on(async {
        push(&writes, "a", note(&log, 1, 600 * SECOND));
        push(&writes, "a", note(&log, 2, Duration::ZERO));
        tokio::task::yield_now().await;
    });
    drop(first);
    runtime().block_on(async {
        push(&writes, "a", note(&log, 3, Duration::ZERO));
        assert_eq!(writes.flush(10 * SECOND).await, Err(FlushError::Lost { writes: 2 }));
    });
    // And where there is none.
    push(&writes, "a", note(&log, 4, Duration::ZERO));
    assert_eq!(*log.lock().unwrap(), [3]);
    assert_eq!(warnings.take().len(), 3);
}
