//! What the handlers, the turns and the control handle share: the world behind its lock.
//!
//! What it does: give short, exclusive access to the world; wake whoever waits for a change; start tasks on
//! the server's own runtime. What it does not: know HTTP or scripts.
//! Invariants: the lock is never held over an await; after each access waiters look again.

use super::Config;
use super::fault::Faults;
use super::world::World;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// One simulated server, whether its port is open or not.
pub(crate) struct Server {
    pub(crate) config: Config,
    world: Mutex<World>,
    faults: Mutex<Faults>,
    changed: Notify,
    runtime: Mutex<Option<Handle>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Not running yet.
    pub(crate) fn new(config: Config) -> Self {
        let world = World::new(config.clock.clone(), &config.cwd, config.version.clone());
        Self {
            config,
            world: Mutex::new(world),
            faults: Mutex::default(),
            changed: Notify::new(),
            runtime: Mutex::default(),
        }
    }

    /// Reads or changes the world; waiters look again afterwards.
    pub(crate) fn world<R>(&self, look: impl FnOnce(&mut World) -> R) -> R {
        let result = look(&mut lock(&self.world));
        self.changed.notify_waiters();
        result
    }

    /// Reads or changes the faults.
    pub(crate) fn faults<R>(&self, look: impl FnOnce(&mut Faults) -> R) -> R {
        look(&mut lock(&self.faults))
    }

    /// Waits until `look` finds what it wants.
    pub(crate) async fn until<R>(&self, mut look: impl FnMut(&mut World) -> Option<R>) -> R {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look(&mut lock(&self.world)) {
                return found;
            }
            changed.await;
        }
    }

    /// From now on tasks run here; `None` while the process is "dead".
    pub(crate) fn set_runtime(&self, runtime: Option<Handle>) {
        *lock(&self.runtime) = runtime;
    }

    /// Starts a task in the server's process; nothing happens while it is dead.
    pub(crate) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let runtime = lock(&self.runtime).clone()?;
        Some(runtime.spawn(task).abort_handle())
    }
}
