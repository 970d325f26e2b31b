import type { Fault } from '../support/bank.js';
import { eventually } from '../support/eventually.js';
import {
  acquirerEffects,
  activeToken,
  chargeBody,
  FEE_MINOR,
  paymentClient,
  type PaymentClient,
} from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';

/** Longer than the time limit of a call. */
const SLOW_MS = 20_000;

/**
 * The answers to the first request that the bank disturbs, and how often it is sent. The bank has executed it, unless it answers
 * with a conflict, and executes a repeat again.
 */
const DISTURBED = [
  { kind: 'conflict', answer: 'unknown: conflict', submissions: 2 },
  { kind: 'unknown_word', answer: 'unknown: unrecognized', submissions: 1 },
  { kind: 'half_open', answer: 'unknown: timeout', submissions: 1 },
  { kind: 'slow_body', answer: 'unknown: timeout', submissions: 1 },
  { kind: 'reset', answer: 'unknown: connection', submissions: 1 },
] as const satisfies readonly { kind: Fault['kind']; answer: string; submissions: number }[];

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;
let paymentTokenId: string;

beforeAll(async () => {
  service = await startService({
    // Long enough for a loaded machine: no request is too old, and only those that wait for the bank end by their time.
    bank: { deduplicate: false, conclusiveAfterMs: 10_000 },
    env: { SANDBOX_BANK_TIMEOUT_MS: '5000' },
  });
  tenant = await service.tenant({ balanceMinor: 10_000_000 });
  payments = paymentClient(tenant);
  paymentTokenId = (await activeToken(payments)).token.payment_token_id;
});
afterAll(() => service?.close());
afterEach(() => service?.bank.faults([]));

const disturb = (call: Fault['call'], kind: Fault['kind']) =>
  service.bank.faults([{ call, kind, probability: 1, ms: SLOW_MS }]);

type Stored = { timeline: readonly { type: string; detail: string | null }[]; submissions: number };

/** The answers that a record has recorded, once there is one. Then the bank disturbs nothing any more. */
async function answersOf(get: () => Promise<Stored | null>): Promise<(string | null)[]> {
  const answers = await eventually('the bank has answered', async () => {
    const { timeline = [] } = (await get()) ?? {};
    const found = timeline.filter(({ type }) => type === 'provider_answer');
    return found.length > 0 ? found.map(({ detail }) => detail) : undefined;
  });
  await service.bank.faults([]);
  return answers;
}

/** Charges the saved method. The ending of the reference selects what the bank does. */
async function charge(ending = '789'): Promise<string> {
  const { customer: _, ...body } = chargeBody(ending, { capture_mode: 'merchant_initiated' });
  const { status, text } = await payments.charge({ ...body, payment_token_id: paymentTokenId });
  if (status !== 201) throw new Error(text);
  return body.reference;
}

const storedCharge = async (reference: string) => {
  const found = await service.deps.charges.store.byReference(tenant.id, reference);
  if (!found) throw new Error(`there is no ${reference}`);
  return found;
};

/** The transfer is completed, and the bank has paid it once. */
async function isPaidOnce(id: string, before: { available: number }): Promise<void> {
  expect(await tenant.waitFor(id, 'completed')).toMatchObject({ attention: null });
  expect((await service.bank.journal(id)).map(({ kind }) => kind)).toEqual(['paid']);
  const available = before.available - ORDER_TOTAL_MINOR;
  expect(await tenant.balance()).toEqual({ available, held: 0 });
}

/** The charge is completed, and its customer has paid once. */
async function isChargedOnce(reference: string, before: { available: number }): Promise<void> {
  const { amount_minor: amount, attention } = await payments.waitFor(reference, 'completed');
  expect(attention).toBeNull();
  const effects = await acquirerEffects(service, reference);
  expect(effects.map(({ kind }) => kind)).toEqual(['charged']);
  const available = before.available + amount - FEE_MINOR;
  expect(await tenant.balance()).toEqual({ available, held: 0 });
}

describe.each(DISTURBED)('the bank answers with the fault $kind', (fault) => {
  test('a transfer is verified, sent again only if the bank does not have it, and paid once', async () => {
    const before = await tenant.balance();
    await disturb('submit', fault.kind);
    const id = await tenant.send();
    expect((await answersOf(() => tenant.stored(id)))[0]).toBe(fault.answer);
    await isPaidOnce(id, before);
    expect((await tenant.stored(id)).submissions).toBeGreaterThanOrEqual(fault.submissions);
    if (fault.submissions === 1) expect((await tenant.stored(id)).submissions).toBe(1);
  });

  test('a charge is verified, sent again only if the bank does not have it, and paid once', async () => {
    const before = await tenant.balance();
    await disturb('charge', fault.kind);
    const reference = await charge();
    expect((await answersOf(() => storedCharge(reference)))[0]).toBe(fault.answer);
    await isChargedOnce(reference, before);
    const { submissions } = await storedCharge(reference);
    expect(submissions).toBeGreaterThanOrEqual(fault.submissions);
    if (fault.submissions === 1) expect(submissions).toBe(1);
  });
});

describe('the bank sends each event twice', () => {
  /** The stored messages of the bank about a record. A repeat is stored once. */
  const eventsAbout = (reference: string) =>
    service.deps.database.db
      .collection('provider_events')
      .find({ 'facts.reference': reference })
      .toArray();

  test('a transfer is completed and paid once, by one provider event', async () => {
    const before = await tenant.balance();
    await disturb('callback', 'duplicate_event');
    const id = await tenant.send('001');
    await isPaidOnce(id, before);
    await eventually('the bank has sent everything', async () =>
      (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
    );
    expect(await eventsAbout(id)).toHaveLength(1);
  });

  test('a charge is completed and credited once, by one provider event', async () => {
    const before = await tenant.balance();
    await disturb('callback', 'duplicate_event');
    const reference = await charge('001');
    await isChargedOnce(reference, before);
    await eventually('the bank has sent everything', async () =>
      (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
    );
    const { _id: id } = await storedCharge(reference);
    expect(await eventsAbout(`${id}-1`)).toHaveLength(1);
  });
});

test('the books agree with the journal of the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
