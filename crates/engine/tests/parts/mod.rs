//! What is handed over in several parts.

use engine::{Engine, EngineDeps, ImportOptions, Profile, Taken};
use identity::SecretsKind;

use super::{endpoint, raw};

/// A report cannot be written, and a newer version of it comes in a later part of what is handed
/// over: it must not take the place of the earlier one.
#[tokio::test]
async fn what_follows_a_failed_one_in_a_later_part_fails_too() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::create(folder.path(), SecretsKind::Practice, vec![endpoint()]).unwrap();
    let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
    let text = |number| testkit::DocumentBuilder::new(number).json();
    let look = |name: &str, text: String| {
        let (engine, name) = (engine.clone(), name.to_owned());
        async move { engine.inspect_text(name, text.into_bytes()).await.unwrap() }
    };
    let fails = "CREATE TRIGGER fails BEFORE INSERT ON submission WHEN NEW.file = '1.json' \
                 BEGIN SELECT RAISE(ABORT, 'cannot be written'); END";
    raw(&engine).execute_batch(fails).unwrap();
    let (mut list, terms) = (engine::Listed::of_command(None), ImportOptions::default());
    let mut part = look("3.json", text(3)).await;
    part.extend(look("1.json", text(1)).await);
    let taken = engine.submit(&part, terms, &mut list).await.unwrap().taken;
    assert!(matches!(taken[..], [Taken::New(_), Taken::Failed]), "{taken:?}");
    raw(&engine).execute_batch("DROP TRIGGER fails").unwrap();
    list.next_part();
    let mut part = look("1b.json", text(1).replace("\"final\"", "\"amended\"")).await;
    part.extend(look("2.json", text(2)).await);
    let taken = engine.submit(&part, terms, &mut list).await.unwrap().taken;
    assert!(matches!(taken[..], [Taken::Failed, Taken::New(_)]), "{taken:?}");
}
