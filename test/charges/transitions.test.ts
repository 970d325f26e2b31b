import { newId } from '../../src/shared/ids.js';
import { newCharge, type NewCharge } from '../../src/capabilities/charges/charge.js';
import {
  charges,
  attemptReference,
  statusOf,
  type Charge,
} from '../../src/capabilities/charges/charge.js';
import { transitionCharge, type ChargeFact } from '../../src/capabilities/charges/transitions.js';
import { chargeReads } from '../../src/capabilities/charges/mutations.js';
import {
  paymentTokens,
  type PaymentToken,
} from '../../src/capabilities/payment-tokens/payment-token.js';
import { grantPermit } from '../../src/core/instructions/submit-permit.js';
import { decide, balances, run } from '../support/decisions.js';
import { byProvider, emptySnapshot, NOW } from '../support/transfers.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const days = (n: number) => new Date(NOW.getTime() + n * DAY_MS);
const noDebt = { receivableMinor: 0n };
const customer = { id: 'customer-1', email: 'ada@example.com', name: null };

const chargeFields: NewCharge = {
  tenant_id: 'ten_a',
  amount_minor: 300_000n,
  capture_mode: 'merchant_initiated',
  customer,
  payment_token_id: null,
  description: null,
  metadata: null,
  provider: 'sandbox-bank',
  dunning_days: [1, 3, 5, 7],
};
const merchantCharge = (changes: Partial<NewCharge> = {}) =>
  newCharge({ ...chargeFields, ...changes }, NOW);
const pageCharge = (changes: Partial<NewCharge> = {}) =>
  merchantCharge({ capture_mode: 'customer_action_required', expiresAfterMs: DAY_MS, ...changes });

const sent = (charge: Charge, now = NOW): Charge => {
  const permitted = grantPermit(
    charge,
    { submissions: charge.submissions, actor: 'test', dueAt: now },
    now,
  );
  if (!permitted) throw new Error('it may not leave');
  return permitted;
};

const authorization = {
  code: 'authz_1',
  type: 'card' as const,
  brand: 'visa',
  last4: '4081',
  expiryMonth: 1,
  expiryYear: 2030,
  bankCode: null,
  bankName: null,
  reusable: true,
};
const paid = (changes: object = {}): ChargeFact => ({
  ...byProvider,
  attempt: 1,
  kind: 'succeeded',
  amountMinor: 300_000n,
  currency: 'NGN',
  feeMinor: 14_500n,
  authorization,
  ...changes,
});
const refused = (changes: object = {}): ChargeFact => ({
  ...byProvider,
  attempt: 1,
  kind: 'rejected',
  code: 'insufficient_funds',
  decline: 'soft',
  ...changes,
});
const of = (kind: 'abandoned' | 'expired' | 'operator_confirmed'): ChargeFact => ({
  ...byProvider,
  attempt: 1,
  kind,
});
const transition = (charge: Charge, fact: ChargeFact, now = NOW, wallet = noDebt) =>
  transitionCharge(charge, fact, now, wallet);

