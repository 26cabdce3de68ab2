//! The thread that writes: lines that come at once go to the disk together, and a line that was handed over is written
//! even if whoever waits for it is gone.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError},
    },
    time::{Duration, Instant},
};

use futures_timer::Delay;
use tokio::sync::oneshot;

use super::{builder::Fsync, error::AuditError, file::LogFile};

/// As many lines are written at once.
const BATCH: usize = 256;
/// As many lines wait at the most for a disk that does not answer.
const QUEUE: usize = 1 << 14;

type Done = oneshot::Sender<Result<(), AuditError>>;

enum Job {
    Line(Vec<u8>, Option<Done>),
    Flush(Done),
}

/// The thread, and the way to it.
pub(super) struct Writer {
    path: PathBuf,
    jobs: Option<SyncSender<Job>>,
    lost: Arc<AtomicU64>,
    /// How long anybody waits for the disk.
    limit: Duration,
    /// Closed when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl Writer {
    pub(super) fn start(file: LogFile, fsync: Fsync, limit: Duration) -> Result<Self, AuditError> {
        let path = file.path().to_owned();
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let (alive, ended) = mpsc::channel();
        let lost = Arc::<AtomicU64>::default();
        let run = Run { file, fsync, lost: lost.clone(), unkept: None, _alive: alive };
        let thread = std::thread::Builder::new().name("cepa-audit".to_owned()).spawn(move || run.run(&queue));
        thread.map_err(|error| AuditError::io(&path, "starting its thread", &error))?;
        Ok(Self { path, jobs: Some(jobs), lost, limit, ended: Mutex::new(ended) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Hands a line over, at once. What is returned waits until it is written; it is written also if that is dropped.
    pub(super) fn write(&self, line: Vec<u8>) -> impl Future<Output = Result<(), AuditError>> {
        self.hand_over_and_wait(|done| Job::Line(line, Some(done)))
    }

    /// Hands a line over that nobody waits for.
    pub(super) fn send(&self, line: Vec<u8>) {
        // It is counted and told.
        _ = self.hand_over(Job::Line(line, None));
    }

    pub(super) async fn flush(&self) -> Result<(), AuditError> {
        self.hand_over_and_wait(Job::Flush).await
    }

    fn hand_over_and_wait<J: FnOnce(Done) -> Job>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<(), AuditError>> + use<'_, J> {
        let (done, written) = oneshot::channel();
        let handed_over = self.hand_over(job(done));
        // By the real clock: that of a test may stand still, and then jump, while a disk works.
        let limit = Delay::new(self.limit);
        async move {
            handed_over?;
            tokio::select! {
                biased;
                written = written => written.unwrap_or_else(|_| Err(self.closed())),
                () = limit => {
                    let error = self.slow();
                    tracing::error!(%error, "a line of the audit log may be lost");
                    Err(error)
                }
            }
        }
    }

    fn hand_over(&self, job: Job) -> Result<(), AuditError> {
        let is_line = matches!(job, Job::Line(..));
        let error = match self.jobs.as_ref().map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => return Ok(()),
            Some(Err(TrySendError::Full(_))) => self.slow(),
            Some(Err(TrySendError::Disconnected(_))) | None => self.closed(),
        };
        if is_line {
            self.lost.fetch_add(1, Relaxed);
            tracing::error!(%error, "a line of the audit log is lost");
        }
        Err(error)
    }

    fn closed(&self) -> AuditError {
        AuditError::Closed { path: self.path.clone() }
    }

    fn slow(&self) -> AuditError {
        AuditError::Slow { path: self.path.clone(), limit: self.limit }
    }
}

impl Drop for Writer {
    /// Waits until all lines are written, or the disk has had its time.
    fn drop(&mut self) {
        drop(self.jobs.take());
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(self.limit) == Err(RecvTimeoutError::Timeout) {
            let error = self.slow();
            tracing::error!(%error, "the last lines of the audit log may be lost");
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).finish_non_exhaustive()
    }
}

struct Run {
    file: LogFile,
    fsync: Fsync,
    lost: Arc<AtomicU64>,
    /// When the disk is to be told to keep what was written.
    unkept: Option<Instant>,
    /// Dropped with the thread.
    _alive: Sender<()>,
}

impl Run {
    fn run(mut self, queue: &Receiver<Job>) {
        loop {
            let job = match self.unkept {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => queue.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match job {
                Ok(job) => self.batch(job, queue),
                Err(RecvTimeoutError::Timeout) => _ = self.keep(),
                Err(RecvTimeoutError::Disconnected) => {
                    if self.unkept.is_some() {
                        _ = self.keep();
                    }
                    return;
                }
            }
        }
    }

    /// Writes this line and those that have come meanwhile.
    fn batch(&mut self, first: Job, queue: &Receiver<Job>) {
        let (mut lines, mut waiting) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Line(line, done) => {
                    lines.push(line);
                    waiting.extend(done);
                }
                Job::Flush(done) => {
                    let written = self.write(&lines, waiting.drain(..));
                    lines.clear();
                    _ = done.send(written.and_then(|()| self.keep()));
                }
            }
            next = if lines.len() < BATCH { queue.try_recv().ok() } else { None };
        }
        _ = self.write(&lines, waiting.drain(..));
    }

    fn write(&mut self, lines: &[Vec<u8>], waiting: impl Iterator<Item = Done>) -> Result<(), AuditError> {
        if lines.is_empty() {
            return Ok(());
        }
        let result = self.file.append(lines, self.fsync == Fsync::Always);
        match (&result, self.fsync) {
            (Err(error), _) => {
                self.lost.fetch_add(lines.len() as u64, Relaxed);
                tracing::error!(%error, lines = lines.len(), "lines of the audit log are lost");
            }
            (Ok(()), Fsync::Every(period)) if self.unkept.is_none() => {
                self.unkept = Instant::now().checked_add(period);
            }
            _ => {}
        }
        for done in waiting {
            // Whoever waited may be gone.
            _ = done.send(result.clone());
        }
        result
    }

    fn keep(&mut self) -> Result<(), AuditError> {
        if self.unkept.take().is_none() && self.fsync != Fsync::Never {
            return Ok(());
        }
        self.file
            .sync()
            .inspect_err(|error| tracing::error!(%error, "the disk may lose lines of the audit log"))
    }
}
