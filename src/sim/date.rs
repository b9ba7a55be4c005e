//! The `Date` header: `Sun, 29 Nov 2026 19:04:46 GMT`.
//!
//! What it does: formats a point in time as HTTP wants it (RFC 9110, IMF-fixdate), and as the ISO text in
//! default session titles. What it does not: parse, or know time zones.

use crate::core::time::UnixMs;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    seconds: i64,
    weekday: usize,
}

fn civil(at: UnixMs) -> Civil {
    let total = at.0.div_euclid(1000);
    let days = total.div_euclid(86_400);
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    Civil {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted + 2) / 5 + 1,
        seconds: total.rem_euclid(86_400),
        weekday: usize::try_from(days.rem_euclid(7)).unwrap_or(0),
    }
}

/// The value of a `Date` header.
pub(crate) fn http(at: UnixMs) -> String {
    let c = civil(at);
    let month = usize::try_from(c.month - 1).unwrap_or(0);
    format!(
        "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
        DAYS[c.weekday],
        c.day,
        MONTHS[month],
        c.year,
        c.seconds / 3600,
        c.seconds / 60 % 60,
        c.seconds % 60
    )
}

/// `2026-11-29T19:00:23.631Z`, as in the title that a session has before it has one.
pub(crate) fn iso(at: UnixMs) -> String {
    let c = civil(at);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        c.year,
        c.month,
        c.day,
        c.seconds / 3600,
        c.seconds / 60 % 60,
        c.seconds % 60,
        at.0.rem_euclid(1000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_recordings() {
        let at = UnixMs(1_795_978_823_631);
        assert_eq!(iso(at), "2026-11-29T19:00:23.631Z");
        assert_eq!(http(at), "Sun, 29 Nov 2026 19:00:23 GMT");
        assert_eq!(http(UnixMs(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(
            http(UnixMs(951_827_696_000)),
            "Tue, 29 Feb 2000 12:34:56 GMT"
        );
    }
}
