import { generateKey } from '../../src/platform/api-keys/api-key.js';
import { isScoped, KEY_SCOPES, type KeyScope } from '../../src/platform/api-keys/scopes.js';
import { openApi } from '../../src/composition/operations.js';
import { conformance } from '../support/conformance.js';
import { documented, pathWith, type Document, type Documented } from '../support/documented.js';
import { bodyFor, callbacks, fixtureOf, fixtures, SHARED } from '../support/fixtures.js';
import type { TestTenant } from '../support/tenant.js';
import { startService, type Service } from '../support/service.js';
import {
  findForeignAccess,
  findForeignInList,
  findSharedKey,
  findWrongAuthority,
  findWrongScope,
  type Keys,
  type Party,
  type Send,
} from './isolation.js';

const document = openApi() as unknown as Document;
const operations = documented(document);
const problemsOf = conformance(document);
const each = (some: Documented[]): [string, Documented][] => some.map((one) => [one.id, one]);

let service: Service;
let ada: Party;
let bob: Party;
let keys: Keys;
/** An admin key for each scope. */
let scoped: Record<string, string>;
let bad: Record<string, string | undefined>;

beforeAll(async () => {
  // No record has to reach its end here, and no card is funded before the deadline. Each call comes from an address of its
  // own, so that no limit is reached.
  const env = { BURSAR_TRUSTED_PROXIES: '1', BURSAR_JIT_DEADLINE_MS: '2000' };
  service = await startService({ workers: 0, env });
  [ada, bob] = [await party(), await party()];
  const { apiKeys } = service.deps;
  const key = async (level: 'read' | 'write' | 'admin', kind: 'secret' | 'public' = 'secret') =>
    apiKeys.create({ tenantId: ada.tenant, level, kind });
  keys = {
    read: (await key('read')).key,
    write: (await key('write')).key,
    admin: (await key('admin')).key,
    public: (await key('write', 'public')).key,
  };
  const admin = { tenantId: ada.tenant, level: 'admin', kind: 'secret' } as const;
  const withScope = async (scope: KeyScope) =>
    [scope, (await apiKeys.create({ ...admin, scopes: [scope] })).key] as const;
  scoped = Object.fromEntries(await Promise.all(KEY_SCOPES.map(withScope)));
  const revoked = await key('admin');
  await apiKeys.revoke(revoked.id);
  bad = {
    unauthorized: undefined,
    invalid_key: 'sk_sandbox_hunter2',
    expired_key: revoked.key,
    wrong_environment: generateKey('secret', 'live'),
  };
});

afterAll(async () => {
  await service?.close();
});

const tenants = new Map<string, TestTenant>();

/** Adds the customer that its path names, for the caller's own tenant: another tenant's name of a customer is free. */
const ADDS_ITS_CUSTOMER = 'verifyCustomer';

/** Creates a tenant with one of each resource in the document. */
async function party(): Promise<Party> {
  const tenant = await service.tenant();
  tenants.set(tenant.key, tenant);
  const ids: Record<string, string> = {};
  const own = [tenant.id];
  for (const { id, level, resources } of operations) {
    for (const resource of resources) {
      if (ids[resource] !== undefined) continue;
      // A provider does not belong to a tenant.
      if (level === null) ids[resource] = fixtureOf(callbacks, resource, id)(service.env).provider;
      else {
        ids[resource] = await fixtureOf(fixtures, resource, id)(tenant, ids, service);
        if (!SHARED.has(resource)) own.push(ids[resource]);
      }
    }
  }
  return { tenant: tenant.id, key: tenant.key, ids, own };
}

/** The same party with new resources in place of those that earlier calls may have ended. */
async function withNew(party: Party, { id, resources }: Documented): Promise<Party> {
  const ids = { ...party.ids };
  const tenant = tenants.get(party.key) as TestTenant;
  for (const one of resources) ids[one] = await fixtureOf(fixtures, one, id)(tenant, ids, service);
  return { ...party, ids };
}

/** The bodies by operation. A body names the caller's own resources, and is the same in every call. */
const bodies = new Map<string, Promise<unknown>>();
function bodyOf(key: string | undefined, operation: Documented, body: unknown): Promise<unknown> {
  const tenant = (tenants.get(key ?? '') ?? tenants.get(ada.key)) as TestTenant;
  const which = `${tenant.id} ${operation.id}`;
  const made = bodies.get(which) ?? bodyFor(body, tenant, service);
  bodies.set(which, made);
  return made;
}

