//! What the server says is the newest version: the form that Tauri's own updater reads, so that one
//! description serves both.

use std::collections::BTreeMap;

use minisign_verify::Signature;
use serde::Deserialize;
use url::Url;

use crate::ask::{Limits, ask};
use crate::setting::{Source, unwrapped};
use crate::{Fault, Version};

/// The description; what else stands in it is for others.
#[derive(Deserialize)]
struct Description {
    version: String,
    platforms: BTreeMap<String, Platform>,
}

#[derive(Deserialize)]
struct Platform {
    url: Url,
    signature: String,
}

/// A newer version as the server describes it. It is a promise: the file is not fetched yet.
#[derive(Clone)]
pub struct Offer {
    /// The version that is promised.
    pub version: Version,
    pub(crate) url: Url,
    pub(crate) signature: Signature,
}

/// Asks whether there is something newer than `here`, for one of these platforms, the best first
/// (`linux-x86_64-deb`, `linux-x86_64`).
///
/// # Errors
/// [`Fault`].
pub async fn newer(
    source: &Source,
    here: Version,
    platforms: &[String],
    limits: Limits,
) -> Result<Option<Offer>, Fault> {
    let mut text = Vec::new();
    let bounds = fetch::Bounds {
        connect: limits.connect,
        all: limits.description,
        bytes_max: limits.description_bytes_max,
    };
    let keep = |part: &[u8]| {
        text.extend_from_slice(part);
        Ok(())
    };
    ask(&source.address, source.ca_pem.as_deref(), bounds, keep).await?;
    let said: Description = serde_json::from_slice(&text).map_err(|_| Fault::NoDescription)?;
    let version: Version = said.version.parse().map_err(|()| Fault::NoDescription)?;
    if version <= here {
        return Ok(None);
    }
    // Nothing for this computer: there is nothing newer for it.
    let Some(platform) = platforms.iter().find_map(|name| said.platforms.get(name)) else {
        return Ok(None);
    };
    if !fetch::is_protected(&platform.url) {
        return Err(Fault::NoDescription);
    }
    let signature = signature(&platform.signature).ok_or(Fault::NotSigned)?;
    Ok(Some(Offer { version, url: platform.url.clone(), signature }))
}

/// As minisign writes it, or all of that in base64, as Tauri's command does.
fn signature(text: &str) -> Option<Signature> {
    Signature::decode(text).ok().or_else(|| Signature::decode(&unwrapped(text)?).ok())
}
