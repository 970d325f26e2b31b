import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { customerRecordId, type Customer } from '../../../src/capabilities/customers/record.js';
import type { Revocation } from '../../../src/ops/revocations.js';
import { bursar } from '../../support/cli.js';
import { runInProcess } from '../../support/command-line.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { startPolicyApi } from '../../support/policy-acts.js';

const SETTINGS = { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' };

let database: TestDatabase;
let folder: string;
let api: Awaited<ReturnType<typeof startPolicyApi>>;
let admin: Awaited<ReturnType<typeof api.person>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-restored-'));
  database = await openTestDatabase();
  api = await startPolicyApi(database, SETTINGS);
  admin = await api.person('operator', 'admin');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database?.close();
});

/** Copies all documents. Returns a function that puts the database back into this state. */
async function backUp(): Promise<() => Promise<void>> {
  const collections = await database.db.collections();
  const copies = await Promise.all(
    collections.map(async (each) => [each, await each.find<Document>({}).toArray()] as const),
  );
  return async () => {
    for (const [collection, documents] of copies) {
      await collection.deleteMany({});
      if (documents.length > 0) await collection.insertMany(documents);
    }
  };
}

async function target() {
  const { deps } = api;
  const tenant = (await deps.tenants.create({ name: 'Ada', plan: 'sandbox' })).id;
  const given = { tenantId: tenant, level: 'write', kind: 'secret' } as const;
  const keys = [await deps.apiKeys.create(given), await deps.apiKeys.create(given)];
  const add = async () =>
    String((await deps.webhooks.endpoints.add(tenant, 'http://127.0.0.1:9/hook'))?.id);
  const operator = await api.person('operator');
  const [operatorKey] = await deps.operators.listKeys(operator.id);
  const now = new Date(0);
  const customer: Customer = {
    _id: customerRecordId(tenant, "o'ada 1"),
    tenant_id: tenant,
    version: 1,
    customer_id: "o'ada 1",
    email: 'ada@example.com',
    name: 'Ada',
    checks: {},
    kyc_statuses: ['not_started'],
    created_at: now,
    updated_at: now,
  };
  await database.db.collection<Customer>('customers').insertOne(customer);
  return {
    tenant,
    revoked: String(keys[0]?.id),
    rotated: String(keys[1]?.id),
    removed: await add(),
    disabled: await add(),
    operator: operator.id,
    operatorKey: String(operatorKey?._id),
    customer,
  };
}

type Target = Awaited<ReturnType<typeof target>>;

/** Takes rights away, as operators do. */
async function takeAway(of: Target): Promise<void> {
  const reason = 'the tests say so';
  const calls: [string, string, object?][] = [
    ['PUT', `/operators/${of.operator}`, { roles: ['viewer'] }],
    ['PUT', `/operators/${of.operator}`, { disabled: true }],
    ['POST', `/operator-keys/${of.operatorKey}/revoke`],
    ['POST', `/tenants/${of.tenant}/freeze`, { reason }],
    ['PUT', `/tenants/${of.tenant}`, { features: { cards: false }, daily_limit_minor: 5_000 }],
    ['POST', `/keys/${of.revoked}/revoke`],
    ['POST', `/keys/${of.rotated}/rotate`, { overlap_hours: 0 }],
    ['POST', `/webhooks/endpoints/${of.removed}/remove`],
    ['POST', `/webhooks/endpoints/${of.disabled}/disable`],
    ['POST', '/customers/erase', { tenant: of.tenant, customer: of.customer.customer_id, reason }],
  ];
  for (const [method, path, body] of calls) {
    expect([path, await admin.call(method, path, body)]).toMatchObject([path, { status: 200 }]);
  }
}

