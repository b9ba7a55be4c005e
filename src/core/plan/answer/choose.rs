//! From what was typed on a command line to one list of answers for each question.
//!
//! What it does: places `N=` and labels. What it does not: guess: a label that fits no option, or
//! more than one, is refused with those that there are.

use crate::core::wire::Question;

/// One `--choose` or `--answer`, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// A label or a text; `N=` before it names the question, from 1; without it, question 1 is
    /// meant. A label of question 1 that begins so itself is that label.
    pub text: String,
    /// Words of one's own instead of a label.
    pub free: bool,
}

/// One list for each question; an empty one is "Unanswered".
pub(super) fn answers(questions: &[Question], given: &[Given]) -> Result<Vec<Vec<String>>, String> {
    let mut answers = vec![Vec::new(); questions.len().max(1)];
    for one in given {
        let (place, text) = place(questions, one)?;
        let text = if one.free {
            text.to_owned()
        } else {
            label(questions.get(place), place, text)?
        };
        if text.trim().is_empty() {
            return Err(format!("an answer to question {} is empty", place + 1));
        }
        if let Some(list) = answers.get_mut(place)
            && !list.contains(&text)
        {
            list.push(text);
        }
    }
    for (place, list) in answers.iter().enumerate() {
        let multiple = questions.get(place).is_some_and(|it| it.multiple);
        if list.len() > 1 && !multiple {
            let (number, many) = (place + 1, list.len());
            return Err(format!(
                "question {number} takes one answer, {many} were given"
            ));
        }
    }
    Ok(answers)
}

/// Which question, from 0, and what is said to it.
fn place<'a>(questions: &[Question], given: &'a Given) -> Result<(usize, &'a str), String> {
    let whole = (0, given.text.as_str());
    let first = questions.first();
    let is_label = first.is_some_and(|it| it.options.iter().any(|o| o.label == given.text));
    if is_label && !given.free {
        return Ok(whole);
    }
    let Some((number, text)) = given.text.split_once('=') else {
        return Ok(whole);
    };
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(whole);
    }
    let many = questions.len().max(1);
    match number.parse::<usize>() {
        Ok(n @ 1..) if n <= many => Ok((n - 1, text)),
        _ if many == 1 => Err(format!("there is no question {number}: only 1 is asked")),
        _ => Err(format!("there is no question {number}: {many} are asked")),
    }
}

/// The option that is meant: by its whole label, else by a beginning that only it has.
fn label(question: Option<&Question>, place: usize, text: &str) -> Result<String, String> {
    let options = question.map_or(&[][..], |it| it.options.as_slice());
    let labels = || options.iter().map(|option| option.label.as_str());
    if let Some(exact) = labels().find(|label| *label == text) {
        return Ok(exact.to_owned());
    }
    let begun = text.to_lowercase();
    let fits = |label: &&str| !text.is_empty() && label.to_lowercase().starts_with(&begun);
    let fitting: Vec<&str> = labels().filter(fits).collect();
    let number = place + 1;
    match fitting.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => {
            let all: Vec<&str> = labels().collect();
            Err(format!(
                "question {number} has no option \"{text}\"; it has: {}",
                all.join(", ")
            ))
        }
        several => Err(format!(
            "\"{text}\" fits several options of question {number}: {}",
            several.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::wire::Choice;

    fn question(labels: &[&str], multiple: bool) -> Question {
        Question {
            question: "?".into(),
            header: "?".into(),
            options: labels
                .iter()
                .map(|label| Choice {
                    label: (*label).into(),
                    description: String::new(),
                })
                .collect(),
            multiple,
        }
    }

    fn given(texts: &[&str]) -> Vec<Given> {
        let one = |text: &&str| match text.strip_prefix('~') {
            Some(text) => (text.to_owned(), true),
            None => ((*text).to_owned(), false),
        };
        let all = texts.iter().map(one);
        all.map(|(text, free)| Given { text, free }).collect()
    }

    fn two(texts: &[&str]) -> Result<Vec<Vec<String>>, String> {
        let questions = [
            question(&["8080", "3000", "Ask at start"], false),
            question(&["German", "Greek", "2=two"], true),
        ];
        answers(&questions, &given(texts))
    }

    #[test]
    fn labels_texts_and_numbers_go_where_they_belong() {
        assert_eq!(two(&["8080"]).unwrap(), [vec!["8080"], vec![]]);
        assert_eq!(two(&["ask"]).unwrap(), [vec!["Ask at start"], vec![]]);
        assert_eq!(
            two(&["1=3000", "2=greek", "2=Ger"]).unwrap(),
            [vec!["3000"], vec!["Greek", "German"]]
        );
        assert_eq!(
            two(&["2=German", "~2=Old Norse"]).unwrap(),
            [vec![], vec!["German", "Old Norse"]]
        );
        assert_eq!(two(&["~a=b"]).unwrap(), [vec!["a=b"], vec![]]);
        assert_eq!(two(&["2=2=two"]).unwrap(), [vec![], vec!["2=two"]]);
        let odd = [question(&["1=one"], false)];
        assert_eq!(answers(&odd, &given(&["1=one"])).unwrap(), [["1=one"]]);
        assert_eq!(answers(&[], &given(&["~free"])).unwrap(), [["free"]]);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        let says = |texts: &[&str], words: &str| {
            let why = two(texts).unwrap_err();
            assert!(why.contains(words), "{texts:?}: {why}");
        };
        says(&["9"], "no option \"9\"; it has: 8080, 3000, Ask at start");
        says(
            &["2=g"],
            "fits several options of question 2: German, Greek",
        );
        says(&["3=x"], "no question 3: 2 are asked");
        says(&["0=x"], "no question 0");
        says(&["~99999999999999999999=x"], "no question 9999");
        says(
            &["8080", "3000"],
            "question 1 takes one answer, 2 were given",
        );
        says(&["8080", "~mine"], "question 1 takes one answer");
        says(&[""], "no option");
        says(&["~2= "], "empty");
    }
}
