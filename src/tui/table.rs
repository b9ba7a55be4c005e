//! Which rows of the table are on screen. Pure arithmetic, no drawing.

/// Rows kept in sight on both sides of the selected one, where there are some and space allows.
const CONTEXT: usize = 3;

/// The first row to show so that the selected one is visible with some rows around it: as near to
/// `offset` as can be, with no blank space below while there are more rows. `visible` and `total`
/// count rows.
pub fn first_row(offset: usize, selected: Option<usize>, visible: usize, total: usize) -> usize {
    let last = total.saturating_sub(visible);
    let wanted = match selected {
        Some(row) if visible > 0 => {
            let row = row.min(total.saturating_sub(1));
            let around = CONTEXT.min((visible - 1) / 2);
            let least = (row + 1 + around).saturating_sub(visible);
            offset.clamp(least, row.saturating_sub(around).max(least))
        }
        _ => offset,
    };
    wanted.min(last)
}

#[cfg(test)]
mod tests {
    use super::first_row;

    #[test]
    fn the_selected_row_is_always_shown_and_no_line_is_wasted() {
        for total in 0..12 {
            for visible in 1..14 {
                for offset in 0..14 {
                    for selected in 0..total {
                        let first = first_row(offset, Some(selected), visible, total);
                        assert!(first <= selected && selected < first + visible);
                        assert!(first == 0 || first + visible <= total);
                    }
                }
            }
        }
    }

    #[test]
    fn the_view_does_not_jump_while_the_selection_stays_inside() {
        assert_eq!(first_row(5, Some(7), 9, 40), 4);
        assert_eq!(first_row(5, Some(8), 9, 40), 5);
        assert_eq!(first_row(5, Some(10), 9, 40), 5);
        assert_eq!(first_row(5, Some(11), 9, 40), 6);
        assert_eq!(first_row(5, Some(1), 9, 40), 0);
        assert_eq!(first_row(5, Some(7), 1, 40), 7);
        assert_eq!(first_row(99, None, 4, 20), 16);
        assert_eq!(first_row(3, Some(7), 0, 20), 3);
    }
}