describe('a payment', () => {
  test('completes the charge and credits the amount less the fee, after the receivable is paid', () => {
    const { next, postings, availableMinor, receivableMinor } = transition(
      sent(pageCharge()),
      paid(),
      NOW,
      {
        receivableMinor: 100_000n,
      },
    );
    expect(next).toMatchObject({ status: 'completed', next_action: null, next_check_at: null });
    expect(availableMinor).toBe(185_500n);
    expect(receivableMinor).toBe(-100_000n);
    expect(postings[0]?.legs.map(({ amountMinor }) => amountMinor)).toEqual([
      -300_000n,
      14_500n,
      100_000n,
      185_500n,
    ]);
  });

  test.each([
    ['another amount', { amountMinor: 150_000n }],
    ['another currency', { currency: 'USD' }],
    ['a fee above the amount', { feeMinor: 300_001n }],
  ])('with %s posts nothing and raises attention, once', (_what, changes) => {
    for (const charge of [
      sent(pageCharge()),
      transition(sent(pageCharge()), of('abandoned')).next,
    ]) {
      const first = transition(charge, paid(changes));
      expect(first).toMatchObject({ verdict: 'attention', postings: [], availableMinor: 0n });
      expect(first.next).toMatchObject({ status: charge.status, attention: { since: NOW } });
      expect(transition(first.next, paid(changes)).verdict).toBe('unchanged');
    }
  });

  test('is credited also where it is proven late', () => {
    const failed = [
      transition(sent(pageCharge()), of('abandoned')).next,
      transition(sent(pageCharge()), of('expired'), days(1)).next,
      transition(sent(merchantCharge()), refused({ decline: 'hard' })).next,
    ];
    for (const charge of failed) {
      expect(charge.status).toBe('failed');
      const { next, availableMinor } = transition(charge, paid());
      expect(next).toMatchObject({ status: 'completed', failure: null });
      expect(availableMinor).toBe(285_500n);
    }
  });

  test('twice, by two attempts, calls an operator and is credited once', () => {
    const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
    const first = transition(second, paid({ attempt: 2 })).next;
    const { verdict, next, postings } = transition(first, paid({ attempt: 1 }));
    expect([verdict, next.status, postings]).toEqual(['attention', 'completed', []]);
    expect(attemptReference(next)).toBe(`${next._id}-2`);
  });

  test('of a declined attempt raises attention if a later attempt is submitted and no longer verified', () => {
    const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
    const { verdict, next, availableMinor } = transition(second, paid({ attempt: 1 }));
    expect([verdict, next.status, availableMinor]).toEqual(['attention', 'completed', 285_500n]);
    expect(next.attention?.reason).toContain(attemptReference(second));
    expect(next.next_check_at).not.toBeNull();
    expect(transition(next, of('operator_confirmed')).next).toMatchObject({
      attention: null,
      next_check_at: null,
    });
    const given = transition(second, refused({ attempt: 2, decline: 'hard' })).next;
    expect(given.status).toBe('failed');
    expect(transition(given, paid({ attempt: 1 })).next.attention).toBeNull();
    const refusedToTake = { ...second, rejected_submissions: second.submissions };
    expect(transition(refusedToTake, paid({ attempt: 1 })).next.attention).toBeNull();
  });

  test('by an attempt that was declined ends the one that waits', () => {
    const waiting = transition(sent(merchantCharge()), refused()).next;
    const { next } = transition(waiting, paid({ attempt: 1 }));
    expect(next).toMatchObject({ status: 'completed', attempt: 1, next_attempt_at: null });
    expect(grantPermit(next, { submissions: 0, actor: 'test', dueAt: NOW }, days(9))).toBeNull();
  });
});

describe('a decline', () => {
  test('softly is tried again 1, 3, 5 and 7 days after the first decline, then it has failed', () => {
    let charge = merchantCharge();
    const due: unknown[] = [];
    for (const day of [0, 1, 3, 5, 7]) {
      charge = sent(charge, days(day));
      // A decline that arrives late changes no date: the days count from the first attempt.
      charge = transition(charge, refused({ attempt: charge.attempt }), days(day)).next;
      due.push(charge.next_attempt_at);
    }
    expect(due).toEqual([days(1), days(3), days(5), days(7), null]);
    expect(charge).toMatchObject({ status: 'failed', attempt: 5, next_check_at: null });
    expect(charge.failure?.code).toBe('insufficient_funds');
  });

  test('softly may not leave again before its day', () => {
    const waiting = transition(sent(merchantCharge()), refused()).next;
    expect(waiting).toMatchObject({
      status: 'pending',
      attempt: 2,
      submissions: 0,
      next_check_at: days(1),
    });
    const request = { submissions: 0, actor: 'test', dueAt: NOW };
    expect(grantPermit(waiting, request, new Date(days(1).getTime() - 1))).toBeNull();
    expect(grantPermit(waiting, request, days(1))).toMatchObject({
      attempt: 2,
      status: 'processing',
    });
  });

  test('for good fails at once', () => {
    expect(transition(sent(merchantCharge()), refused({ decline: 'hard' })).next.status).toBe(
      'failed',
    );
    expect(transition(sent(pageCharge()), refused()).next.status).toBe('failed');
  });

  test('in an earlier attempt has no effect on this one', () => {
    const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
    expect(transition(second, refused({ attempt: 1 })).verdict).toBe('stale');
  });
});

