import { createHash } from 'node:crypto';
import { EJSON } from 'bson';
import { identityCheckWorkflowId } from '../../src/capabilities/identity-checks/record.js';
import { eventually } from '../support/eventually.js';
import { identityClient, newCustomerId, type CheckView } from '../support/identity.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let receiver: Receiver;

beforeAll(async () => {
  const env = { BURSAR_LOG_LEVEL: 'debug', BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' };
  service = await startService({ oneProcess: true, env });
  tenant = await service.tenant();
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** Planted values. Each ending takes another way to its end. */
const NAMES = { first_name: 'Onyekachukwu', last_name: 'Plantedname', date_of_birth: '1987-04-21' };
const NUMBERS = ['22190817002', '22190817004', '22190817006', '22190817007', '22190817789'];
const ACCOUNT = { account_number: '3190817001', bank_code: '058', bvn: '22290817555' };
const { date_of_birth: _, ...ACCOUNT_NAMES } = NAMES;
const PLANTED = [
  ...NUMBERS,
  ACCOUNT.account_number,
  ACCOUNT.bvn,
  NAMES.first_name,
  NAMES.last_name,
  NAMES.date_of_birth,
];

const found = (text: string) => PLANTED.filter((planted) => text.includes(planted));

/** Every document of every collection, binary values in clear. */
async function documents(): Promise<string> {
  const { db } = service.deps.database;
  const texts: string[] = [];
  for (const { name } of await db.listCollections().toArray()) {
    for await (const document of db.collection(name).find()) {
      texts.push(`${name} ${EJSON.stringify(document)}`);
    }
  }
  return texts.join('\n');
}

/** All texts of a history, with its payloads decoded. */
function textOf(value: unknown): string {
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${textOf(part)}`)
    .join('\n');
}

async function histories(checks: readonly CheckView[]): Promise<string> {
  const { workflow } = service.deps.temporal.client;
  const texts = await Promise.all(
    checks.map(async ({ id }) => {
      const handle = workflow.getHandle(identityCheckWorkflowId(id));
      return `${textOf(await handle.fetchHistory())}\n${textOf((await handle.describe()).raw)}`;
    }),
  );
  return texts.join('\n');
}

/** The documents of identity checks among these lines. */
const checksIn = (documents: string) =>
  documents
    .split('\n')
    .filter((line) => line.startsWith('identity_checks '))
    .join('\n');

test('a planted number, name or day of birth is nowhere in clear, while checks run and after they ended', async () => {
  const identity = identityClient(tenant);
  const verifyUnder = (key?: string, more: object = {}) =>
    identity.verify(
      newCustomerId(),
      { body: { ...NAMES, number: NUMBERS[0], ...more } },
      key === undefined ? {} : { key },
    );
  const checks: CheckView[] = [];
  for (const number of NUMBERS) {
    const body = { ...NAMES, number };
    const reply = await identity.verify(
      newCustomerId(),
      { body },
      { key: `key of ${checks.length}` },
    );
    expect(reply.status).toBe(201);
    expect(found(reply.text)).toEqual([]);
    checks.push(reply.body.data);
  }
  const ofAnAccount = { type: 'bank_account', body: { ...ACCOUNT, ...ACCOUNT_NAMES } } as const;
  const ofAccount = await identity.verify(newCustomerId(), ofAnAccount);
  checks.push(ofAccount.body.data);
  // Refused requests are logged too.
  const wrong = { ...NAMES, number: NUMBERS[0], bank_code: '058' };
  const refused = await identity.verify(newCustomerId(), { body: wrong }, { key: 'a wrong one' });
  expect([refused.status, found(refused.text)]).toEqual([400, []]);
  const twice = await identity.verify(String(checks[2]?.customer_id), {
    body: { ...NAMES, number: NUMBERS[2] },
  });
  expect([twice.status, found(twice.text)]).toEqual([422, []]);

  // Keys and ids are stored in clear, so a number in them is refused.
  const [number = ''] = NUMBERS;
  const spaced = `${number.slice(0, 4)}-${number.slice(4)}`;
  for (const [field, refusal] of [
    ['customer_id', await identity.verify(number, { body: { ...NAMES, number } })],
    ['customer_id', await identity.verify(ACCOUNT.bvn, ofAnAccount)],
    ['Idempotency-Key', await verifyUnder(`kyc-${number}`)],
    ['Idempotency-Key', await verifyUnder(`"${spaced}"`)],
    ['idempotency_key', await verifyUnder(undefined, { idempotency_key: `kyc ${spaced}` })],
  ] as const) {
    expect([field, refusal.status, refusal.body.error?.field]).toEqual([field, 400, field]);
    expect(found(refusal.text)).toEqual([]);
  }

  // The one that ends in 006 is pending at the provider.
  await eventually('the pending one is there, and the others have ended', async () => {
    const now = await Promise.all(
      checks.map(({ customer_id, id }) => identity.get(customer_id, id)),
    );
    const open = now.filter(({ status }) => status === 'pending').map(({ id }) => id);
    const pending = await service.deps.identityChecks.store.find(String(checks[2]?.id));
    return open.length === 1 && pending?.acknowledged_at ? true : undefined;
  });
  const whileRunning = await documents();
  expect(checksIn(whileRunning)).toContain('"sealed":"test.');
  expect(found(whileRunning)).toEqual([]);
  expect(found(await histories(checks))).toEqual([]);

  expect(await service.bank.setCheckOutcome(String(checks[2]?.id), 'verified')).toBe(200);
  await identity.waitFor(checks[2] as CheckView, 'verified');
  await eventually('all events arrive', () =>
    receiver.events().length >= checks.length ? true : undefined,
  );
  const afterwards = await documents();
  for (const { id } of checks) expect(afterwards).toContain(id);
  // No trace of the sealed text remains either.
  expect(checksIn(afterwards)).not.toContain('"sealed":"test.');
  expect(found(afterwards)).toEqual([]);
  const read = await histories(checks);
  for (const { id } of checks) expect(read).toContain(`"${id}"`);
  expect(found(read)).toEqual([]);
  expect(found(JSON.stringify(receiver.events()))).toEqual([]);
  const log = service.logs();
  expect(log).toContain('worker is running');
  expect(found(log)).toEqual([]);
  expect(found(service.bank.output())).toEqual([]);
  expect(found(JSON.stringify(await service.bank.journal()))).toEqual([]);
});

test('a plain hash of a number, with which all numbers could be tried, is stored nowhere', async () => {
  const all = await documents();
  for (const number of NUMBERS) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      for (const algorithm of ['sha256', 'sha1', 'sha512', 'md5']) {
        expect(all).not.toContain(createHash(algorithm).update(number).digest(encoding));
      }
    }
  }
});
