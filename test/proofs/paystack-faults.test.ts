import { reconcilePage } from '../../activities/reconciliation.js';
import { reconciledRecords } from '../../src/composition/reconciliation.js';
import type { PagePosition } from '../../src/core/reconciliation/pages.js';
import type { RecordPageInput } from '../../src/core/reconciliation/workflow-contract.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  chargeBody,
  newCustomer,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import { checkBody, identityClient, newCustomerId } from '../support/identity.js';
import type { TestTenant } from '../support/tenant.js';
import { accountClient, accountCustomer } from '../support/virtual-accounts.js';
import { startRehearsal, type Rehearsal } from '../paystack/rehearsal.js';

let rehearsal: Rehearsal;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  rehearsal = await startRehearsal();
  tenant = await rehearsal.service.tenant({
    balanceMinor: 50_000_000,
    features: { identity: true, virtual_accounts: true },
  });
  payments = paymentClient(tenant);
});
afterAll(() => rehearsal?.close());

const faults = () => rehearsal.service.deps.providerFaults.list();
const faultNamed = (name: string) =>
  eventually(`the fault ${name} is known`, async () =>
    (await faults()).find((fault) => fault.name === name),
  );
const isOver = (name: string) =>
  eventually(`the fault ${name} has ended`, async () =>
    (await faults()).every((fault) => fault.name !== name) ? true : undefined,
  );
async function resume() {
  const ran = await bursar('providers resume paystack --reason test', rehearsal.service.env);
  expect([ran.code, ran.error]).toEqual([0, '']);
}
/** Pays on the page of a new charge. */
async function paid() {
  const charge = await payments.page('', { amount_minor: 500_000 });
  const body = new URLSearchParams({ choice: 'pay', next: 'success' });
  await fetch(charge.url, { method: 'POST', body, redirect: 'manual' });
  await payments.waitFor(charge.reference, 'completed');
  return charge.reference;
}
async function refund(charge_reference: string) {
  const { body } = await payments.refund({ charge_reference, amount_minor: 120_000 });
  return body.data.reference;
}
const refundIs = (reference: string, status: string) =>
  eventually(`the refund is ${status}`, async () => {
    const found = await payments.getRefund(reference);
    return found.status === status ? found : undefined;
  });
const transferId = (suffix: string) => tenant.send(suffix);

describe('faults that charges and refunds meet', () => {
  test('a refund for which our balance is too small waits, calls an operator, and stops no charge', async () => {
    const charge = await paid();
    const balance = rehearsal.fake.balance();
    rehearsal.fake.topUp(-balance);
    const reference = await refund(charge);
    expect(await faultNamed('float')).toMatchObject({ kind: 'fault', needed_minor: 120_000n });
    expect(await paid()).toEqual(expect.any(String));
    rehearsal.fake.topUp(balance);
    await refundIs(reference, 'completed');
    await isOver('float');
  });

  test.each([
    ['for an unknown reason', 'wrong_request'],
    ['because the key lacks the privilege', 'no_privilege'],
  ] as const)(
    'a refund that is refused %s calls an operator at once, and stops nothing',
    async (_why, refusal) => {
      const charge = await paid();
      rehearsal.fake.plan('refund', refusal);
      const reference = await refund(charge);
      expect(await faultNamed('bad_request')).toMatchObject({ kind: 'word' });
      await eventually('the refund has attention', async () =>
        (await payments.getRefund(reference)).attention?.reason.includes('refuses the request')
          ? true
          : undefined,
      );
      await tenant.waitFor(await transferId('100'), 'completed');
      await refundIs(reference, 'completed');
      await resume();
    },
  );

  test('a business that may do nothing stops first submissions of charges until an operator ends it', async () => {
    rehearsal.fake.plan('initialize', 'starter_business');
    const first = await payments.charge(chargeBody('', { reference: 'stopped-1' }));
    expect(first.body).toMatchObject({ success: true });
    expect(await faultNamed('suspended')).toMatchObject({ kind: 'fault' });
    const opened = rehearsal.fake.transactions().length;
    await payments.charge(chargeBody('', { reference: 'stopped-2' }));
    expect(rehearsal.fake.transactions()).toHaveLength(opened);
    await resume();
    for (const reference of ['stopped-1', 'stopped-2']) {
      await payments.waitFor(reference, 'requires_action');
    }
  });
});

