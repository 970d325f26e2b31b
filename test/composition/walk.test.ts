import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { openApiDocument } from '../../src/platform/http/openapi.js';
import { operation, type Operation } from '../../src/platform/http/operation.js';
import { documented, pathWith, type Document, type Documented } from '../support/documented.js';
import { fixtureOf, fixtures } from '../support/fixtures.js';
import {
  findForeignAccess,
  findForeignInList,
  findSharedKey,
  findWrongAuthority,
  type Send,
} from './isolation.js';

const invented = operation({
  id: 'fundVault',
  tag: 'Vaults',
  method: 'post',
  path: '/vaults/{id}/keys/{key_id}',
  summary: 'Fund a vault',
  params: { id: z.string(), key_id: z.string() },
  body: z.strictObject({ amount_minor: z.int() }),
  idempotent: true,
  answer: { status: 201, data: z.object({ id: z.string() }) },
  examples: { body: { amount_minor: 1 } },
});

const inDocument = (given: Operation): Documented => {
  const info = { title: '', version: '', description: '' };
  const [found] = documented(openApiDocument([given], [], info) as unknown as Document);
  if (!found) throw new Error('the operation is not in the document');
  return found;
};

describe('routes that cannot be called', () => {
  test('the test of isolation fails on a route with a parameter that no fixture creates', () => {
    const { resources, id } = inDocument(invented);
    expect(resources).toEqual(['/vaults/{id}', '/vaults/{id}/keys/{key_id}']);
    expect(() => fixtureOf(fixtures, resources[0] ?? '', id)).toThrow(
      "add '/vaults/{id}' to test/support/fixtures.ts",
    );
  });

  test('the test of isolation fails on a route with a body that has no example', () => {
    const { examples: _without, ...silent } = invented;
    expect(() => inDocument(silent)).toThrow('fundVault takes a body without an example');
  });
});

test('path parameters are filled in by their position', () => {
  const ids: Record<string, string> = { '/vaults/{id}': 'a', '/vaults/{id}/keys/{key_id}': 'b/c' };
  const path = pathWith(inDocument(invented), (resource) => ids[resource] ?? '');
  expect(path).toBe('/vaults/a/keys/b%2Fc');
});

describe('a service without isolation', () => {
  const owner = { tenant: 'ten_a', key: 'a', ids: { '/vaults/{id}': 'vlt_a' }, own: ['vlt_a'] };
  const other = { tenant: 'ten_b', key: 'b', ids: { '/vaults/{id}': 'vlt_b' }, own: [] };
  const leaky = createServer((_req, res) => {
    res.writeHead(201, { 'idempotent-replayed': 'true' });
    res.end(JSON.stringify({ success: true, data: { id: 'vlt_a' } }));
  });
  let send: Send;

  beforeAll(async () => {
    leaky.listen(0, '127.0.0.1');
    await once(leaky, 'listening');
    const { port } = leaky.address() as AddressInfo;
    send = async ({ operation: { method }, path, headers }) => {
      const init = { method, ...(headers && { headers }) };
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, init);
      return { status: reply.status, headers: reply.headers, text: await reply.text() };
    };
  });
  afterAll(() => leaky.close());

  test('the test of isolation detects access by another tenant’s ids', async () => {
    const problems = await findForeignAccess(send, inDocument(invented), owner, other);
    expect(problems).toContain("with another tenant's /vaults/{id} it shows vlt_a");
    expect(problems.join()).toMatch(/with another tenant's \S+ and \S+: 201/);
  });

  test('the test of isolation detects lists with records of another tenant', async () => {
    const problems = await findForeignInList(send, inDocument(invented), owner, other);
    expect(problems).toEqual(['it lists vlt_a of another tenant']);
  });

  test('the test of isolation detects keys that exceed their level', async () => {
    const bad = { unauthorized: undefined, expired_key: 'revoked' };
    const keys = { read: 'r', write: 'w', admin: 'a', public: 'p' };
    const given = { keys, bad, ids: owner.ids };
    const problems = await findWrongAuthority(send, inDocument(invented), given);
    expect(problems.map((problem) => problem.replace(/:.* in/, ' in'))).toEqual([
      'a bad key in place of unauthorized',
      'a bad key in place of expired_key',
      'a read key in place of forbidden',
      'a public key in place of forbidden',
    ]);
  });

  test('the test of isolation detects idempotency keys that count for another tenant', async () => {
    const problems = await findSharedKey(send, inDocument(invented), owner, other);
    expect(problems).toContain('both tenants got the same answer');
  });
});
