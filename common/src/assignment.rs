//! Assigns different things to the steps of a list, each of which admits some of them: a bipartite matching by augmenting paths
//! (Kuhn 1955).

/// Returns whether every step can have a thing of its own. `choices` contains, for each step, the numbers of the things that it
/// admits, which are below `things`.
pub fn is_possible(choices: &[Vec<usize>], things: usize) -> bool {
    let mut taken = vec![None; things];
    (0..choices.len()).all(|step| assign(step, choices, &mut taken, &mut Vec::new()))
}

/// Assigns a thing to a step, and other ones to the steps that had it, if that is possible. `seen` contains the things that were
/// tried for this step.
fn assign(step: usize, choices: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut Vec<usize>) -> bool {
    for &thing in choices.get(step).into_iter().flatten() {
        if seen.contains(&thing) {
            continue;
        }
        seen.push(thing);
        let owner = taken.get(thing).copied().flatten();
        if owner.is_none_or(|owner| assign(owner, choices, taken, seen)) {
            if let Some(slot) = taken.get_mut(thing) {
                *slot = Some(step);
            }
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_need_different_things() {
        for (choices, possible) in [
            (vec![vec![0], vec![1]], true),
            (vec![vec![0], vec![0]], false),
            (vec![vec![0, 1], vec![0]], true),
            (vec![vec![0, 1], vec![0, 1], vec![0, 1]], false),
            (vec![vec![0, 1], vec![0, 2], vec![0]], true),
            (vec![vec![0, 1], vec![0], vec![1]], false),
        ] {
            assert_eq!(is_possible(&choices, 3), possible, "{choices:?}");
        }
    }
}
