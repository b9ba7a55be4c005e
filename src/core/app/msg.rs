//! What enters the app ([`Msg`]) and what leaves it ([`Effect`]). Data only.

use crate::core::app::keymap::Key;
use crate::core::app::notify::Notice;
use crate::core::app::{Column, Memory, PartOf, PartRead, Target};
use crate::core::id::{Directory, MessageId, PartId, ServerId, SessionKey};
use crate::core::plan::reset::{ResetOrder, Subject, Tried};
use crate::core::plan::survey::Survey;
use crate::core::plan::{ActionName, Plan};
use crate::core::wire::{Input, ModelRef, WholePrompt};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// Inputs from links, in order.
    Feed(Vec<Input>),
    /// The same, of which more may come before anybody looks: the rows are laid out with the next
    /// message of another kind.
    Burst(Vec<Input>),
    /// A key press.
    Key(Key),
    /// The mouse was pressed.
    Click {
        /// On what.
        target: Target,
        /// It is the second of two at one place.
        again: bool,
    },
    /// The wheel was turned by one notch.
    Wheel {
        /// Over what.
        target: Target,
        /// Towards the end.
        down: bool,
    },
    /// Text was pasted.
    Paste(String),
    /// The terminal has got (true) or lost the focus.
    Focus(bool),
    /// How the last screen was laid out.
    Layout {
        /// Rows that the table shows (for scrolling).
        rows: u16,
        /// Lines of the page or the open detail that are seen, else rows of the table: for page keys.
        page_rows: u16,
        /// The greatest scroll of the open page or detail that shows something new.
        last_scroll: usize,
        /// The columns that the table shows, from left to right.
        columns: Vec<Column>,
        /// The first line shown of that page or detail.
        first: usize,
        /// The detail is on the screen.
        detail: bool,
    },
    /// Time passed; sent while an age or a countdown is on screen.
    Tick,
    /// An abort of this session goes out to its server now.
    AbortSent(SessionKey),
    /// A session was read afresh.
    Surveyed {
        /// Which.
        key: SessionKey,
        /// What was read, or why not.
        read: Result<Survey, String>,
    },
    /// What an action that is under way does now.
    Step {
        /// Whose.
        key: SessionKey,
        /// In a few words.
        words: String,
    },
    /// A word to the user from what goes on outside.
    Told(String),
    /// The screen was saved to this file; its whole path.
    Saved(String),
    /// A session was written to this file.
    Exported {
        /// Which.
        key: SessionKey,
        /// Its whole path.
        path: String,
    },
    /// Who was attached to a session is back; or why he was not, or how it failed.
    AttachEnded {
        /// Which.
        key: SessionKey,
        /// Fits after "attach: ".
        ended: Result<(), String>,
    },
    /// An effect ended.
    Done(Done),
    /// What [`Effect::ReadPrompt`] brought.
    PromptRead(PromptRead),
    /// What [`Effect::ReadPart`] brought.
    PartRead(PartRead),
}

/// What has to be known before a prompt is shown for sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRead {
    /// Whose.
    pub key: SessionKey,
    /// The prompt that was named, whole; or why it could not be read.
    pub prompt: Result<Option<WholePrompt>, String>,
    /// The models that there are, where the server tells.
    pub models: Option<Vec<ModelRef>>,
}

/// The end of an effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// Whose.
    pub key: SessionKey,
    /// Which action.
    pub action: ActionName,
    /// How it ended.
    pub outcome: Outcome,
    /// Of a reset that did not settle it: what was climbed, before included.
    pub tried: Tried,
}

/// How an action ended, as the server's own answers showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Verified; with what was seen.
    Done(String),
    /// The server answered, but nothing changed; with what was seen.
    NoEffect(String),
    /// It could not be done; with the reason.
    Failed(String),
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Carry out a plan and verify it; answers with [`Msg::AbortSent`] for each session that it
    /// aborts, then with [`Msg::Done`].
    Act(Plan),
    /// Read a session and its subagents afresh; answers with [`Msg::Surveyed`].
    Survey {
        /// Which.
        key: SessionKey,
        /// Whom to read.
        subject: Subject,
    },
    /// Climb the ladder; answers with [`Msg::Step`], [`Msg::AbortSent`], then [`Msg::Done`].
    Reset {
        /// Whom.
        subject: Subject,
        /// What may be done.
        order: ResetOrder,
        /// What will be done, as it was shown; for the audit log.
        lines: Vec<String>,
    },
    /// Write a session to a file; answers with [`Msg::Exported`] if it could be, then with
    /// [`Msg::Done`], the path in the text.
    Export {
        /// Which.
        key: SessionKey,
    },
    /// Read this session's messages again.
    Read {
        /// Which.
        key: SessionKey,
    },
    /// Read its list of things to do.
    ReadTodo {
        /// Whose.
        key: SessionKey,
    },
    /// Read one part as the server has it; answers with [`Msg::PartRead`].
    ReadPart {
        /// Of which session.
        key: SessionKey,
        /// In which message.
        message: MessageId,
        /// Which.
        part: PartId,
        /// What of it.
        of: PartOf,
    },
    /// Read a prompt whole (none: only the models to choose from); answers with [`Msg::PromptRead`].
    ReadPrompt {
        /// Whose.
        key: SessionKey,
        /// Its directory.
        directory: Directory,
        /// The message of the prompt.
        message: Option<MessageId>,
    },
    /// Let programs of this machine through the local port that leads to this server.
    OpenPort(ServerId),
    /// Ask an asleep directory; this starts the project.
    Load {
        /// On which server.
        server: ServerId,
        /// Which.
        directory: Directory,
    },
    /// Try a lost server again now.
    Retry(ServerId),
    /// Save what the screen shows to a file; answers with [`Msg::Saved`], or [`Msg::Told`] why not.
    SaveScreen,
    /// Keep this for the next run.
    Remember(Memory),
    /// Have another program work on a session in this terminal; answers with [`Msg::AttachEnded`].
    Attach {
        /// Which.
        key: SessionKey,
        /// The program and its arguments.
        command: Vec<String>,
    },
    /// Put a text on the clipboard.
    Copy(String),
    /// Tell somebody who may be elsewhere.
    Notify(Notice),
    /// Leave the screen, stop, and come back.
    Suspend,
    /// Take the mouse (true), or leave it to the terminal.
    Mouse(bool),
    /// Clear and draw again.
    Redraw,
    /// Leave the program.
    Quit,
}