let calls = 0;
const undocumented: string[] = [];
/** Sends a request with exactly this body. */
const sendAsIs: Send = async ({ operation, path, key, body, headers }) => {
  calls += 1;
  const response = await fetch(`${service.api.url}/api/v1${path}`, {
    method: operation.method,
    headers: {
      'x-forwarded-for': `198.51.${calls >> 8}.${calls & 255}`,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = {
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  };
  undocumented.push(
    ...problemsOf(operation, answer).map((problem) => `${operation.id}: ${problem}`),
  );
  return answer;
};

/** Sends a request with a body of the caller's own resources in place of the example. */
const send: Send = async (request) =>
  sendAsIs({ ...request, body: await bodyOf(request.key, request.operation, request.body) });

/** Sends Ada's request with these fields added to its body. */
const sendWith = async (
  operation: Documented,
  added: object,
  headers: Record<string, string> = {},
) => {
  const path = pathWith(operation, (resource) => ada.ids[resource] ?? '');
  const body = { ...((await bodyOf(keys.admin, operation, operation.body)) as object), ...added };
  return sendAsIs({ operation, path, key: keys.admin, body, headers });
};

const keyed = operations.filter(({ level }) => level !== null);

describe('resources of another tenant', () => {
  const isOwned = (resource: string) => !SHARED.has(resource);
  const ofOthers = keyed.filter(
    ({ id, resources }) => resources.some(isOwned) && id !== ADDS_ITS_CUSTOMER,
  );
  test.each(each(ofOthers))(
    '%s answers 404 for another tenant’s records and reveals nothing',
    async (_id, operation) => {
      expect(await findForeignAccess(send, operation, ada, bob)).toEqual([]);
    },
  );
});

describe('lists', () => {
  test.each(each(keyed.filter(({ isList }) => isList)))(
    '%s lists nothing of another tenant',
    async (_id, operation) => {
      expect(await findForeignInList(send, operation, ada, bob)).toEqual([]);
    },
  );
});

describe('levels of keys', () => {
  test.each(each(operations))(
    '%s accepts keys of its level and no others',
    async (_id, operation) => {
      expect(await findWrongAuthority(send, operation, { keys, bad, ids: ada.ids })).toEqual([]);
    },
  );
});

describe('scopes of keys', () => {
  test.each(each(keyed))('%s accepts keys of its scope and no others', async (_id, operation) => {
    expect(await findWrongScope(send, operation, { scoped, ids: ada.ids })).toEqual([]);
  });

  test('every part of the API is in the table of scopes', () => {
    expect(keyed.filter((operation) => !isScoped(operation)).map(({ id }) => id)).toEqual([]);
    expect(new Set(keyed.map(({ scope }) => scope))).toEqual(new Set([...KEY_SCOPES, null]));
  });
});

describe('idempotency keys', () => {
  test.each(each(keyed.filter(({ takesIdempotencyKey }) => takesIdempotencyKey)))(
    '%s counts an idempotency key within its tenant only',
    async (_id, operation) => {
      const [one, other] = [await withNew(ada, operation), await withNew(bob, operation)];
      expect(await findSharedKey(send, operation, one, other)).toEqual([]);
    },
  );
});

describe('card data', () => {
  test.each(each(keyed.filter(({ body }) => body !== undefined)))(
    '%s refuses a card number and a security code in any field, and its answer has neither',
    async (_id, operation) => {
      for (const [field, value] of [
        ['any_text', 'by 2223 0000 4840 0011'],
        ['cvv', '737'],
        ['card_cvv2', '737'],
        ['pin_code', '4321'],
        ['reference', '4111111111111111'],
      ] as const) {
        const { status, text } = await sendWith(operation, { [field]: value });
        expect([field, status, JSON.parse(text).error]).toEqual([
          field,
          400,
          expect.objectContaining({ code: 'validation_error', field }),
        ]);
        expect(text).not.toMatch(/2223|4111|4321|737/);
      }
    },
  );

  test.each(each(keyed.filter(({ resources }) => resources.length > 0)))(
    '%s takes no card number in its path, and its answer has none',
    async (_id, operation) => {
      const body = await bodyOf(keys.admin, operation, operation.body);
      for (const at of operation.resources) {
        const path = pathWith(operation, (resource) =>
          resource === at ? '4111111111111111' : (ada.ids[resource] ?? ''),
        );
        const { status, text } = await sendAsIs({ operation, path, key: keys.admin, body });
        const { code, field } = JSON.parse(text).error ?? {};
        const isNamed = status === 400 && at.endsWith(`{${field}}`);
        expect([at, isNamed ? 'named' : code]).toEqual([at, isNamed ? 'named' : 'not_found']);
        expect(text).not.toContain('4111');
      }
    },
  );

  test.each(each(keyed.filter(({ takesIdempotencyKey }) => takesIdempotencyKey)))(
    '%s refuses a card number as its idempotency key',
    async (_id, operation) => {
      const { status, text } = await sendWith(
        operation,
        {},
        { 'idempotency-key': '4111111111111111' },
      );
      expect([status, JSON.parse(text).error.field]).toEqual([400, 'Idempotency-Key']);
      expect(text).not.toContain('4111');
    },
  );
});

test('a check of a customer with another tenant’s name for it is the caller’s own', async () => {
  const operation = operations.find(({ id }) => id === ADDS_ITS_CUSTOMER) as Documented;
  const path = pathWith(operation, (resource) => ada.ids[resource] ?? '');
  const answer = await send({ operation, path, key: bob.key, body: operation.body });
  expect(answer.status).toBe(201);
  const { data } = JSON.parse(answer.text) as { data: { id: string; customer_id: string } };
  const checks = async (key: string) =>
    send({
      operation: operations.find(({ id }) => id === 'listIdentityChecks') as Documented,
      path: `/identity/customers/${data.customer_id}/kyc`,
      key,
    });
  expect((await checks(bob.key)).text).toContain(data.id);
  expect((await checks(ada.key)).text).not.toContain(data.id);
});

test('every answer in this file, refusals included, conforms to the OpenAPI document', () => {
  expect(undocumented).toEqual([]);
});

test('every fixture belongs to a resource of the OpenAPI document', () => {
  const used = new Set(operations.flatMap(({ resources }) => resources));
  const kept = [...Object.keys(fixtures), ...Object.keys(callbacks)];
  expect(kept.filter((resource) => !used.has(resource))).toEqual([]);
});
