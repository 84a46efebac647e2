// fhir-kit-client, an independent FHIR client, against a running authority. The last line it prints is the
// result: how many cases, and every fault.
import { readFileSync } from 'node:fs';
import * as undici from 'undici';
import { CapabilityTool, Client } from 'fhir-kit-client';

const { BASE, CA, PEM } = process.env;
const pem = readFileSync(PEM);
// The client uses the fetch of its surroundings: here one that shows a certificate.
const { fetch, Headers, Request, Response } = undici;
Object.assign(globalThis, { fetch, Headers, Request, Response });
undici.setGlobalDispatcher(
  new undici.Agent({ connect: { ca: readFileSync(CA), cert: pem, key: pem } }),
);

const DOCUMENT = 'DocumentReference';
const STATUS = 'http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status';
const client = new Client({ baseUrl: BASE });
const description = await client.request(`${BASE}/openapi.json`);
const media = description.paths['/DocumentReference'].post.requestBody.content;
const example = media['application/fhir+json'].example;

let cases = 0;
const faults = [];
async function check(name, act) {
  cases += 1;
  try {
    await act();
  } catch (error) {
    const said = error.response ? JSON.stringify(error.response.data) : '';
    faults.push(`${name}: ${error.message} ${said}`);
  }
}
function same(found, wanted, of) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${of}: ${JSON.stringify(found)} in place of ${JSON.stringify(wanted)}`);
  }
}
function holds(truth, of) {
  if (!truth) throw new Error(`not so: ${of}`);
}
/** A request that must fail with this status and an OperationOutcome. */
async function refused(status, request, named = '') {
  let answer;
  try {
    answer = await request;
  } catch (error) {
    same(error.response.status, status, 'status');
    const outcome = error.response.data;
    same(outcome.resourceType, 'OperationOutcome', 'resource');
    holds(outcome.issue.length > 0, 'an issue');
    holds(JSON.stringify(outcome).includes(named), `${named} is named`);
    return outcome;
  }
  throw new Error(`accepted: ${JSON.stringify(answer)}`);
}
const uuid = () => `urn:uuid:${crypto.randomUUID()}`;
function report(change = () => {}) {
  const body = structuredClone(example);
  body.identifier[0].value = uuid();
  body.contained[0].identifier.value = uuid();
  change(body);
  return body;
}
const status = (reference) =>
  reference.extension
    .find((one) => one.url === STATUS)
    .extension.find((one) => one.url === 'status').valueCode;
const create = (body, headers) =>
  client.create({ resourceType: DOCUMENT, body, options: { headers } });
const find = (searchParams, options) =>
  client.search({ resourceType: DOCUMENT, searchParams, options });
const ids = (bundle) => (bundle.entry ?? []).map((entry) => entry.resource.id);
const response = (resource) => Client.httpFor(resource).response;

const sent = [];
await check('capabilityStatement', async () => {
  const statement = await client.capabilityStatement();
  same(statement.resourceType, 'CapabilityStatement', 'resource');
  same(statement.fhirVersion, '4.0.1', 'version');
  const tool = new CapabilityTool(statement);
  for (const interaction of ['create', 'read', 'search-type']) {
    holds(tool.resourceCan(DOCUMENT, interaction), interaction);
  }
  for (const interaction of ['vread', 'update', 'patch', 'delete']) {
    holds(!tool.resourceCan(DOCUMENT, interaction), `not ${interaction}`);
  }
  for (const name of ['date', '_lastUpdated', 'identifier', 'elm-status', '_id']) {
    holds(tool.resourceSearch(DOCUMENT, name), `search by ${name}`);
  }
});
for (let number = 0; number < 7; number += 1) {
  await check(`create ${number}`, async () => {
    const body = report();
    const created = await create(body);
    sent.push({ id: created.id, identifier: body.identifier[0].value });
    same(response(created).status, 201, 'status');
    same(created.resourceType, DOCUMENT, 'resource');
    same(status(created), 'in-progress', 'elm-status');
    same(created.identifier, body.identifier, 'identifier');
    const location = response(created).headers.get('location');
    same(location, `${BASE}/${DOCUMENT}/${created.id}`, 'Location');
    holds(response(created).headers.get('etag') === `W/"${created.meta.versionId}"`, 'ETag');
  });
}
await check('create, return=minimal', async () => {
  const created = await create(report(), { Prefer: 'return=minimal' });
  same(Object.keys(created), [], 'body');
  const location = response(created).headers.get('location');
  sent.push({ id: location.split('/').pop() });
});
await check('create, return=OperationOutcome', async () => {
  const created = await create(report(), { Prefer: 'return=OperationOutcome' });
  same(created.resourceType, 'OperationOutcome', 'resource');
  sent.push({ id: response(created).headers.get('location').split('/').pop() });
});
for (const { id } of sent) {
  await check(`read ${id}`, async () => {
    const end = Date.now() + 30_000;
    let read;
    do {
      read = await client.read({ resourceType: DOCUMENT, id });
      same(read.id, id, 'id');
      holds(['in-progress', 'completed'].includes(status(read)), status(read));
      holds(Date.now() < end, 'processed within 30 s');
    } while (status(read) !== 'completed');
    same(read.meta.versionId, '2', 'version');
    const found = await client.resolve({ reference: `${DOCUMENT}/${id}` });
    same(found, read, 'resolve');
  });
}
await check('read with If-None-Match', async () => {
  const options = { headers: { 'If-None-Match': 'W/"2"' } };
  try {
    await client.read({ resourceType: DOCUMENT, id: sent[0].id, options });
  } catch (error) {
    same(error.response.status, 304, 'status');
    return;
  }
  throw new Error('sent again');
});
for (const postSearch of [false, true]) {
  const by = postSearch ? 'POST' : 'GET';
  const options = { postSearch };
  const total = sent.length;
  await check(`search by ${by}`, async () => {
    const bundle = await find({}, options);
    same([bundle.resourceType, bundle.type], ['Bundle', 'searchset'], 'kind');
    same(bundle.total, total, 'total');
    same(ids(bundle), sent.map(({ id }) => id).reverse(), 'newest first');
    for (const entry of bundle.entry) {
      same(entry.fullUrl, `${BASE}/${DOCUMENT}/${entry.resource.id}`, 'fullUrl');
      same(entry.search.mode, 'match', 'mode');
    }
  });
  for (const [name, value, wanted] of [
    ['identifier', sent[0].identifier, 1],
    ['identifier', `urn:ietf:rfc:3986|${sent[1].identifier}`, 1],
    ['identifier', 'urn:ietf:rfc:3986|', total],
    ['identifier', `|${sent[1].identifier}`, 0],
    ['identifier', [`${sent[0].identifier},${sent[1].identifier}`, sent[1].identifier], 1],
    ['_id', sent[2].id, 1],
    ['elm-status', 'completed', total],
    ['elm-status', 'failed', 0],
    ['date', 'gt2020-01-01', total],
    ['date', 'lt2020-01-01T12:00:00+02:00', 0],
    ['_lastUpdated', ['ge2020', 'lt2999-12'], total],
    ['_count', '0', total],
    ['colour', 'red', total],
  ]) {
    await check(`search by ${by}: ${name}=${value}`, async () => {
      const bundle = await find({ [name]: value }, options);
      same(bundle.total, wanted, 'total');
      same(ids(bundle).length, name === '_count' ? 0 : wanted, 'entries');
      const self = bundle.link.find((link) => link.relation === 'self').url;
      same(self.includes(`${name}=`), name !== 'colour', `${name} in ${self}`);
    });
  }
  await check(`pages by ${by}`, async () => {
    const walk = [];
    let bundle = await find({ _count: '4', _sort: 'date' }, options);
    const pages = [];
    while (bundle) {
      pages.push(bundle);
      walk.push(...ids(bundle));
      bundle = await client.nextPage({ bundle });
    }
    same(walk, sent.map(({ id }) => id), 'every report once');
    same(pages.length, Math.ceil(total / 4), 'pages');
    const back = await client.prevPage({ bundle: pages.at(-1) });
    same(ids(back), ids(pages.at(-2)), 'the page before');
    same(client.prevPage({ bundle: pages[0] }), undefined, 'nothing before the first');
  });
  for (const [params, named] of [
    [{ 'elm-status': 'failed,completed' }, 'elm-status'],
    [{ date: 'yesterday' }, 'date'],
    [{ _count: '-1' }, '_count'],
    [{ _sort: 'colour' }, '_sort'],
    [{ 'identifier:exact': 'a' }, 'exact'],
  ]) {
    await check(`search by ${by}, refused: ${Object.keys(params)}`, () =>
      refused(400, find(params, options), named),
    );
  }
  await check(`search by ${by}, strict`, () => {
    const headers = { Prefer: 'handling=strict' };
    return refused(400, find({ colour: 'red' }, { postSearch, headers }), 'colour');
  });
}
for (const [name, code, body, named] of [
  ['another resource', 422, { resourceType: 'Patient' }, 'Patient'],
  ['no resource', 400, { a: 1 }, ''],
  ['relatesTo', 422, report((one) => {
    one.relatesTo = [{ code: 'replaces', target: { reference: 'DocumentReference/1' } }];
  }), 'relatesTo'],
  ['no document', 422, report((one) => delete one.contained), 'Bundle'],
  ['unknown element', 422, report((one) => (one.colour = 'red')), 'colour'],
  ['wrong code', 422, report((one) => (one.status = 'final')), 'status'],
]) {
  await check(`create, refused: ${name}`, async () => {
    const outcome = await refused(code, create(body), named);
    holds(outcome.id === undefined, 'no id');
  });
}
await check('read, unknown id', () =>
  refused(404, client.read({ resourceType: DOCUMENT, id: 'unknown' })),
);
await check('vread, not offered', () =>
  refused(404, client.vread({ resourceType: DOCUMENT, id: sent[0].id, version: '1' })),
);
await check('update, not offered', () =>
  refused(405, client.update({ resourceType: DOCUMENT, id: sent[0].id, body: report() })),
);
await check('delete, not offered', () =>
  refused(405, client.delete({ resourceType: DOCUMENT, id: sent[0].id })),
);
await check('patch, not offered', () =>
  refused(405, client.patch({ resourceType: DOCUMENT, id: sent[0].id, JSONPatch: [] })),
);
await check('another type', () => refused(404, client.read({ resourceType: 'Patient', id: '1' })));
await check('history, not offered', () =>
  refused(404, client.history({ resourceType: DOCUMENT, id: sent[0].id })),
);

process.stdout.write(`${JSON.stringify({ cases, faults })}\n`, () => process.exit(0));
