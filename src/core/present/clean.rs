//! Makes a server's text safe to draw: what it says is data.

/// One line without anything that could move a cursor, change a colour or the direction of
/// writing: control characters become visible pictures (`␛` for escape), line breaks and tabs a
/// blank, bidirectional and invisible controls `�`; the letters of flags stand as letters.
///
/// The result has no character below U+0020, none in U+007F..=U+009F.
pub fn clean(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => '�',
        // Half a flag is left behind by terminals that take a pair for one wide cell: `DE` says it too.
        '\u{1f1e6}'..='\u{1f1ff}' => {
            let place = u32::from(c) - 0x1_f1e6;
            char::from_u32(u32::from('A') + place).unwrap_or('�')
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\u{1b}[2J\u{1b}]0;x\u{7}b\u{9b}31m\u{202e}c\r\n\td\u{7f}";
        let shown = clean(hostile);
        assert_eq!(shown, "a␛[2J␛]0;x␇b�31m�c   d␡");
        assert!(shown.chars().all(|c| !c.is_control()));
        assert_eq!(clean("\u{1f1e9}\u{1f1ea} ok"), "DE ok");
    }
}
