//! `load-all`: asks every asleep project, when a person agrees.

use crate::core::app::{App, DialogState, Effect};
use crate::core::id::{Directory, ServerId};
use crate::core::wire::DirectoryState;

impl App {
    /// Says which projects would be started, then starts them.
    pub(super) fn ask_load_all(&mut self) -> Vec<Effect> {
        let asleep = self.asleep();
        if asleep.is_empty() {
            return self.tell("no project is asleep on a server that can be reached");
        }
        self.ui.dialog = Some(DialogState::LoadAll(asleep));
        Vec::new()
    }

    /// Asleep projects of servers that can be reached.
    fn asleep(&self) -> Vec<(ServerId, Directory)> {
        let servers = self.store.servers().filter(|(_, it)| it.is_reachable());
        let all = servers.flat_map(|(id, server)| {
            let views = server.directories.iter();
            let asleep = views.filter(|(_, view)| view.state == DirectoryState::Asleep);
            asleep.map(move |(directory, _)| (id, directory.clone()))
        });
        all.collect()
    }

    /// Those that were shown and still are asleep.
    pub(super) fn load_all(&self, shown: Vec<(ServerId, Directory)>) -> Vec<Effect> {
        let asleep = self.asleep();
        let still = shown.into_iter().filter(|it| asleep.contains(it));
        still
            .map(|(server, directory)| Effect::Load { server, directory })
            .collect()
    }
}
