//! The dashboard's loop: keys, answers, inputs and time in; screens and effects out.
//!
//! What it does: decides the order in which things are taken, see [`Dashboard::run`]. What it does
//! not: decide what a key means or what is drawn. Invariants: no key waits for a request or a file;
//! drawing happens only when the screen differs and at most so many times a second; whatever ends
//! the loop, the terminal is given back.

mod attached;
mod pointed;

use crate::core::app::{App, Effect, Msg, update};
use crate::core::present::{self, Screen};
use crate::core::time::{Clock, Span, UnixMs};
use crate::core::wire::Input;
use crate::feed::live::LiveFeed;
use crate::shell::attach::{self, Attached};
use crate::shell::audit::Asked;
use crate::shell::effects::{Control, Effects};
use crate::shell::exit::Exit;
use crate::shell::signals::{Request, SIGINT, SIGQUIT, Signals, stop_here};
use crate::tui::{self, Pacer, Terminal, TerminalError, Theme};
use crossterm::event::{Event, EventStream};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;

/// Inputs per turn of the loop, at most.
const BUDGET: usize = 512;
/// Inputs between two looks at the clock.
const PORTION: usize = 64;
/// Time per turn of the loop for inputs, at most.
const BUDGET_TIME: Span = Span(8);

/// Fits after "failed to show the dashboard: ".
#[derive(Debug, Error)]
pub enum DashboardError {
    /// The terminal.
    #[error("{0}")]
    Terminal(#[from] TerminalError),
    /// Signals cannot be listened to, or the program cannot be stopped.
    #[error("{0}")]
    Signals(#[from] io::Error),
    /// A part of the program panicked; what it said stands on stderr.
    #[error("a part of ocwatch ended unexpectedly")]
    Broken,
}

/// Everything that the loop works with.
pub struct Dashboard {
    /// The model.
    pub app: App,
    /// Where inputs come from.
    pub feed: LiveFeed,
    /// Carries effects out.
    pub effects: Effects,
    /// Their answers.
    pub answers: mpsc::Receiver<Msg>,
    /// Actions that ended ask how their session stands.
    pub asked: mpsc::Receiver<Asked>,
    /// The only clock.
    pub clock: Clock,
    /// How it looks.
    pub theme: Theme,
    /// Frames per second at most.
    pub fps: u16,
    /// Says that some task panicked.
    pub panics: mpsc::UnboundedReceiver<()>,
    /// Panic after the first frame.
    pub panic_for_test: bool,
}

/// The parts that only exist while the dashboard runs.
struct Show {
    terminal: Terminal,
    /// Nothing while another program has the terminal.
    keys: Option<EventStream>,
    /// The program that has it.
    attached: Option<Attached>,
    /// When the last of them ended.
    back_at: Option<UnixMs>,
    clicked: pointed::Clicked,
    /// What is to be written once it is ours again.
    held: Vec<u8>,
    pacer: Pacer,
    /// When the screen changes by time alone: with the next second, or the next minute.
    pulse_at: Option<UnixMs>,
    /// The last tick.
    ticked_at: UnixMs,
    /// We stopped ourselves: the signal that continued us tells nothing new.
    was_stopped: bool,
    /// Questions that wait for a read.
    asked: Vec<Asked>,
    ended: Option<Exit>,
}

impl Show {
    /// How long until the next frame. None while the terminal has not taken the last one: what is
    /// newest then is what it gets when it can.
    fn next_frame(&self, now: UnixMs) -> Option<Span> {
        let at = self.pacer.next_frame_at(now);
        let is_ours = self.attached.is_none() && self.terminal.is_free();
        at.filter(|_| is_ours).map(|at| at - now)
    }
}

impl Dashboard {
    /// Runs until the user or a signal ends it.
    ///
    /// The order of the branches is the order of their rights. Signals and keys first, so that a
    /// flood of events cannot hold up a hand; then answers to actions; then a frame that is due,
    /// so that a flood cannot freeze the screen; then time; and inputs last, in portions. The frame
    /// and the tick are bounded in number by time, so they cannot starve the inputs.
    pub async fn run(mut self) -> Result<Exit, DashboardError> {
        let mut signals = Signals::listen()?;
        let free = Arc::new(Notify::new());
        let to_loop = Arc::clone(&free);
        let mut show = Show {
            terminal: Terminal::new(move || to_loop.notify_one())?,
            keys: None,
            attached: None,
            back_at: None,
            clicked: None,
            held: Vec::new(),
            pacer: Pacer::new(self.fps),
            pulse_at: None,
            ticked_at: UnixMs::default(),
            was_stopped: false,
            asked: Vec::new(),
            ended: None,
        };
        show.terminal.take_mouse(self.app.ui.mouse)?;
        show.keys = Some(EventStream::new());
        let mut batch: Vec<Input> = Vec::with_capacity(PORTION);
        while show.ended.is_none() {
            let now = (self.clock)();
            let frame = show.next_frame(now);
            let tick = self.next_tick(&show, now);
            tokio::select! {
                biased;
                request = signals.next() => signal(&mut show, request, (self.clock)())?,
                event = attached::event(&mut show.keys) => self.event(&mut show, event)?,
                change = attach::change(&mut show.attached) => self.changed(&mut show, change)?,
                Some(()) = self.panics.recv() => return Err(DashboardError::Broken),
                Some(answer) = self.answers.recv() => self.take(&mut show, answer)?,
                Some(asked) = self.asked.recv() => self.answer(&mut show, Some(asked)),
                // A terminal that was busy has taken all: there may be a frame for it.
                () = free.notified() => {}
                () = after(frame) => self.draw(&mut show)?,
                () = after(tick) => self.tick(&mut show)?,
                more = self.feed.inputs.recv_many(&mut batch, PORTION) => {
                    if more == 0 {
                        return Err(DashboardError::Broken);
                    }
                    self.inputs(&mut show, &mut batch)?;
                }
            }
        }
        self.feed.commands.shut_down();
        Ok(show.ended.unwrap_or(Exit::Done))
    }

    /// One message into the model, its effects out.
    fn take(&mut self, show: &mut Show, msg: Msg) -> Result<(), DashboardError> {
        let now = (self.clock)();
        match msg {
            Msg::Feed(_) | Msg::Burst(_) => show.pacer.touch(),
            _ => show.pacer.hurry(),
        }
        for effect in update(&mut self.app, msg, now) {
            self.effect(show, effect)?;
        }
        Ok(())
    }

    fn effect(&mut self, show: &mut Show, effect: Effect) -> Result<(), DashboardError> {
        match self.effects.run(&self.app, effect) {
            None => Ok(()),
            Some(Control::Quit) => {
                show.ended = Some(Exit::Done);
                Ok(())
            }
            Some(Control::Say(bytes)) => show.say(&bytes),
            Some(Control::Attach(key, errand)) => self.attach(show, key, &errand),
            Some(Control::Save) => self.save_screen(show),
            Some(Control::Mouse(taken)) => Ok(show.terminal.take_mouse(taken)?),
            Some(Control::Redraw) => redraw(show),
            Some(Control::Suspend) => suspend(show),
        }
    }

    fn save_screen(&self, show: &Show) -> Result<(), DashboardError> {
        let screen = present::screen(&self.app, (self.clock)());
        let text = tui::as_text(show.terminal.area()?, &screen, &self.theme);
        self.effects.save_screen(text);
        Ok(())
    }

    fn event(
        &mut self,
        show: &mut Show,
        event: Option<io::Result<Event>>,
    ) -> Result<(), DashboardError> {
        match event {
            Some(Ok(Event::Key(event))) => match tui::key(event) {
                Some(key) => self.take(show, Msg::Key(key)),
                None => Ok(()),
            },
            Some(Ok(Event::Mouse(event))) => self.mouse(show, event),
            Some(Ok(Event::Paste(text))) => self.take(show, Msg::Paste(text)),
            Some(Ok(Event::FocusGained)) => self.take(show, Msg::Focus(true)),
            Some(Ok(Event::FocusLost)) => self.take(show, Msg::Focus(false)),
            Some(Ok(Event::Resize(..))) => {
                show.pacer.forget();
                Ok(())
            }
            // The terminal is gone: nobody is there to look.
            Some(Err(_)) | None => {
                show.ended = Some(Exit::Failed);
                Ok(())
            }
        }
    }

    /// A portion of inputs, and more of them while there are some and there is time.
    fn inputs(&mut self, show: &mut Show, batch: &mut Vec<Input>) -> Result<(), DashboardError> {
        let begun = (self.clock)();
        let mut taken = batch.len();
        self.portion(show, batch)?;
        while taken < BUDGET && (self.clock)().since(begun) < BUDGET_TIME {
            while batch.len() < PORTION
                && let Ok(input) = self.feed.inputs.try_recv()
            {
                batch.push(input);
            }
            if batch.is_empty() {
                break;
            }
            taken += batch.len();
            self.portion(show, batch)?;
        }
        Ok(())
    }

    fn portion(&mut self, show: &mut Show, batch: &mut Vec<Input>) -> Result<(), DashboardError> {
        self.feed.scope.narrow(batch);
        self.take(show, Msg::Burst(std::mem::take(batch)))?;
        self.answer(show, None);
        Ok(())
    }

    /// A new question, and those for which what they wait for may have come.
    fn answer(&self, show: &mut Show, new: Option<Asked>) {
        let asked = std::mem::take(&mut show.asked).into_iter().chain(new);
        show.asked = asked.filter_map(|it| it.try_answer(&self.app)).collect();
    }

    /// How long until time alone changes something. Of several ticks that are due at once there is
    /// one; a clock that was set back does not stop them.
    fn next_tick(&self, show: &Show, now: UnixMs) -> Option<Span> {
        let due = self.app.next_tick(now).map(|wait| now + wait);
        let due = due.map(|at| at.max(show.ticked_at.min(now) + TICK_SHORTEST));
        let first = due.into_iter().chain(show.pulse_at).min();
        first.map(|at| (at - now).min(TICK_LONGEST))
    }

    fn tick(&mut self, show: &mut Show) -> Result<(), DashboardError> {
        let now = (self.clock)();
        show.ticked_at = now;
        show.pulse_at = show.pulse_at.filter(|at| *at > now);
        self.take(show, Msg::Tick)
    }

    /// Looks ahead: whether the screen will be another in a second, or only in the next minute.
    fn plan_pulse(&self, show: &mut Show, screen: &Screen, now: UnixMs) {
        let second = now.next_whole(Span::secs(1));
        if show.pulse_at.is_some_and(|at| at <= second) {
            return;
        }
        let soon =
            self.app.is_by_time() || present::screen(&self.app, now + Span::secs(1)) != *screen;
        let step = if self.app.reduced_motion {
            present::CALM
        } else {
            Span::mins(1)
        };
        show.pulse_at = Some(if soon { second } else { now.next_whole(step) });
    }

    fn draw(&mut self, show: &mut Show) -> Result<(), DashboardError> {
        if self.app.is_unsettled() {
            self.take(show, Msg::Feed(Vec::new()))?;
        }
        let now = (self.clock)();
        let screen = present::screen(&self.app, now);
        self.plan_pulse(show, &screen, now);
        let Some(screen) = show.pacer.frame(screen, now) else {
            return Ok(());
        };
        show.terminal.draw(screen, &self.theme)?;
        let area = show.terminal.area()?;
        let rows = tui::table_rows(area, screen);
        let page_rows = tui::page_rows(area, screen, &self.theme);
        let last_scroll = tui::last_scroll(area, screen, &self.theme);
        let columns = tui::shown_columns(area, screen, &self.theme);
        let first = tui::first_line(area, screen, &self.theme);
        let detail = tui::detail_seen(area, screen);
        let ui = &self.app.shown().ui;
        let known = (ui.table_rows, ui.page_rows, ui.last_scroll, ui.detail_seen);
        if (rows, page_rows, last_scroll, detail) != known
            || ui.seek.is_some()
            || columns != ui.columns
        {
            let layout = Msg::Layout {
                rows,
                page_rows,
                last_scroll,
                columns,
                first,
                detail,
            };
            self.take(show, layout)?;
        }
        // A test wants to see what a panic leaves behind; never set in a release build.
        assert!(!self.panic_for_test, "panic for test");
        Ok(())
    }
}

/// A signal that the terminal sent to all may be heard so much later than its effect on a program.
const LATE: Span = Span::secs(1);
/// A tick is never further ahead; a clock that was set back must not stop the ticks.
const TICK_LONGEST: Span = Span::mins(1);
/// Nor is what is to be judged again judged more often.
const TICK_SHORTEST: Span = Span(50);

/// Waits so long; for ever without a time. What is due is ready at its first look: a timer never is,
/// so that inputs, which are always ready in a flood, would win for ever.
async fn after(wait: Option<Span>) {
    match wait {
        Some(wait) if wait <= Span::ZERO => {}
        Some(wait) => sleep(Duration::from_millis(wait.0.max(0).unsigned_abs())).await,
        None => std::future::pending().await,
    }
}

fn signal(show: &mut Show, request: Request, now: UnixMs) -> Result<(), DashboardError> {
    if show.attached.is_some() {
        show.signal_attached(request);
        return Ok(());
    }
    match request {
        // In raw mode Ctrl-C is a key: this one was for the program that has just ended by it.
        Request::End(SIGINT | SIGQUIT) if show.back_at.is_some_and(|at| now.since(at) < LATE) => {
            Ok(())
        }
        Request::End(number) => {
            show.ended = Some(Exit::Signal(number));
            Ok(())
        }
        Request::Stop => suspend(show),
        Request::Continued if std::mem::take(&mut show.was_stopped) => Ok(()),
        Request::Continued => come_back(show),
    }
}

fn redraw(show: &mut Show) -> Result<(), DashboardError> {
    show.terminal.clear()?;
    show.pacer.forget();
    Ok(())
}

fn suspend(show: &mut Show) -> Result<(), DashboardError> {
    show.terminal.leave();
    show.was_stopped = true;
    stop_here()?;
    come_back(show)
}

/// After a stop: the terminal is taken over again, whatever the shell did with it meanwhile.
fn come_back(show: &mut Show) -> Result<(), DashboardError> {
    show.terminal.retake()?;
    show.pacer.forget();
    show.pulse_at = None;
    Ok(())
}
