import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { transferMicroBatchWorkflowId } from '../../src/capabilities/transfers/workflow-starter.js';
import { startService, type Service } from '../support/service.js';
import { eventually } from '../support/eventually.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

/** Transfers that take different paths through the workflow. */
const WAYS = ['789', '001', '002', '004', '005', '008', '010', '011'];

/** The most detailed log level. */
const ENVIRONMENT = { BURSAR_LOG_LEVEL: 'debug', BURSAR_ATTENTION_AFTER_MS: '4000' };
const NARRATION = 'Narration-that-nobody-else-may-read';
const EMAIL = 'planted.payer@plant.example';
const METADATA = 'metadata-that-nobody-else-may-read';

let service: Service;
let tenant: TestTenant;
/** Texts that must not occur in histories and logs. */
let secrets: string[];
let ids: string[];

beforeAll(async () => {
  service = await startService({ oneProcess: true, env: ENVIRONMENT });
  tenant = await service.tenant();
  const bodies = WAYS.map((suffix) =>
    transferBody(suffix, {
      narration: NARRATION,
      metadata: { note: METADATA },
      reference: `${suffix}-${EMAIL}`,
    }),
  );
  const replies = await Promise.all(
    bodies.map((body, i) => tenant.transfer(body, { key: `idempotency-key-${i}` })),
  );
  ids = replies.map(({ body }) => body.data.id);
  await Promise.all(
    ids.map((id) =>
      tenant.waitFor(
        id,
        (t) => t.status.match(/completed|failed/) !== null || t.attention !== null,
      ),
    ),
  );
  // Refused and failing requests are logged too.
  const bad = transferBody('789', { recipient_account: '01234567890', narration: NARRATION });
  await tenant.transfer(bad, { key: 'idempotency-key-bad' });
  const names = await Promise.all(ids.map(async (id) => (await tenant.get(id)).recipient_name));
  secrets = [
    ...bodies.map(({ recipient_account: account }) => account),
    bad.recipient_account,
    ...names.filter((name) => name !== null),
    tenant.key,
    'idempotency-key-',
    NARRATION,
    METADATA,
    String(service.env.SANDBOX_BANK_SECRET),
    String(service.env.BURSAR_KEY_PEPPER),
    String(service.env.BURSAR_SEALING_KEYS),
  ];
});

afterAll(async () => {
  await service?.close();
});

const found = (text: string) => secrets.filter((secret) => text.includes(secret));
/** The bank gets the tenant's reference, and nobody else. */
const foundOutside = (text: string) => [...found(text), ...(text.includes(EMAIL) ? [EMAIL] : [])];

/** All texts of a history, with its payloads decoded. */
function textOf(value: unknown): string {
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${textOf(part)}`)
    .join('\n');
}

const nothing = () => null;

test('the texts of the search were really sent to the service', () => {
  expect(secrets.length).toBeGreaterThan(WAYS.length + 6);
  expect(secrets.every((secret) => secret.length >= 8)).toBe(true);
});

test('no workflow history contains an account number, a name, a narration or a key', async () => {
  const { workflow } = service.deps.temporal.client;
  const names = ids.flatMap((id) => [transferWorkflowId(id), transferMicroBatchWorkflowId(id)]);
  const handles = names.map((name) => workflow.getHandle(name));
  const read = await Promise.all(handles.map((handle) => handle.fetchHistory().catch(nothing)));
  const histories = read.map(textOf).join('\n');
  // Every transfer occurs in a history that was read: its own workflow's or its micro-batch's.
  for (const id of ids) expect(histories).toContain(`"${id}"`);
  expect(histories).toContain('"recipientKnown":');
  expect(foundOutside(histories)).toEqual([]);
  for (const handle of handles) {
    const described = await handle.describe().catch(nothing);
    expect(foundOutside(textOf(described?.raw))).toEqual([]);
  }
});

test('no log of API or worker contains an account number, a name, a narration or a key', async () => {
  await eventually('the last request is in the log', () =>
    service.logs().includes('"status":400') ? true : undefined,
  );
  const log = service.logs();
  expect(log).toContain('worker is running');
  expect(foundOutside(log)).toEqual([]);
});

test('the log of the sandbox bank contains none of them, and its audit route shows no account number', async () => {
  expect(found(service.bank.output())).toEqual([]);
  expect(found(JSON.stringify(await service.bank.journal()))).toEqual([]);
});