describe('faults that transfers meet', () => {
  test('a transfer that wants a code stops the next ones and no charge, and fails', async () => {
    const id = await transferId('007');
    expect(await faultNamed('otp_required')).toMatchObject({ kind: 'fault' });
    expect(await tenant.waitFor(id, 'failed')).toMatchObject({
      failure: { code: 'not_confirmed' },
    });
    const next = await transferId('100');
    await paid();
    expect(rehearsal.fake.transfer(next)).toBeUndefined();
    await resume();
    await tenant.waitFor(next, 'completed');
  });

  test('a transfer that is refused for an unknown reason calls an operator, and stops no other', async () => {
    rehearsal.fake.plan('submit', 'wrong_request');
    const id = await transferId('100');
    expect(await faultNamed('bad_request')).toMatchObject({
      kind: 'word',
      met_by: [{ record: id, tenant: tenant.id }],
    });
    await eventually('the transfer has attention', async () =>
      (await tenant.get(id)).attention?.reason.includes('refuses the request') ? true : undefined,
    );
    await tenant.waitFor(await transferId('100'), 'completed');
    await tenant.waitFor(id, 'completed');
    await resume();
  });

  test('a transfer that failed and was paid all the same ends as paid, or with an operator', async () => {
    const id = await transferId('008');
    await eventually('its payment is known', async () => {
      const { status, attention } = await tenant.get(id);
      return status === 'completed' || attention !== null ? true : undefined;
    });
  });

  test('a word that is in no table is no end, and calls an operator by its name', async () => {
    const id = await transferId('015');
    expect(await faultNamed('parked')).toMatchObject({ kind: 'word' });
    expect((await tenant.get(id)).status).toBe('processing');
    rehearsal.fake.moveTransfer(id, 'success');
    await tenant.waitFor(id, 'completed');
    await resume();
  });
});

describe('faults that other ports meet', () => {
  const startCheck = () =>
    identityClient(tenant).verify(newCustomerId(), {
      type: 'bank_account',
      body: { ...checkBody('bank_account', '220123456789'), bvn: '22212345678' },
    });
  const createAccount = () => {
    const customer = { id: accountCustomer(), name: 'Ada Obi', phone: '+2348012345678' };
    return accountClient(tenant).create({ customer });
  };
  const setUp = async () => {
    const { body } = await payments.call<TokenView>('POST', '/payments/tokens/bank-account', {
      customer: newCustomer(),
      account_number: '0123456789',
      bank_code: '058',
    });
    return payments.call('POST', `/payments/tokens/${body.data.payment_token_id}/setup`, {});
  };

  test.each([
    ['an identity check', 'identify', 'no_privilege', 'suspended', startCheck],
    ['a virtual account', 'assign', 'new_code', 'quite_new', createAccount],
    ['the set-up of a mandate', 'set_up', 'no_privilege', 'bad_request', setUp],
  ] as const)(
    '%s that is refused calls an operator, and stops no transfer',
    async (_what, call, refusal, word, start) => {
      rehearsal.fake.plan(call, refusal);
      expect(await start()).toMatchObject({ body: { success: true } });
      expect(await faultNamed(word)).toMatchObject({ kind: 'word', ended_at: null });
      await tenant.waitFor(await transferId('100'), 'completed');
      await resume();
    },
  );
});

type DisputeRow = { id: string; status: string; attention: { reason: string } | null };

const disputesOf = async (reference: string) =>
  (await payments.call<DisputeRow[]>('GET', `/payments/disputes?charge_reference=${reference}`))
    .body.data;

/** Finds disputes until one has this status: an answer may take longer than the provider's time-out. */
const untilOne = (find: () => Promise<DisputeRow[]>, wanted: string) =>
  eventually(`a dispute is ${wanted}`, async () => {
    const found = await find();
    return found.some(({ status }) => status === wanted) ? found : undefined;
  });

describe('disputes whose messages were missed', () => {
  test('are known by a question about their charge, and so are their decisions', async () => {
    const reference = await paid();
    const charge = await rehearsal.service.deps.charges.store.byReference(tenant.id, reference);
    const theirs = `${String(charge?._id).replace('_', '-')}-1`;
    const disputes = async () => {
      await payments.verify(reference);
      return disputesOf(reference);
    };
    rehearsal.fake.pauseMessages(true);
    const dispute = rehearsal.fake.openDispute(theirs, null);
    expect(await untilOne(disputes, 'open')).toHaveLength(1);
    rehearsal.fake.resolveDispute(dispute?.id ?? 0, 'declined');
    expect(await untilOne(disputes, 'won')).toHaveLength(1);
    rehearsal.fake.pauseMessages(false);
    await eventually('the messages have arrived', () =>
      Promise.resolve(rehearsal.fake.messagesWaiting() === 0 ? true : undefined),
    );
    expect(await disputes()).toMatchObject([{ status: 'won' }]);
  });
});

