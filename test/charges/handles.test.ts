import { createChargeCalls } from '../../src/capabilities/charges/provider-calls.js';
import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { chargeOf } from '../../src/capabilities/refunds/provider-calls.js';
import { newRefund } from '../../src/capabilities/refunds/record.js';
import type { PaymentProvider } from '../../src/core/providers/payment-provider.js';
import type { About } from '../../src/core/providers/port.js';
import { pageCharge, sent } from '../support/charge-facts.js';
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
    expiresAt: NOW,
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
