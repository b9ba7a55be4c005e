//! Whether the report and the activity can both be true.

use crate::core::judge::{ActivityState, Agreement};
use crate::core::store::Reported;

/// Compares the two. A healthy tail of a second or two after a turn disagrees as well: it cannot
/// be told from the start of a stale report, and time alone decides (`settling`).
pub fn compare(reported: &Reported, activity: ActivityState) -> Agreement {
    if activity == ActivityState::Unread {
        return Agreement::Unknown;
    }
    match reported {
        Reported::Unknown(_) | Reported::Other(_) => Agreement::Unknown,
        Reported::Idle => agree(!activity.is_working()),
        Reported::Busy | Reported::Retry(_) => agree(!has_ended(activity)),
    }
}

fn agree(both: bool) -> Agreement {
    if both {
        Agreement::Agree
    } else {
        Agreement::Disagree
    }
}

/// The last turn is over.
pub fn has_ended(activity: ActivityState) -> bool {
    matches!(
        activity,
        ActivityState::Done
            | ActivityState::Failed
            | ActivityState::Aborted
            | ActivityState::EndedEarly
    )
}
