//! What a benchmark found: as a table and as JSON.

use std::{fmt, fs, io, path::Path};

use serde_json::{Map, Value};

/// One figure.
#[derive(Debug)]
pub struct Figure {
    /// Its name; the unit is the part after the last `_` where there is one.
    pub name: &'static str,
    /// What it should be.
    pub goal: Option<Goal>,
    /// The best of all rounds.
    pub best: f64,
    /// The middle of all rounds; `None` for what is counted rather than timed.
    pub median: Option<f64>,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl Goal {
    /// As far as it is shown: a list that grows now and then is no allocation per event.
    fn is_missed(self, figure: f64) -> bool {
        match self {
            Self::AtMost(goal) => figure >= goal + 0.005,
            Self::AtLeast(goal) => figure < goal - 0.005,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(goal) => f.pad(&format!("<= {goal}")),
            Self::AtLeast(goal) => f.pad(&format!(">= {goal}")),
        }
    }
}

/// What a benchmark found.
#[derive(Debug)]
pub struct Report {
    /// The benchmark's name.
    pub name: &'static str,
    /// The figures, in the order in which they are shown.
    pub figures: Vec<Figure>,
}

impl Report {
    /// The figures as one flat JSON object: each by its name, and its median as `NAME_median`.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        for figure in &self.figures {
            object.insert(figure.name.to_owned(), rounded(figure.best));
            if let Some(median) = figure.median {
                object.insert(format!("{}_median", figure.name), rounded(median));
            }
        }
        object.into()
    }

    /// Writes the JSON to `NAME.json` in a folder.
    ///
    /// # Errors
    /// Those of the file.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join(self.name).with_extension("json"), format!("{:#}\n", self.to_json()))
    }
}

fn rounded(figure: f64) -> Value {
    ((figure * 1000.0).round() / 1000.0).into()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<28} {:>8} {:>10} {:>10}", self.name, "goal", "best", "median")?;
        for Figure { name, goal, best, median } in &self.figures {
            let goal_shown = goal.map_or_else(String::new, |goal| goal.to_string());
            let median = median.map_or_else(String::new, |median| format!("{median:.2}"));
            let missed = if goal.is_some_and(|goal| goal.is_missed(*best)) { "  missed" } else { "" };
            writeln!(f, "{name:<28} {goal_shown:>8} {best:>10.2} {median:>10}{missed}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Report {
        let timed = Figure { name: "run_ns", goal: Some(Goal::AtMost(4.0)), best: 4.25, median: Some(5.0) };
        let counted = Figure { name: "allocs", goal: Some(Goal::AtMost(2.0)), best: 2.0, median: None };
        Report { name: "onion", figures: vec![timed, counted] }
    }

    #[test]
    fn json_is_flat() {
        assert_eq!(report().to_json(), json!({"run_ns": 4.25, "run_ns_median": 5.0, "allocs": 2.0}));
    }

    #[test]
    fn the_table_says_which_goals_are_missed() {
        let table = report().to_string();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].ends_with("missed"), "{table}");
        assert!(!lines[2].ends_with("missed"), "{table}");
    }
}
