//! How the resources of a document find each other
//! (<https://hl7.org/fhir/R4/bundle.html#references>).

use std::collections::HashMap;

use fhir::Element;

/// The entries of a document by the names under which they can be referred to.
pub struct Links<'t> {
    resources: Vec<Element<'t>>,
    /// `Composition`, as the first resource of that type.
    composition: Option<Element<'t>>,
    by_url: HashMap<&'t str, usize>,
    /// `Type/id` of each resource.
    by_id: HashMap<(&'t str, &'t str), usize>,
    /// `fullUrl` of each resource, in the same order.
    urls: Vec<Option<&'t str>>,
    /// Where each resource begins in the source: tells which one an element is.
    by_start: HashMap<usize, usize>,
}

/// Where a reference leads.
#[derive(Debug, Clone, Copy)]
pub enum Target<'t> {
    /// To this resource of the document, as the standard has it.
    Inside(Element<'t>),
    /// To this resource, but only because its type and id fit: its `fullUrl` does not.
    ByIdOnly(Element<'t>),
    /// To something on the web that the document does not hold.
    Outside,
    /// To nothing.
    Nowhere,
}

impl<'t> Target<'t> {
    /// The resource of the document, if it leads to one.
    pub fn resource(self) -> Option<Element<'t>> {
        match self {
            Self::Inside(resource) | Self::ByIdOnly(resource) => Some(resource),
            Self::Outside | Self::Nowhere => None,
        }
    }
}

impl<'t> Links<'t> {
    /// Indexes the entries of a document Bundle.
    pub fn of(document: Element<'t>) -> Self {
        let mut links = Self {
            resources: Vec::new(),
            composition: None,
            by_url: HashMap::new(),
            by_id: HashMap::new(),
            urls: Vec::new(),
            by_start: HashMap::new(),
        };
        for entry in document.children().filter(|child| child.name() == "entry") {
            let Some(resource) = entry.child("resource") else { continue };
            links.add(entry.text("fullUrl"), resource);
        }
        links
    }

    fn add(&mut self, url: Option<&'t str>, resource: Element<'t>) {
        let place = self.resources.len();
        if let Some(url) = url {
            self.by_url.entry(url).or_insert(place);
        }
        if let (Some(resource_type), Some(id)) = (resource.resource_type(), resource.text("id")) {
            self.by_id.entry((resource_type, id)).or_insert(place);
        }
        if self.composition.is_none() && resource.resource_type() == Some("Composition") {
            self.composition = Some(resource);
        }
        self.by_start.insert(resource.position().start, place);
        self.resources.push(resource);
        self.urls.push(url);
    }

    /// All resources of the entries, in their order, with their `fullUrl`.
    pub fn resources(&self) -> impl Iterator<Item = (Option<&'t str>, Element<'t>)> + '_ {
        self.urls.iter().copied().zip(self.resources.iter().copied())
    }

    /// The first Composition.
    pub fn composition(&self) -> Option<Element<'t>> {
        self.composition
    }

    /// First resource of this type.
    pub fn first(&self, resource_type: &str) -> Option<Element<'t>> {
        self.resources.iter().copied().find(|r| r.resource_type() == Some(resource_type))
    }

    /// The resource that the first reference of this name on `element` leads to. `resource` is the
    /// entry's resource that holds the element.
    pub fn follow(
        &self,
        resource: Element<'t>,
        element: Element<'t>,
        name: &str,
    ) -> Option<Element<'t>> {
        self.resolve(resource, element.child(name)?.text("reference")?).resource()
    }

    /// Where a reference that stands somewhere in `resource` (an entry's) leads.
    pub fn resolve(&self, resource: Element<'t>, reference: &str) -> Target<'t> {
        let place = self.by_start.get(&resource.position().start);
        let url = place.and_then(|place| self.urls[*place]);
        self.resolve_from(url, resource, reference)
    }

    /// As [`Links::resolve`], where the resource's `fullUrl` is known.
    pub fn resolve_from(
        &self,
        full_url: Option<&str>,
        resource: Element<'t>,
        reference: &str,
    ) -> Target<'t> {
        if let Some(id) = reference.strip_prefix('#') {
            return contained(resource, id);
        }
        let reference = reference.split('#').next().unwrap_or_default();
        let reference = reference.split("/_history/").next().unwrap_or_default();
        if reference.contains(':') {
            return match self.by_url.get(reference) {
                Some(place) => Target::Inside(self.resources[*place]),
                None if reference.starts_with("http:") || reference.starts_with("https:") => {
                    Target::Outside
                }
                None => Target::Nowhere,
            };
        }
        let base = full_url.and_then(base_of);
        let absolute = base.map(|base| format!("{base}{reference}"));
        if let Some(place) = absolute.and_then(|url| self.by_url.get(url.as_str())) {
            return Target::Inside(self.resources[*place]);
        }
        match reference.split_once('/').and_then(|key| self.by_id.get(&key)) {
            Some(place) => Target::ByIdOnly(self.resources[*place]),
            None => Target::Nowhere,
        }
    }
}

/// A resource contained in this one, or (for `#` alone) the resource itself.
fn contained<'t>(resource: Element<'t>, id: &str) -> Target<'t> {
    if id.is_empty() {
        return Target::Inside(resource);
    }
    let mut contained = resource.children().filter(|child| child.name() == "contained");
    match contained.find(|inner| inner.text("id") == Some(id)) {
        Some(inner) => Target::Inside(inner),
        None => Target::Nowhere,
    }
}

/// `http://host/base/` of `http://host/base/Type/id`: relative references count from there. Only a
/// REST address has one.
fn base_of(url: &str) -> Option<&str> {
    if !url.starts_with("http:") && !url.starts_with("https:") {
        return None;
    }
    let url = url.split("/_history/").next()?;
    let (before_id, _) = url.rsplit_once('/')?;
    let (base, resource_type) = before_id.rsplit_once('/')?;
    let is_type = resource_type.starts_with(|c: char| c.is_ascii_uppercase());
    (is_type && base.contains("//")).then(|| &url[..=base.len()])
}
