//! What reaches an authority is stored there. R2 is broken here, if it is.

use crate::authority::Stored;
use crate::computer::SECOND;
use crate::history::Broken;
use crate::world::World;

/// What a gateway does to deliveries: it repeats them, or refuses the answer. R2 is broken here
/// too: what is stored was delivered before.
pub(crate) fn accept_at_gateway(
    world: &World,
    endpoint: usize,
    identifier: &str,
    certificate: usize,
    is_repeated: bool,
) -> Option<Stored> {
    let now = world.truth();
    let mut authority = crate::lock(&world.authorities[endpoint]);
    let again = authority.known(identifier, now).is_some();
    let first = authority.stored.len();
    let told = world.echo(|dice| match is_repeated {
        true => {
            let (first, second) = authority.accept_twice(identifier, now, dice);
            if dice.percent(50) { first } else { second }
        }
        false => authority.accept(identifier, now, false, dice),
    });
    authority.came_with(certificate, first);
    if world.plan.edges.overtakes > 0 {
        // Less than a search for changes looks back; and a person is about to correct it.
        let lag = world.echo(|dice| dice.time(0, 100 * SECOND));
        authority.show_late(told, lag);
        world.overtake(identifier);
    }
    let stored = authority.stored.get(told).cloned();
    drop(authority);
    world.note("authority", || {
        let what = if is_repeated { "Repeated" } else { "StoredRefused" };
        format!("stores {} at a gateway: {what}", short(identifier))
    });
    if again {
        world.broken(Broken::Duplicate, format!("{} was accepted twice", short(identifier)));
    }
    stored
}

/// R2 is broken here, if it is.
pub(crate) fn accept(
    world: &World,
    endpoint: usize,
    identifier: &str,
    certificate: usize,
) -> Option<Stored> {
    let late = world.faulty();
    let mut authority = crate::lock(&world.authorities[endpoint]);
    let again = authority.known(identifier, world.truth()).is_some();
    let number = world.dice(|dice| authority.accept(identifier, world.truth(), late, dice));
    authority.came_with(certificate, number);
    if world.more(|dice| dice.percent(world.plan.forgets)) {
        let after = world.more(|dice| dice.between(0, 5_000));
        authority.forget(number, i64::try_from(after).unwrap_or(0) * SECOND);
    }
    let stored = authority.stored.get(number).cloned();
    drop(authority);
    if let Some(stored) = &stored {
        let late = stored.indexed > stored.accepted || stored.told > stored.finished;
        world.count(|tally| tally.lags += u64::from(late));
        world.note("authority", || {
            let seconds = |time: i64| (time - stored.accepted) / SECOND;
            format!(
                "stores {} as {}, shows it after {} s, {} after {} s, shows that after {} s",
                short(identifier),
                stored.receipt,
                seconds(stored.indexed),
                stored.outcome.code(),
                seconds(stored.finished),
                seconds(stored.told)
            )
        });
    }
    if let Some(content) = world.papers(|papers| papers.content_of(identifier)) {
        let authority = crate::lock(&world.authorities[endpoint]);
        let twin = authority.stored.iter().find(|other| {
            let same = world.papers(|papers| papers.content_of(&other.identifier)) == Some(content);
            same && other.identifier != identifier && !other.is_forgotten(world.truth())
        });
        if let Some(twin) = twin {
            let what = format!("{} says what {} said", short(identifier), short(&twin.identifier));
            world.broken(Broken::Duplicate, what);
        }
    }
    if again {
        world.broken(Broken::Duplicate, format!("{} was accepted twice", short(identifier)));
    }
    stored
}

/// The end of an identifier, which is all that differs.
pub(crate) fn short(identifier: &str) -> &str {
    identifier.rsplit('-').next().unwrap_or(identifier).trim_start_matches('0')
}
