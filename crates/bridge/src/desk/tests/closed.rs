//! The laboratory that was in use does not open after a start: practice stands in for it in the
//! core, and is nothing that people are in.

use super::*;
use crate::Standing;

const PASSPHRASE: &str = "correct horse battery";

/// A desk whose laboratory was in use, and waits for its passphrase since the start.
async fn sealed(folder: &Path) -> Desk {
    let desk = Desk::open_with(folder, SecretsKind::Practice).await.unwrap();
    desk.protect_with_passphrase(PASSPHRASE.to_owned()).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    // What is left of practice is not what waits in the laboratory.
    let wrong = testkit::DocumentBuilder::new(1).json().replace("\"final\"", "\"finished\"");
    desk.send_text(wrong, "held".to_owned()).await.unwrap();
    desk.set_paused(true).await.unwrap();
    desk.use_endpoint("real".to_owned()).await.unwrap();
    desk.stop().await;
    drop(desk);
    Desk::open_with(folder, SecretsKind::Practice).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_told_of_practice_while_it_stands_in_for_a_closed_laboratory() {
    let folder = tempfile::tempdir().unwrap();
    let desk = sealed(folder.path()).await;
    let status = desk.status().await.unwrap();
    assert!(status.laboratory.is_some_and(|laboratory| laboratory.closed));
    assert_eq!(status.problem.unwrap().code, "passphrase-needed");
    assert_eq!((status.counts.needs_attention, status.paused), (0, false));
    assert_eq!((status.endpoint.as_str(), status.connection), ("", Connection::Unchecked));
    assert_eq!((&status.certificate, &status.last_contact), (&None, &None));
    let in_use = async || desk.endpoints().await.unwrap().into_iter().find(|one| one.in_use);
    assert_eq!(in_use().await.map(|one| one.name), None, "practice is not in use");
    let standing = desk.standing().await.unwrap();
    assert_eq!((standing.standing, standing.needs_attention), (Standing::Attention, 0));

    let room = status.room;
    desk.open_vault(PASSPHRASE.to_owned()).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!((status.laboratory, status.endpoint.as_str()), (None, "real"));
    assert_ne!(status.room, room);
    assert_eq!(in_use().await.unwrap().name, "real");
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn practice_that_a_person_chooses_meanwhile_is_what_they_are_in() {
    let folder = tempfile::tempdir().unwrap();
    let desk = sealed(folder.path()).await;
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!(status.laboratory, None);
    assert_eq!((status.counts.needs_attention, status.paused), (1, true));
    // That the laboratory is closed stands there all the same.
    assert_eq!(status.problem.unwrap().code, "passphrase-needed");
    assert!(desk.endpoints().await.unwrap()[0].in_use);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_passphrase_is_changed_by_whoever_knows_the_one_of_before() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let change = async |desk: &Desk, current: &str, next: &str| {
        desk.change_vault_passphrase(current.to_owned(), next.to_owned()).await
    };
    let next = "battery staple horse";
    assert_eq!(change(&desk, PASSPHRASE, next).await.unwrap_err().code, "no-vault");
    desk.protect_with_passphrase(PASSPHRASE.to_owned()).await.unwrap();
    assert!(desk.safekeeping().await.unwrap().unwrap().needs_passphrase);
    assert_eq!(change(&desk, next, next).await.unwrap_err().code, "wrong-passphrase");
    assert_eq!(change(&desk, PASSPHRASE, "short").await.unwrap_err().code, "passphrase-weak");
    change(&desk, PASSPHRASE, next).await.unwrap();
    desk.stop().await;
    drop(desk);

    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let before = desk.open_vault(PASSPHRASE.to_owned()).await.unwrap_err();
    assert_eq!(before.code, "wrong-passphrase");
    desk.open_vault(next.to_owned()).await.unwrap();
    desk.stop().await;
}
