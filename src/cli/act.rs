//! The commands that change something on a server, with what was said to them.
//!
//! What it does: turn their arguments into wishes. What it does not: ask, act or record; that is
//! done in `shell`.

use super::args::{AllowArg, Command, Common, DoubtArg, ResetArgs};
use super::env;
use super::start::{self, Setup};
use crate::core::plan::reset::Consent;
use crate::shell::audit::Audit;
use crate::shell::commands::{self, ResetWish};
use crate::shell::exit::{Exit, Trouble};
use std::io::Write;

fn reset_wish(said: &ResetArgs) -> ResetWish {
    let consent = |it: &AllowArg| match it {
        AllowArg::Dispose => Consent::Dispose,
        AllowArg::Fork => Consent::Fork,
        AllowArg::Elsewhere => Consent::Elsewhere,
    };
    ResetWish {
        dry_run: said.dry_run,
        yes: said.act.yes,
        allow: said.allow.iter().map(consent).collect(),
        export_dir: start::export_dir(),
    }
}

/// The commands that change something on a server.
pub(super) async fn act(
    setup: &Setup,
    common: &Common,
    command: &Command,
    out: &mut impl Write,
) -> Result<Exit, Trouble> {
    let snapshot = || setup.snapshot(common);
    let clients = &setup.clients;
    match command {
        Command::Abort(it) => {
            let audit = audit_of(setup, it.act.force);
            let how = commands::AbortWish {
                dry_run: it.dry_run,
                yes: it.act.yes,
            };
            commands::abort_all(snapshot(), clients, &it.sessions, how, &audit, out).await
        }
        Command::Reset(it) => {
            let wish = reset_wish(it);
            let audit = audit_of(setup, it.act.force);
            // Large: on the heap.
            Box::pin(commands::reset(
                snapshot(),
                clients,
                &it.session,
                &wish,
                &audit,
                out,
            ))
            .await
        }
        Command::Resend(it) => {
            let wish = commands::Wish {
                session: &it.session,
                text: it.text.as_deref(),
                model: it.model.as_ref(),
                alone: it.allow.contains(&DoubtArg::Elsewhere),
                yes: it.act.yes,
                dry_run: it.dry_run,
            };
            let audit = audit_of(setup, it.act.force);
            commands::resend_one(snapshot(), clients, wish, &audit, out).await
        }
        Command::Answer(it) => {
            let wish = commands::AnswerWish {
                session: &it.session,
                ask: it.ask.as_deref(),
                wish: it.wish(),
                dry_run: it.dry_run,
                named_server: !common.server.is_empty(),
                color: env::color(common.color),
            };
            let audit = audit_of(setup, it.force);
            commands::answer_one(snapshot(), clients, wish, &audit, out).await
        }
        other => Err(Trouble::Failed(format!("{other:?} changes nothing"))),
    }
}

/// Where what is done is recorded.
pub(super) fn audit_of(setup: &Setup, force: bool) -> Audit {
    let clock = setup.clock.clone();
    if setup.demo.is_some() {
        return Audit::of_a_demo(clock);
    }
    Audit::open(start::state_dir(), force, clock)
}
