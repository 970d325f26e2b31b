// Loaded before the API or worker of a test (`--import`). Writes the shape of each command on data of tenants that names neither
// a tenant nor a reason to the file of the query `to`, once for each shape; global-teardown.ts fails the run if there is any.
// The driver's own monitoring would read each answer twice, so this looks at the commands before they are sent.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { shardKeysOf, tenantCommandOf } from './tenant-rules.mjs';

const to = new URL(import.meta.url).searchParams.get('to');
const written = new Set();

// A thread inherits the flag. Temporal's workflow threads have no database, and would load the whole product for nothing.
if (isMainThread) await watch();

async function watch() {
  const load = (path) => import(`../../dist/src/${path}.js`);
  const { migrations } = await load('composition/migrations');
  const { wantedOf } = await load('platform/database/migrations');
  const { ACROSS_TENANTS } = await load('platform/database/tenant-filters');
  const rules = {
    shardKeys: shardKeysOf(wantedOf(migrations).map(([spec]) => spec)),
    reasons: ACROSS_TENANTS,
  };
  const { prototype } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js').Connection;
  const { prepareCommand } = prototype;
  if (typeof prepareCommand !== 'function')
    throw new Error('the driver prepares commands otherwise');
  prototype.prepareCommand = function prepare(database, command, options) {
    note(rules, command);
    return prepareCommand.call(this, database, command, options);
  };
}

function note({ shardKeys, reasons }, command) {
  const [name] = Object.keys(command);
  const found = tenantCommandOf(shardKeys, name, command);
  if (!found || found.namesTenant || reasons.includes(found.comment)) return;
  const shape = `${found.shown}: ${JSON.stringify(shapeOf(command))}`;
  if (written.has(shape)) return;
  written.add(shape);
  appendFileSync(to, `${shape}\n`);
}

/** The names of fields, without values: those may be personal data. */
function shapeOf(value) {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null || value.constructor !== Object) {
    return typeof value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shapeOf(each)]));
}
