import { generateKey } from '../../src/platform/api-keys/api-key.js';
import { openApi } from '../../src/composition/operations.js';
import { conformance } from '../support/conformance.js';
import { documented, type Document, type Documented } from '../support/documented.js';
import { bodyFor, callbacks, fixtures, known } from '../support/fixtures.js';
import type { TestTenant } from '../support/tenant.js';
import { startService, type Service } from '../support/service.js';
import {
  findForeignAccess,
  findForeignInList,
  findSharedKey,
  findWrongAuthority,
  type Keys,
  type Party,
  type Send,
} from './isolation.js';

const operations = documented(openApi as unknown as Document);
const problemsOf = conformance(openApi as unknown as Document);
const each = (some: Documented[]): [string, Documented][] => some.map((one) => [one.id, one]);

let service: Service;
let ada: Party;
let bob: Party;
let keys: Keys;
let bad: Record<string, string | undefined>;

beforeAll(async () => {
  // Nothing here has to come to its end; and every call is from an address of its own, so that no limit is met.
  service = await startService({ workers: 0, env: { BURSAR_TRUSTED_PROXIES: '1' } });
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

/** A tenant that has one of everything that the document knows. */
async function party(): Promise<Party> {
  const tenant = await service.tenant();
  tenants.set(tenant.key, tenant);
  const ids: Record<string, string> = {};
  const own = [tenant.id];
  for (const { id, level, resources } of operations) {
    for (const resource of resources) {
      if (ids[resource] !== undefined) continue;
      // A provider is no tenant's.
      if (level === null) ids[resource] = known(callbacks, resource, id)(service.env).provider;
      else own.push((ids[resource] = await known(fixtures, resource, id)(tenant, ids, service)));
    }
  }
  return { tenant: tenant.id, key: tenant.key, ids, own };
}

/** The same party with something new in the place of what earlier calls may have brought to its end. */
async function withNew(party: Party, { id, resources }: Documented): Promise<Party> {
  const ids = { ...party.ids };
  const tenant = tenants.get(party.key) as TestTenant;
  for (const one of resources) ids[one] = await known(fixtures, one, id)(tenant, ids, service);
  return { ...party, ids };
}

/** What a body names is the caller's own, and the same each time. */
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
const send: Send = async ({ operation, path, key, body: example, headers }) => {
  calls += 1;
  const body = await bodyOf(key, operation, example);
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

const keyed = operations.filter(({ level }) => level !== null);

describe('what belongs to another tenant is not found, and nothing of it is told', () => {
  test.each(each(keyed.filter(({ resources }) => resources.length > 0)))(
    '%s',
    async (_id, operation) => {
      expect(await findForeignAccess(send, operation, ada, bob)).toEqual([]);
    },
  );
});

describe('a list has nothing of another tenant', () => {
  test.each(each(keyed.filter(({ isList }) => isList)))('%s', async (_id, operation) => {
    expect(await findForeignInList(send, operation, ada, bob)).toEqual([]);
  });
});

describe('a key may do what its level says, and a bad one nothing', () => {
  test.each(each(operations))('%s', async (_id, operation) => {
    expect(await findWrongAuthority(send, operation, { keys, bad, ids: ada.ids })).toEqual([]);
  });
});

describe('an idempotency key is its tenant’s own', () => {
  test.each(each(keyed.filter(({ takesIdempotencyKey }) => takesIdempotencyKey)))(
    '%s',
    async (_id, operation) => {
      const [one, other] = [await withNew(ada, operation), await withNew(bob, operation)];
      expect(await findSharedKey(send, operation, one, other)).toEqual([]);
    },
  );
});

test('every answer here, refusals too, was as the document has it', () => {
  expect(undocumented).toEqual([]);
});

test('every fixture is of something in the document', () => {
  const used = new Set(operations.flatMap(({ resources }) => resources));
  const kept = [...Object.keys(fixtures), ...Object.keys(callbacks)];
  expect(kept.filter((resource) => !used.has(resource))).toEqual([]);
});
