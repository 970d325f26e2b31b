import { readFileSync } from 'node:fs';
import { migrations } from '../../src/composition/migrations.js';
import { wantedOf } from '../../src/platform/database/migrations.js';

const specs = wantedOf(migrations).map(([spec]) => spec);
const sharded = specs.filter(({ shardBy }) => shardBy);
const names = (some: typeof specs) => some.map(({ name }) => name).toSorted();

test('every unique index of a collection that may be sharded begins with its shard key', () => {
  const others = sharded.flatMap(({ name, shardBy, indexes }) =>
    indexes
      .filter(({ unique, key }) => unique && Object.keys(key)[0] !== shardBy)
      .map(({ key }) => `${name}: ${Object.keys(key).join(', ')}`),
  );
  expect(others).toEqual([]);
});

test('every collection of data of tenants may be sharded, but for those that are found before their tenant', () => {
  const owned = specs.filter(({ validator }) => validator['required'].includes('tenant_id'));
  expect(names(owned.filter(({ shardBy }) => !shardBy))).toEqual([
    'api_keys',
    'operator_commands',
    'provider_event_replays',
    'provider_events',
    'webhook_endpoints',
  ]);
  expect(names(sharded.filter(({ shardBy }) => shardBy === '_id'))).toEqual([
    'customer_counts',
    'deposit_counts',
    'idempotency_keys',
    'transfer_monthly_counts',
    'virtual_account_counts',
    'wallets',
  ]);
});

test('docs/sharding.md names each collection that stays on one shard', () => {
  const [, section = ''] = readFileSync('docs/sharding.md', 'utf8').split('These stay unsharded');
  const rows = section.split('\n## ')[0]?.matchAll(/^\| (`[^|]+`) +\|/gm) ?? [];
  const named = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => String(name)),
  );
  // Created outside the migrations.
  const others = new Set(['environment', 'migrations', 'migration_lock']);
  expect(named.filter((name) => !others.has(name)).toSorted()).toEqual(
    names(specs.filter(({ shardBy }) => !shardBy)),
  );
});

test('docs/sharding.md names the shard key of each collection, and its commands set these keys', () => {
  const page = readFileSync('docs/sharding.md', 'utf8');
  const declared = Object.fromEntries(sharded.map(({ name, shardBy }) => [name, shardBy]));
  const rows = page.matchAll(/^\| `(\w+)` +\| `\{ (\w+): 1 \}`/gm);
  expect(Object.fromEntries([...rows].map(([, name, key]) => [name, key]))).toEqual(declared);
  const commands = page.matchAll(/^ {2}(\w+): '(\w+)',$/gm);
  expect(Object.fromEntries([...commands].map(([, name, key]) => [name, key]))).toEqual(declared);
});
