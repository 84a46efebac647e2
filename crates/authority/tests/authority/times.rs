//! The search by time: values in every precision and zone.

use crate::common::{House, document, urn};
use crate::setting::has_full_search;

in_every_release![times_are_periods_in_every_precision_and_zone];

async fn times_are_periods_in_every_precision_and_zone() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let date = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.date.unwrap();
    let text = date.to_search();
    let later = date.plus_seconds(3600).to_search();
    let (hour_on, second) = (&later[..19], &text[..19]);
    for (query, total) in [
        (format!("date={}", &text[..4]), 1),
        (format!("date=eq{}", &text[..7]), 1),
        (format!("date=ne{}", &text[..7]), 0),
        (format!("date=gt{}", &text[..10]), 0),
        (format!("date=ge{}", &text[..10]), 1),
        (format!("date=lt{}", &text[..10]), 0),
        (format!("date=le{}", &text[..10]), 1),
        (format!("date={}", &text[..16]), 1),
        (format!("date={second}"), 1),
        (format!("date={second}Z"), 1),
        (format!("date={}", &text[..23]), 1),
        (format!("date={text}Z"), 1),
        (format!("date={hour_on}%2B01:00"), 1),
        (format!("date={hour_on}+01:00"), 1),
        (format!("date={hour_on}-01:00"), 0),
        (format!("date=lt2000,gt{}", &text[..4]), 0),
        (format!("date=lt2000,{}", &text[..4]), 1),
        (format!("date=ge{second}&date=lt2000"), 0),
        (format!("date=gt{second}&date=ge{second}"), 0),
    ] {
        let total = if has_full_search() { total } else { 1 };
        let page = lab.search(&query).await;
        assert_eq!(page.total, Some(total), "{query}");
        assert_eq!(page.answers.len(), usize::try_from(total).unwrap(), "{query}");
    }
}
