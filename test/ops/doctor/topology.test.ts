import { migrations } from '../../../src/composition/migrations.js';
import { wantedOf } from '../../../src/platform/database/migrations.js';
import {
  examineShardKeys,
  examineSupport,
  examineTopology,
} from '../../../src/ops/doctor/mongodb.js';

test.each([
  ['a member of a replica set', { setName: 'rs0', isWritablePrimary: true }, true, 'rs0'],
  ['a mongos', { msg: 'isdbgrid', isWritablePrimary: true }, true, 'a mongos'],
  ['a single server', { isWritablePrimary: true }, false, 'has no transactions'],
])('bursar doctor recognises %s', (_name, hello, ok, detail) => {
  expect(examineTopology(hello, 'do this')).toEqual({
    ok,
    detail: expect.stringContaining(detail),
    hint: ok ? null : 'do this',
  });
});

test.each([
  ['6.0.5', 'sandbox', true, 'mongod 6.0.5 is out of support: for development only'],
  ['6.0.5', 'live', false, 'mongod 6.0.5 is out of support: for development only'],
  ['8.0.17', 'sandbox', true, '8.0.17'],
  ['10.0.1', 'live', true, '10.0.1'],
] as const)(
  'bursar doctor names a mongod %s that is out of support (%s)',
  (version, of, ok, detail) => {
    const hint = 'take another one';
    expect(examineSupport(version, of, hint)).toEqual({ ok, detail, hint: ok ? null : hint });
  },
);

describe('behind a mongos, bursar doctor', () => {
  const declared = wantedOf(migrations).flatMap(([{ name, shardBy }]) =>
    shardBy ? [{ _id: `bursar.${name}`, key: { [shardBy]: 1n } }] : [],
  );
  const without = (name: string) => declared.filter(({ _id }) => _id !== `bursar.${name}`);
  const withKey = (name: string, key: object) => [...without(name), { _id: `bursar.${name}`, key }];

  test.each([
    ['a database that is not sharded', [], 'no collection is sharded'],
    ['collections that are sharded by tenant', declared, `${declared.length} collections`],
  ])('accepts %s', (_name, sharded, detail) => {
    expect(examineShardKeys(sharded, 'bursar')).toMatchObject({
      ok: true,
      detail: expect.stringContaining(detail),
    });
  });

  test.each([
    ['a collection that is left out', without('wallets'), 'wallets by nothing'],
    [
      'a hashed key',
      withKey('transfers', { tenant_id: 'hashed' }),
      'transfers by tenant_id: hashed instead of tenant_id: 1',
    ],
    [
      'a sharded collection whose unique index is over all tenants',
      withKey('api_keys', { tenant_id: 1 }),
      'api_keys by tenant_id: 1 instead of nothing',
    ],
  ])('reports %s', (_name, sharded, detail) => {
    expect(examineShardKeys(sharded, 'bursar')).toMatchObject({
      ok: false,
      detail: expect.stringContaining(detail),
      hint: expect.stringContaining('docs/sharding.md'),
    });
  });
});
