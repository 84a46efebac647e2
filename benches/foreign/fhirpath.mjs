// The invariants of one report with fhirpath.js, over plain JavaScript objects: the figures that `bench rules` sets
// beside ours. Called with the folder of the package and a file: { resource, rounds, work: [{ of, expression, owner,
// element }] }. Prints { perRound: [microseconds], refused, differs }.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, file] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const fhirpath = require("fhirpath");
const model = require("fhirpath/fhir-context/r4");
const { resource, rounds, work } = JSON.parse(readFileSync(file, "utf8"));

/** The part of the report that an expression of ours names. */
function part(expression) {
  let at = resource;
  for (const step of expression.split(".").slice(1)) {
    const [, name, place] = /^`?([^`[]+)`?(?:\[(\d+)\])?$/.exec(step) ?? [];
    if (name === undefined || name.startsWith("ofType(")) continue;
    const choice = () => Object.keys(at).find((key) => key.startsWith(name) && /^[A-Z]/.test(key.slice(name.length)));
    at = at[name in at ? name : choice()];
    if (place !== undefined && Array.isArray(at)) at = at[Number(place)];
    if (at === undefined) throw new Error(`${expression} is not in the report`);
  }
  return at;
}

const compiled = new Map();
const compile = ({ of, expression }, element) => {
  const whole = element.resourceType !== undefined;
  const key = `${whole} ${of} ${expression}`;
  if (!compiled.has(key)) compiled.set(key, fhirpath.compile(whole ? expression : { base: of, expression }, model));
  return compiled.get(key);
};
const calls = work.map((one) => {
  const element = part(one.element);
  return { run: compile(one, element), element, env: { resource: part(one.owner), rootResource: resource } };
});

let refused = 0;
let differs = 0;
for (const { run, element, env } of calls) {
  try {
    if (run(element, env)[0] !== true) differs += 1;
  } catch {
    refused += 1;
  }
}
const perRound = [];
for (let round = 0; round < rounds; round += 1) {
  const began = process.hrtime.bigint();
  for (let again = 0; again < 20; again += 1) {
    for (const { run, element, env } of calls) {
      try {
        run(element, env);
      } catch {
        // Counted above.
      }
    }
  }
  perRound.push(Number(process.hrtime.bigint() - began) / 1000 / 20);
}
console.log(JSON.stringify({ perRound, refused, differs }));
