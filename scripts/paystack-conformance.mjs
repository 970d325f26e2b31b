// Validates every request that the tests of Paystack's adapter make against Paystack's official OpenAPI document, which is
// not a part of this repository: PAYSTACK_SPEC_DIR names the folder of `paystack.yaml`. Without the file nothing is
// checked, and a line says so.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';

/** Requests on which we and the document differ knowingly: account numbers and bank codes begin with zeros. */
const NOT_INTEGERS = new Set(['/bank/resolve account_number', '/bank/resolve bank_code']);
/** The tests of the adapter, which together make each of its calls. */
const ADAPTER = [
  'transfers',
  'payments',
  'mandates',
  'accounts',
  'identity',
  'ledger',
  'ledger-entries',
];
/** The tests of other requests to Paystack, which prove nothing about the adapter's. */
const OTHERS = ['recording', 'doctor'];
/** The requests of each call of the adapter; a test holds the names beside the tables of refusals. */
const CALLS = JSON.parse(
  readFileSync(fileURLToPath(new URL('../test/paystack/calls.json', import.meta.url)), 'utf8'),
);

const folder = process.env.PAYSTACK_SPEC_DIR;
const file = folder ? join(folder, 'paystack.yaml') : null;
if (file === null || !existsSync(file)) {
  console.log('notice: paystack:conformance is skipped: PAYSTACK_SPEC_DIR has no paystack.yaml');
  process.exit(0);
}

const ofAdapter = recordRequests(ADAPTER);
const requests = [...ofAdapter, ...recordRequests(OTHERS)];
const document = parse(readFileSync(file, 'utf8'));
const ajv = new Ajv({ strict: false, coerceTypes: false, allErrors: true, validateFormats: false });
const queries = new Ajv({ strict: false, coerceTypes: true, validateFormats: false });

const problems = new Set(requests.flatMap(check));
const callOf = ({ method, path }) => `${method} ${templateOf(path) ?? path}`;
const seen = new Set(ofAdapter.map((each) => callOf(each).replaceAll(/\{[^}]+\}/g, '{}')));
for (const [call, expected] of Object.entries(CALLS)) {
  for (const each of expected) {
    if (!seen.has(each)) problems.add(`no test makes the call ${call}: ${each}`);
  }
}
for (const problem of problems) console.log(`paystack.yaml: ${problem}`);
const calls = new Set(requests.map(callOf));
console.log(`${requests.length} requests of ${calls.size} calls, ${problems.size} problems`);
process.exitCode = problems.size > 0 ? 1 : 0;

/** The requests that the fake has recorded in a run of these tests. */
function recordRequests(names) {
  const work = mkdtempSync(join(tmpdir(), 'paystack-conformance-'));
  const recorded = join(work, 'requests.jsonl');
  const jest = fileURLToPath(new URL('jest.mjs', import.meta.url));
  const tests = names.map((name) => `test/paystack/${name}.test.ts`);
  const { status } = spawnSync(process.execPath, [jest, ...tests], {
    stdio: 'inherit',
    env: { ...process.env, PAYSTACK_RECORD_REQUESTS: recorded },
  });
  if (status !== 0) process.exit(status ?? 1);
  const lines = readFileSync(recorded, 'utf8').trim().split('\n');
  rmSync(work, { recursive: true, force: true });
  return lines.map((line) => JSON.parse(line));
}

/** The path of the document that a path has the form of. A path without parameters is the better fit. */
function templateOf(path) {
  const fits = Object.keys(document.paths).filter((template) =>
    new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  );
  return fits.find((template) => !template.includes('{')) ?? fits[0];
}

/** What is wrong with a request. */
function check({ method, path, query, body }) {
  const template = templateOf(path);
  const operation = template && document.paths[template][method.toLowerCase()];
  if (!operation) return [`${method} ${path} is not documented`];
  const where = `${method} ${template}`;
  return [
    ...checkQuery(where, template, operation, query),
    ...checkBody(where, template, method, body),
  ];
}

function checkQuery(where, template, { parameters = [] }, query) {
  // Some parameters are documented for all methods of a path.
  const ofPath = document.paths[template].parameters ?? [];
  const known = new Map(
    [...ofPath, ...parameters]
      .map((each) => (each.$ref ? at(each.$ref) : each))
      .filter((each) => each.in === 'query')
      .map((each) => [each.name, each]),
  );
  const wrong = Object.entries(query).flatMap(([name, value]) => {
    const parameter = known.get(name);
    if (!parameter) return [`${where}: ${name} is not documented`];
    if (NOT_INTEGERS.has(`${template} ${name}`)) return [];
    return queries.validate(
      { type: 'object', properties: { [name]: parameter.schema } },
      { [name]: value },
    )
      ? []
      : [`${where}: ${name} ${queries.errorsText()}`];
  });
  const missing = [...known.values()].filter(({ name, required }) => required && !(name in query));
  return [...wrong, ...missing.map(({ name }) => `${where}: ${name} is missing`)];
}

function checkBody(where, template, method, body) {
  const operation = document.paths[template][method.toLowerCase()];
  const schema =
    operation.requestBody && resolve(operation.requestBody).content['application/json'].schema;
  if (!schema) return body === undefined ? [] : [`${where}: no body is documented`];
  const whole = resolve(schema);
  if (!ajv.validate(whole, body)) return [`${where}: ${ajv.errorsText()}`];
  return undocumented(whole, body).map((name) => `${where}: ${name} is not documented`);
}

/** The fields of a body that its schema does not have, at any depth. */
function undocumented(schema, value, path = '') {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each) => undocumented(schema.items ?? {}, each, `${path}[]`));
  }
  const fields = fieldsOf(schema);
  // A part without documented fields, such as one of metadata, may have any.
  if (path !== '' && fields.size === 0) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const field = path === '' ? name : `${path}.${name}`;
    return fields.has(name) ? undocumented(fields.get(name), each, field) : [field];
  });
}

/** The fields that a schema has, also by its parts. */
function fieldsOf({ properties = {}, allOf = [], anyOf = [], oneOf = [] }) {
  const parts = [...allOf, ...anyOf, ...oneOf];
  return new Map([...Object.entries(properties), ...parts.flatMap((part) => [...fieldsOf(part)])]);
}

/** A schema without references to other parts of the document. */
function resolve(part) {
  if (Array.isArray(part)) return part.map(resolve);
  if (typeof part !== 'object' || part === null) return part;
  if (part.$ref) return resolve(at(part.$ref));
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolve(value)]));
}

/** The part of the document that a reference names. */
function at(reference) {
  return reference
    .slice(2)
    .split('/')
    .reduce((part, name) => part[name], document);
}
