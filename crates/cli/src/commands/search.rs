//! The authority's search as such.

use bridge::headless::{Family, Hit, HitPage, SearchTerms};
use bridge::{Problem, StateCode};

use super::Scene;
use crate::arguments::Search;
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::report_lines::{look_of, messages};

pub(super) async fn search(scene: &Scene<'_>, search: Search) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    profile.reach().await?;
    let terms = SearchTerms {
        date: search.date,
        last_updated: search.last_updated,
        identifier: search.identifier,
        status: search.status,
        sort: search.sort,
        count: search.count,
        page: search.page,
    };
    let only_count = search.count == Some(0);
    let mut last: Option<HitPage> = None;
    let searched = profile
        .search(&terms, search.all, |page| {
            page.hits.iter().for_each(|hit| show(scene, hit));
            messages(scene.output, scene.texts, &page.issues);
            last = Some(page);
        })
        .await;
    if searched.is_ok() {
        conclude(scene, last.as_ref(), only_count, search.all);
    }
    profile.close().await;
    searched.map(|()| Exit::Well).map_err(as_typed)
}

/// The interface calls a parameter by another name, which may differ with the release: whoever
/// asked knows the option.
fn as_typed(mut problem: Problem) -> Problem {
    if problem.code == "search-not-offered"
        && let Some(name) = problem.params.get_mut("name")
    {
        let option = match name.as_str() {
            "date" => "--date",
            "_lastUpdate" | "_lastUpdated" => "--last-updated",
            "identifier" => "--identifier",
            "elm-status" => "--status",
            "_sort" => "--sort",
            "_count" => "--count",
            "page" => "--page",
            _ => return problem,
        };
        option.clone_into(name);
    }
    problem
}

fn conclude(scene: &Scene<'_>, last: Option<&HitPage>, only_count: bool, all: bool) {
    let total = last.and_then(|page| page.total);
    if only_count && scene.output.json {
        scene.output.object(&serde_json::json!({ "total": total }));
        return;
    }
    let text = total.map_or_else(|| "?".to_owned(), |total| total.to_string());
    if only_count {
        scene.line("say.total", &[("total", &text)]);
    } else if total == Some(0) {
        scene.hint("say.nothing-found", &[]);
    } else {
        scene.hint("say.total", &[("total", &text)]);
        if !all && last.is_some_and(|page| page.more) {
            scene.hint("say.more-pages", &[]);
        }
    }
}

fn show(scene: &Scene<'_>, hit: &Hit) {
    if scene.output.json {
        scene.output.object(hit);
        return;
    }
    let status = hit.status.unwrap_or_default();
    let look = StateCode::of(status).map_or(Look::Plain, look_of);
    let changed = hit.last_updated.as_ref().or(hit.date.as_ref());
    let changed = changed.map(|at| super::view::to_the_second(at)).unwrap_or_default();
    let submission = hit.submission.map(|id| format!("{id:>4}")).unwrap_or_default();
    let line = Line::new()
        .column(&submission, 6, Look::Faint)
        .column(&scene.texts.word(Family::State, status), 30, look)
        .column(&changed, 22, Look::Faint)
        .column(hit.id.as_deref().unwrap_or_default(), 38, Look::Plain)
        .add(hit.identifiers.join(" "));
    scene.output.line(&line);
    messages(scene.output, scene.texts, &hit.issues);
}