/** The rights of a target, as the service reads them. */
async function rightsOf(of: Target) {
  const { deps } = api;
  const tenant = await deps.tenants.get(of.tenant);
  const operator = await deps.operators.get(of.operator);
  const [operatorKey] = await deps.operators.listKeys(of.operator);
  const ofKeys = await deps.apiKeys.list(of.tenant);
  const isValid = (id: string) =>
    ofKeys.some(
      (key) =>
        key.id === id && !key.revokedAt && (!key.expiresAt || key.expiresAt.getTime() > Date.now()),
    );
  return {
    roles: operator?.roles,
    enabled: operator?.disabledAt === null,
    signsIn: operatorKey?.revoked_at === null,
    frozen: tenant?.frozenAt !== null,
    cards: tenant?.features.cards,
    dailyMinor: tenant?.limits.dailyMinor,
    revoked: isValid(of.revoked),
    rotated: isValid(of.rotated),
    endpoints: (await deps.webhooks.endpoints.list(of.tenant))
      .filter(({ status }) => status === 'enabled')
      .map(({ id }) => id)
      .toSorted(),
    email: (await deps.customers.store.get(of.tenant, of.customer.customer_id))?.email,
  };
}

/** The words of a command line, as a shell takes them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|\\'|[^\s'])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\'/g, (_, quoted?: string) => quoted ?? "'"),
  );

const exportTo = async (name: string, env: Record<string, string>): Promise<string> => {
  const file = join(folder, name);
  writeFileSync(file, (await bursar('audit export', env)).out);
  return file;
};

test('after a restore, the commands that bursar restored lists take away again what was taken away since the backup', async () => {
  const env = { ...api.env };
  const of = await target();
  const before = await rightsOf(of);
  const restore = await backUp();
  const [newest] = await api.deps.audit.latest({}, 1);
  await takeAway(of);
  // Given back later, so it stays.
  const other = await target();
  for (const change of ['freeze', 'unfreeze']) {
    await admin.call('POST', `/tenants/${other.tenant}/${change}`, { reason: 'a mistake' });
  }
  const taken = await rightsOf(of);
  expect(taken).not.toEqual(before);
  const file = await exportTo('audit.jsonl', env);
  await restore();
  expect(await rightsOf(of)).toEqual(before);

  const ran = await bursar(`restored --yes --json --audit ${file}`, env);
  const { newest_audit_entry: place, revocations } = JSON.parse(ran.out) as {
    newest_audit_entry: object;
    revocations: Revocation[];
  };
  expect(place).toEqual({ sequence: newest?._id, at: newest?.at.toISOString() });
  // An operator who has lost all rights could give the others back.
  expect(revocations[0]?.command).toBe(`bursar operators disable ${of.operator}`);
  const signIn = { BURSAR_OPERATOR_URL: api.url, BURSAR_OPERATOR_KEY: admin.key };
  for (const { command } of revocations) {
    const [, ...words] = wordsOf(command);
    expect([command, await runInProcess(words, { ...env, ...signIn })]).toMatchObject([
      command,
      { code: 0 },
    ]);
  }
  expect(await rightsOf(of)).toEqual(taken);
  expect(revocations.filter(({ target: id }) => id === other.tenant)).toEqual([]);
});

test('an export that does not continue the restored audit log is refused before anything is changed', async () => {
  const env = { ...api.env };
  const of = await target();
  const restore = await backUp();
  await takeAway(of);
  const file = await exportTo('whole.jsonl', env);
  await restore();
  const lines = readFileSync(file, 'utf8').split('\n');
  const entries = await api.deps.audit.latest({}, 1);
  const refusals: [string, string][] = [
    [lines.toSpliced(-3, 1).join('\n'), 'entry is missing'],
    [
      [...lines.slice(0, -1), lines.at(-1)?.replace('"customers.erase"', '"x"')].join('\n'),
      'entry was changed',
    ],
    ['no export', 'line 1 of'],
    ['', 'is empty, cut off or older'],
    // It ends before the backup.
    [lines.slice(0, 2).join('\n'), 'is empty, cut off or older'],
  ];
  for (const [text, problem] of refusals) {
    const broken = join(folder, 'broken.jsonl');
    writeFileSync(broken, text);
    const ran = await bursar(`restored --yes --json --audit ${broken}`, env);
    expect(ran).toMatchObject({ code: 1, error: expect.stringContaining(problem) });
  }
  expect(await api.deps.audit.latest({}, 1)).toEqual(entries);
});