describe('the time of a customer', () => {
  test('is over only when it is', () => {
    const open = sent(pageCharge());
    expect(transition(open, of('expired'), new Date(days(1).getTime() - 1)).verdict).toBe('stale');
    expect(transition(open, of('expired'), days(1)).next.failure?.code).toBe('expired');
    expect(transition(sent(merchantCharge()), of('expired'), days(9)).verdict).toBe('stale');
  });
});

describe('an operator', () => {
  const byOperator = { via: 'operator' as const, actor: 'ada', note: 'why', attempt: null };

  test('fails a charge that was not submitted, and by force a submitted one, which is then monitored', () => {
    const act = (charge: Charge, changes: object) =>
      transition(charge, refused({ code: 'operator', decline: 'hard', ...byOperator, ...changes }));
    expect(act(merchantCharge(), { ifNotSubmitted: true }).next.status).toBe('failed');
    expect(act(sent(merchantCharge()), { ifNotSubmitted: true }).verdict).toBe('stale');
    const forced = act(sent(merchantCharge()), {}).next;
    expect(forced).toMatchObject({ status: 'failed', monitor_until: days(1) });
    expect(transition(forced, paid()).next.status).toBe('completed');
  });

  test('resolves a payment that differs from the request by failing the charge', () => {
    const disputed = transition(sent(pageCharge()), paid({ amountMinor: 1n })).next;
    const given = transition(
      disputed,
      refused({ code: 'operator', decline: 'hard', ...byOperator }),
    ).next;
    expect(given).toMatchObject({ status: 'failed', attention: null });
    expect(transition(given, paid({ amountMinor: 1n })).verdict).toBe('stale');
  });

  test('is called for a differing payment of a failed charge, and resolves it the same way', () => {
    const give = refused({ code: 'operator', decline: 'hard', ...byOperator });
    const given = transition(sent(pageCharge()), give).next;
    const late = transition(given, paid({ amountMinor: 1n }));
    expect(late).toMatchObject({ verdict: 'attention', next: { status: 'failed' }, postings: [] });
    expect(late.next.next_check_at).not.toBeNull();
    const resolved = transition(late.next, give).next;
    expect(resolved.attention).toBeNull();
    expect(transition(resolved, paid({ amountMinor: 1n })).verdict).toBe('stale');
    expect(transition(resolved, paid({ currency: 'USD' })).verdict).toBe('attention');
  });
});

/** All facts that can arrive about one charge on a page. The seed makes a failure repeatable. */
function* shuffles(facts: ChargeFact[], count: number): Generator<ChargeFact[]> {
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let i = 0; i < count; i += 1) {
    const length = 1 + Math.floor(random() * 9);
    yield Array.from({ length }, () => facts[Math.floor(random() * facts.length)] as ChargeFact);
  }
}

describe('in any order and any number', () => {
  const paidFacts = [paid(), paid({ via: 'webhook' }), paid({ via: 'poll' })];
  const others = [
    refused(),
    refused({ via: 'webhook', decline: 'hard' }),
    of('abandoned'),
    of('expired'),
  ];

  test('a page that was paid once ends completed, credited once; one that was not is never credited', () => {
    for (const facts of shuffles([...paidFacts, ...others], 2_000)) {
      let charge = sent(pageCharge());
      let credited = 0n;
      const states: string[] = [];
      for (const fact of facts) {
        const { next, availableMinor } = transition(charge, fact, days(2));
        credited += availableMinor;
        charge = next;
        states.push(charge.status);
      }
      const isPaid = facts.some(({ kind }) => kind === 'succeeded');
      expect(charge.status).toBe(isPaid ? 'completed' : 'failed');
      expect(credited).toBe(isPaid ? 285_500n : 0n);
      // Once it is completed it stays so.
      const since = isPaid ? states.slice(states.indexOf('completed')) : [];
      expect(since.filter((status) => status !== 'completed')).toEqual([]);
    }
  });
});