/** Compares all disputes, page by page as the Schedule does. */
async function compareDisputes() {
  const { deps } = rehearsal.service;
  const callRates = { answered: () => undefined };
  const parts = { ...deps, reconciled: reconciledRecords(deps), callRates };
  let position: PagePosition | null = null;
  do {
    const input: RecordPageInput = { kind: 'disputes', days: 7, perSecond: 1_000, position };
    ({ position } = await reconcilePage(parts, input));
  } while (position !== null);
}

test('a dispute and its decision that no message told are booked by the comparison, once', async () => {
  const { service, fake } = rehearsal;
  const reference = await paid();
  const charge = await service.deps.charges.store.byReference(tenant.id, reference);
  const theirs = `${String(charge?._id).replace('_', '-')}-1`;
  const compared = async () => {
    await compareDisputes();
    return disputesOf(reference);
  };
  fake.pauseMessages(true);
  const dispute = fake.openDispute(theirs, 120_000);
  const before = (await tenant.balance()).available;
  expect(await untilOne(compared, 'open')).toHaveLength(1);
  expect(await compared()).toHaveLength(1);
  expect((await tenant.balance()).available).toBe(before - 120_000);
  fake.resolveDispute(dispute?.id ?? 0, 'declined');
  expect(await untilOne(compared, 'won')).toHaveLength(1);
  expect((await tenant.balance()).available).toBe(before);
  fake.pauseMessages(false);
  await eventually('the messages have arrived', () =>
    fake.messagesWaiting() === 0 ? true : undefined,
  );
  expect((await tenant.balance()).available).toBe(before);
});

test('a decided dispute that Paystack decides the other way calls an operator, who books it with its word', async () => {
  const { service, fake } = rehearsal;
  const reference = await paid();
  const charge = await service.deps.charges.store.byReference(tenant.id, reference);
  const before = (await tenant.balance()).available;
  const dispute = fake.openDispute(`${String(charge?._id).replace('_', '-')}-1`, 120_000);
  const become = (what: string, fits: (row: DisputeRow) => boolean) =>
    eventually(what, async () => {
      const [row] = await disputesOf(reference);
      return row && fits(row) ? row : undefined;
    });
  await become('it is open', ({ status }) => status === 'open');
  fake.resolveDispute(dispute?.id ?? 0, 'declined');
  const { id } = await become('it is won', ({ status }) => status === 'won');
  fake.resolveDispute(dispute?.id ?? 0, 'merchant-accepted');
  await become('it has attention', ({ attention }) => attention !== null);
  const decided = await bursar(
    `disputes decide ${id} --outcome lost --reason accepted --json`,
    service.env,
  );
  expect(decided).toMatchObject({ code: 0, error: '' });
  expect(JSON.parse(decided.out)).toMatchObject({ status: 'lost', attention: null });
  expect((await tenant.balance()).available).toBe(before - 120_000);
  const { out } = await bursar('reconcile --only disputes --json', service.env);
  expect(JSON.parse(out)).toMatchObject({ differing: 0 });
});

test('the comparison calls an operator for a dispute that is lost soon if nobody answers it', async () => {
  const { service, fake } = rehearsal;
  const reference = await paid();
  const charge = await service.deps.charges.store.byReference(tenant.id, reference);
  const dispute = fake.openDispute(`${String(charge?._id).replace('_', '-')}-1`, 120_000);
  const found = async () => (await disputesOf(reference))[0];
  // It is due within a day, so its first message calls already.
  const called = await eventually('it is known', async () => {
    const row = await found();
    return row?.attention?.reason.includes('nobody answers it') ? row : undefined;
  });
  fake.pauseMessages(true);
  const ran = await bursar(`disputes acknowledge ${called.id} --reason seen --json`, service.env);
  expect([ran.code, (await found())?.attention]).toEqual([0, null]);
  await eventually('it calls again', async () => {
    await compareDisputes();
    return (await found())?.attention?.reason.includes('nobody answers it') ? true : undefined;
  });
  fake.resolveDispute(dispute?.id ?? 0, 'declined');
  const compared = async () => {
    await compareDisputes();
    return disputesOf(reference);
  };
  expect(await untilOne(compared, 'won')).toMatchObject([{ attention: null }]);
  fake.pauseMessages(false);
});

// The last one: the provider is asked about this transfer again, and each such answer stops everything anew.
test('an answer of the other environment is no end, and stops everything until an operator ends it', async () => {
  const id = await transferId('016');
  expect(await faultNamed('environment')).toMatchObject({ kind: 'fault' });
  expect((await tenant.get(id)).status).toBe('processing');
  const ran = await bursarApproved(
    `transfers fail ${id} --reason test --force`,
    rehearsal.service.env,
  );
  expect([ran.code, ran.error]).toEqual([0, '']);
  await resume();
});

test('the books balance', async () => {
  expect(await rehearsal.problems()).toEqual([]);
});
