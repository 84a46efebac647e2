//! What differs between two texts, line by line: what a person looks at before something is sent.

use crate::views::ChangeView;

/// Lines that are compared each with each; more are only counted.
const LINES_MAX: usize = 2_000;

/// The changed lines, in order, and how many there are in all.
pub(crate) fn changes(before: &str, after: &str, shown_max: usize) -> (Vec<ChangeView>, usize) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): (&&str, &&str)| a.trim_end() == b.trim_end();
    let head = old.iter().zip(&new).take_while(|(a, b)| same((*a, *b))).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| same((*a, *b))).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let pairs = aligned(old, new);
    let count = pairs.len();
    let views = pairs.into_iter().take(shown_max).map(|(removed, added, at)| ChangeView {
        line: u32::try_from(head + at + 1).unwrap_or(u32::MAX),
        removed: removed.map(shown),
        added: added.map(shown),
    });
    (views.collect(), count)
}

fn shown(line: &str) -> String {
    const WIDTH_MAX: usize = 300;
    line.trim().chars().take(WIDTH_MAX).collect()
}

type Pair<'t> = (Option<&'t str>, Option<&'t str>, usize);

/// Removed and added lines side by side, by the longest common run of lines between them.
fn aligned<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Pair<'t>> {
    if old.len() > LINES_MAX || new.len() > LINES_MAX {
        let longer = old.len().max(new.len());
        let pairs = (0..longer).map(|at| (old.get(at).copied(), new.get(at).copied(), at));
        return pairs.filter(|(a, b, _)| a != b).collect();
    }
    let width = new.len() + 1;
    // common[i][j]: how many lines of old[i..] and new[j..] can be paired.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i].trim_end() == new[j].trim_end() {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    loop {
        let paired = i < old.len() && j < new.len() && old[i].trim_end() == new[j].trim_end();
        let ended = i == old.len() && j == new.len();
        if paired || ended {
            let first = j - added.len();
            for at in 0..removed.len().max(added.len()) {
                pairs.push((removed.get(at).copied(), added.get(at).copied(), first + at));
            }
            removed.clear();
            added.clear();
            if ended {
                return pairs;
            }
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            removed.push(old[i]);
            i += 1;
        } else {
            added.push(new[j]);
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(before: &str, after: &str) -> Vec<(u32, Option<String>, Option<String>)> {
        let (views, count) = changes(before, after, 10);
        assert!(count >= views.len());
        views.into_iter().map(|view| (view.line, view.removed, view.added)).collect()
    }

    #[test]
    fn changed_added_and_removed_lines_are_told() {
        let told = |line, a: &str, b: &str| {
            let side = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            (line, side(a), side(b))
        };
        assert_eq!(of("a\nb\nc", "a\nB\nc"), [told(2, "b", "B")]);
        assert_eq!(of("a\nc", "a\nb\nc"), [told(2, "", "b")]);
        assert_eq!(of("a\nb\nc", "a\nc"), [told(2, "b", "")]);
        assert_eq!(of("a\nb\nc\nd\ne", "A\nb\nc\nd\nE"), [told(1, "a", "A"), told(5, "e", "E")]);
        assert_eq!(of("a\r\nb", "a\nb"), []);
        assert_eq!(changes(&"x\n".repeat(5000), &"y\n".repeat(5000), 3).1, 5000);
    }
}