describe('a commit', () => {
  const token = (changes: Partial<PaymentToken> = {}): PaymentToken => ({
    _id: newId('paymentToken'),
    tenant_id: 'ten_a',
    version: 1,
    type: 'card',
    customer,
    status: 'unbound',
    provider: 'sandbox-bank',
    authorization: null,
    brand: null,
    last4: null,
    bank_code: null,
    account_number: null,
    metadata: null,
    created_at: NOW,
    updated_at: NOW,
    ...changes,
  });
  const accept = (charge: Charge) =>
    ({
      kind: 'acceptCharge',
      tenantId: charge.tenant_id,
      id: charge._id,
      charge,
      claim: null,
      answer: { status: 201, body: charge._id },
    }) as const;
  const fact = (charge: Charge, what: ChargeFact) =>
    ({
      kind: 'applyChargeFact',
      tenantId: charge.tenant_id,
      id: charge._id,
      of: charge,
      fact: what,
    }) as const;
  const withToken = (some: PaymentToken) => {
    const snapshot = emptySnapshot();
    snapshot.records.set(paymentTokens, some);
    return snapshot;
  };

  test('of a setup charge binds its token, and the first authorization stays', () => {
    const unbound = token();
    const charge = pageCharge({ payment_token_id: unbound._id });
    const again = paid({ authorization: { ...authorization, code: 'authz_2' } });
    const { state, commits } = run(withToken(unbound), [
      [accept(charge)],
      [fact(charge, paid())],
      [fact(charge, again)],
    ]);
    expect(state.records.get(paymentTokens, unbound._id)).toMatchObject({
      status: 'active',
      authorization: 'authz_1',
      brand: 'visa',
      last4: '4081',
    });
    expect(commits.flatMap(({ events }) => events.map(({ name }) => name))).toEqual([
      'charge.completed',
    ]);
    expect([...balances(state).values()].reduce((sum, one) => sum + one, 0n)).toBe(0n);
  });

  test.each([
    ['what can not be used again', { reusable: false }],
    ['what is of another kind', { type: 'bank_account' }],
  ])('binds nothing to %s', (_what, changes) => {
    const unbound = token();
    const charge = pageCharge({ payment_token_id: unbound._id });
    const once = paid({ authorization: { ...authorization, ...changes } });
    const { state } = run(withToken(unbound), [[accept(charge)], [fact(charge, once)]]);
    expect(state.records.get(charges, charge._id)?.status).toBe('completed');
    expect(state.records.get(paymentTokens, unbound._id)?.status).toBe('unbound');
  });

  test('for a revoked authorization revokes the token: no later charge is accepted', () => {
    const active = token({ status: 'active', authorization: 'authz_1' });
    const [charge, later] = [1, 2].map(() => merchantCharge({ payment_token_id: active._id }));
    const gone = refused({ code: 'authorization_revoked', decline: 'hard' });
    const { state, outcomes } = run(withToken(active), [
      [accept(charge as Charge)],
      [fact(charge as Charge, gone)],
      [accept(later as Charge)],
    ]);
    expect(state.records.get(paymentTokens, active._id)).toMatchObject({
      status: 'revoked',
      authorization: null,
    });
    expect(JSON.stringify(outcomes.at(-1))).toContain('The payment token is revoked.');
  });

  test.each([
    ['an unbound token', {}, 'invalid_state'],
    ['a revoked token', { status: 'revoked' }, 'invalid_state'],
    ['another tenant’s token', { tenant_id: 'ten_b', status: 'active' }, 'not_found'],
    [
      'another customer’s token',
      { status: 'active', customer: { ...customer, id: 'x' } },
      'invalid_state',
    ],
  ])('refuses a merchant-initiated charge of %s', (_what, changes, code) => {
    const some = token(changes as Partial<PaymentToken>);
    const charge = merchantCharge({ payment_token_id: some._id });
    const { outcomes, state } = run(withToken(some), [[accept(charge)]]);
    expect(JSON.stringify(outcomes)).toContain(code);
    expect(state.records.all(charges)).toEqual([]);
    expect(chargeReads(charge).records).toEqual([paymentTokens.ref(some._id)]);
  });

  test('the event that the customer must act is emitted once', () => {
    const charge = sent(pageCharge());
    const snapshot = emptySnapshot();
    snapshot.records.set(charges, charge);
    const item = {
      kind: 'setChargeAction',
      tenantId: charge.tenant_id,
      id: charge._id,
      url: 'https://pay.example/1',
      providerRequestId: null,
    } as const;
    const { writes } = decide(snapshot, [item, item], NOW);
    expect(writes.events.map(({ name, sequence }) => [name, sequence])).toEqual([
      ['charge.requires_action', 1],
    ]);
    expect(writes.changed.all(charges).map(statusOf)).toEqual(['requires_action']);
  });
});
