import { createChargeCalls } from '../../src/capabilities/charges/provider-calls.js';
import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { chargeOf } from '../../src/capabilities/refunds/provider-calls.js';
import { newRefund } from '../../src/capabilities/refunds/record.js';
import type { Charges } from '../../src/capabilities/charges/store.js';
import type { PaymentProvider } from '../../src/core/providers/payment-provider.js';
import type { About } from '../../src/core/providers/port.js';
import { DAY_MS, days, of, pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { recordSet, run } from '../support/decisions.js';
import { withEmptyParts } from '../support/parts.js';
import { emptySnapshot, NOW } from '../support/transfers.js';

const HANDLE = 'pi_1';
const never = new AbortController().signal;
const OPEN = { kind: 'pending', awaits: 'provider', redirect: null, lastDecline: null } as const;
const traced = <Answer>(answer: Answer) => Promise.resolve({ ...answer, providerRequestId: null });

/** A provider that finds its charges by its own ids alone, for example because its search by our reference lags. */
function callsByHandle() {
  const find = ({ handle }: About) =>
    traced(handle === HANDLE ? OPEN : ({ kind: 'not_found' } as const));
  const provider = withEmptyParts<PaymentProvider>({ verifyCharge: find, cancelCharge: find });
  return createChargeCalls({
    charges: withEmptyParts({}),
    tokens: withEmptyParts({}),
    providers: { payment: () => provider, payments: [provider] },
    expiresAfterMs: 1_000,
    clock: () => NOW,
  });
}

/** A charge whose page the provider has opened under its own id. */
function opened(): Charge {
  const charge = sent(pageCharge());
  const state = { ...emptySnapshot(), records: recordSet() };
  state.records.set(charges, charge);
  const action = {
    kind: 'setChargeAction',
    tenantId: charge.tenant_id,
    id: charge._id,
    attempt: 1,
    url: 'https://pages.example/1',
    handle: HANDLE,
    expiresAt: new Date(NOW.getTime() + DAY_MS),
    providerRequestId: null,
  } as const;
  const [stored] = run(state, [[action]]).state.records.all(charges);
  if (!stored) throw new Error('there is no charge');
  return stored;
}

test('a provider that finds a charge by its own id alone is asked with it, so the charge is never taken for one that was not made', async () => {
  const calls = callsByHandle();
  const charge = opened();
  const asked = {
    verified: (await calls.verify(charge, never)).kind,
    cancelled: (await calls.verify({ ...charge, cancel_requested_at: NOW }, never)).kind,
    fenced: (await calls.fence(charge, never)).kind,
  };
  expect(asked).toEqual({ verified: 'pending', cancelled: 'pending', fenced: 'pending' });
  expect(await calls.verify({ ...charge, handle: null }, never)).toMatchObject({
    kind: 'not_found',
  });
  const refund = { ...newRefund(charge, {}, NOW), amount_minor: 1n };
  expect(chargeOf(refund)).toEqual({ reference: `${charge._id}-1`, handle: HANDLE });
});

/** A charge whose second page the provider has opened under its own id, after the address of the first one was lost. */
const onSecondPage = (): Charge => ({
  ...sent(transition(sent(pageCharge()), of('page_lost')).next),
  handle: HANDLE,
});
const halfPaid = paid({ attempt: 1, amountMinor: 150_000n });
const accepted = { ...of('operator_confirmed'), attempt: null, amountMinor: 150_000n } as const;

test.each([
  ['of an earlier page', transition(onSecondPage(), paid({ attempt: 1 })).next, 1, null],
  [
    'of an earlier page, which an operator accepts',
    transition(transition(onSecondPage(), halfPaid).next, accepted).next,
    1,
    null,
  ],
  ['of the present page', transition(onSecondPage(), paid({ attempt: 2 })).next, 2, HANDLE],
] as const)(
  'the payment %s is asked about, and refunded, by no other page’s id',
  (_of, charge, attempt, handle) => {
    expect(charge).toMatchObject({ status: 'completed', attempt, handle });
    const refund = { ...newRefund(charge, {}, NOW), amount_minor: 1n };
    expect(chargeOf(refund)).toEqual({ reference: `${charge._id}-${attempt}`, handle });
  },
);

test('a charge whose page the provider closes earlier than its customer’s time ends with the page', async () => {
  const charge = sent(pageCharge());
  const state = { ...emptySnapshot(), records: recordSet() };
  state.records.set(charges, charge);
  const stored: Charge[] = [];
  const opening = (closesAt: Date | null) => {
    const provider = withEmptyParts<PaymentProvider>({
      openPage: () =>
        traced({
          kind: 'page',
          url: 'https://pages.example/1',
          handle: null,
          expiresAt: closesAt,
        } as const),
    });
    return createChargeCalls({
      charges: withEmptyParts<Charges>({
        requireAction: ({ _id: id, tenant_id: tenantId, attempt }: Charge, page: object) => {
          const action = { kind: 'setChargeAction', tenantId, id, attempt, ...page };
          const [after = null] = run(state, [[action as never]]).state.records.all(charges);
          if (after) stored.push(after);
          return Promise.resolve(after);
        },
      }),
      tokens: withEmptyParts({}),
      providers: { payment: () => provider, payments: [provider] },
      expiresAfterMs: 2 * DAY_MS,
      clock: () => NOW,
    });
  };
  await opening(days(0.5)).submit(charge, NOW, never);
  await opening(days(9)).submit(charge, NOW, never);
  await opening(null).submit(charge, NOW, never);
  expect(stored.map(({ expires_at: at }) => at)).toEqual([days(0.5), days(1), days(1)]);
});

test.each([
  ['is being paid when the provider closes its page does not end before its own time', 0.5, []],
  ['is still being paid when its own time is over ends', 1, ['expired']],
])('a charge that %s', async (_what, day, ended) => {
  const facts: string[] = [];
  const provider = withEmptyParts<PaymentProvider>({ verifyCharge: () => traced(OPEN) });
  const calls = createChargeCalls({
    charges: withEmptyParts<Charges>({
      applyFact: (charge, { kind }) => {
        facts.push(kind);
        return Promise.resolve({ kind: 'fact', verdict: 'applied', charge: charge as Charge });
      },
    }),
    tokens: withEmptyParts({}),
    providers: { payment: () => provider, payments: [provider] },
    expiresAfterMs: DAY_MS,
    clock: () => days(day),
  });
  const outcome = await calls.verify({ ...opened(), expires_at: days(0.5) }, never);
  expect(facts).toEqual(ended);
  if (ended.length === 0) expect(outcome).toEqual({ kind: 'pending', providerRequestId: null });
});
