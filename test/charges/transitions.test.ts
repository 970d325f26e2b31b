import { newId } from '../../src/shared/ids.js';
import {
  charges,
  attemptReference,
  statusOf,
  type Charge,
} from '../../src/capabilities/charges/record.js';
import { type ChargeFact } from '../../src/capabilities/charges/facts.js';
import { factIn, type Answer } from '../../src/capabilities/charges/provider-answers.js';
import { chargeReads } from '../../src/capabilities/charges/mutations.js';
import { paymentTokens, type PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { grantPermit } from '../../src/core/instructions/submit-permit.js';
import { decide, balances, run } from '../support/decisions.js';
import { emptySnapshot, NOW } from '../support/transfers.js';

import {
  days,
  customer,
  noDebt,
  merchantCharge,
  pageCharge,
  sent,
  method,
  paid,
  refused,
  of,
  transition,
} from '../support/charge-facts.js';

describe('a payment', () => {
  test('completes the charge and credits the amount less the fee, after the receivable is paid', () => {
    const { next, postings, availableMinor, receivableMinor } = transition(
      sent(pageCharge()),
      paid(),
      NOW,
      { ...noDebt, receivableMinor: 100_000n },
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

  test('with another currency posts nothing and raises attention, once', () => {
    const usd = paid({ currency: 'USD' });
    for (const charge of [
      sent(pageCharge()),
      transition(sent(pageCharge()), of('cancelled')).next,
    ]) {
      const first = transition(charge, usd);
      expect(first).toMatchObject({ verdict: 'attention', postings: [], availableMinor: 0n });
      expect(first.next).toMatchObject({ status: charge.status, attention: { since: NOW } });
      expect(transition(first.next, usd).verdict).toBe('unchanged');
    }
  });

  test('is credited also where it is proven late', () => {
    const failed = [
      transition(sent(pageCharge()), of('cancelled')).next,
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

  test('of a declined attempt raises attention if a later attempt is submitted, until an operator has looked it up', () => {
    const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
    const { verdict, next, availableMinor } = transition(second, paid({ attempt: 1 }));
    expect([verdict, next.status, availableMinor]).toEqual(['attention', 'completed', 285_500n]);
    expect(next.attention?.reason).toContain(attemptReference(second));
    expect(next.next_check_at).not.toBeNull();
    expect(transition(next, of('operator_confirmed')).next).toMatchObject({
      attention: null,
      open_attempt: null,
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

describe('the time of a customer', () => {
  test('is over only when it is', () => {
    const open = sent(pageCharge());
    expect(transition(open, of('expired'), new Date(days(1).getTime() - 1)).verdict).toBe('stale');
    expect(transition(open, of('expired'), days(1)).next.failure?.code).toBe('expired');
    expect(transition(sent(merchantCharge()), of('expired'), days(9)).verdict).toBe('stale');
  });

  describe('that a saved method wanted', () => {
    const declined = (kind: 'soft' | 'hard', charge = merchantCharge()): Charge => ({
      ...sent(charge),
      next_action: { type: 'redirect', url: 'https://pages.example' },
      expires_at: days(1),
      last_decline: 'insufficient_funds',
      last_decline_kind: kind,
    });
    const trace = { providerRequestId: null };
    const pending = { ...trace, kind: 'pending', awaits: 'customer', redirect: null } as const;
    const left = { ...pending, lastDecline: null };
    /** The charge after the first answer behind its customer's time. */
    const over = (charge: Charge, answer: Answer = left): Charge => {
      const fact = factIn(charge, answer, 'poll', days(1));
      if (fact === null) throw new Error('no fact');
      return transition(charge, fact, days(1)).next;
    };

    test('ends by its latest decline: after a soft one there is a next attempt, which forgets it', () => {
      const again = over(declined('soft'));
      expect(again).toMatchObject({ status: 'pending', attempt: 2, last_decline: null });
      expect(again.next_attempt_at).toEqual(days(2));
      const last = over(declined('soft', merchantCharge({ dunning_days: [] })));
      expect([last.status, last.failure?.code]).toEqual(['failed', 'insufficient_funds']);
    });

    test('begins a next attempt that counts its polls and void handles anew', () => {
      const again = over({ ...declined('soft'), polls: 7, void_handles: 1 });
      expect(again).toMatchObject({ attempt: 2, polls: 0, void_handles: 0 });
    });

    test('ends by a hard decline, also by one that only the last answer tells', () => {
      expect(over(declined('hard')).failure?.code).toBe('insufficient_funds');
      const told = { code: 'expired_card', decline: 'hard' } as const;
      const never = { ...declined('soft'), last_decline: null };
      expect(over(never, { ...pending, lastDecline: told }).failure?.code).toBe('expired_card');
    });

    test('ends as expired without a decline, and before its end nothing ends', () => {
      expect(over({ ...declined('soft'), last_decline: null }).failure?.code).toBe('expired');
      expect(factIn(declined('soft'), left, 'poll', days(0.5))).toBeNull();
    });

    test('never ends a page of the customer by a decline on it', () => {
      const page = { ...declined('soft'), capture_mode: 'customer_action_required' as const };
      expect(over(page).failure?.code).toBe('expired');
    });
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

  test('resolves a payment in another currency by failing the charge', () => {
    const disputed = transition(sent(pageCharge()), paid({ currency: 'USD' })).next;
    const given = transition(
      disputed,
      refused({ code: 'operator', decline: 'hard', ...byOperator }),
    ).next;
    expect(given).toMatchObject({ status: 'failed', attention: null });
    expect(transition(given, paid({ currency: 'USD' })).verdict).toBe('stale');
  });

  test('is called for a differing payment of a failed charge, which is in suspense once', () => {
    const give = refused({ code: 'operator', decline: 'hard', ...byOperator });
    const given = transition(sent(pageCharge()), give).next;
    const late = transition(given, paid({ amountMinor: 1n, feeMinor: null }));
    expect(late).toMatchObject({ verdict: 'attention', next: { status: 'failed' } });
    expect(late.next.next_check_at).not.toBeNull();
    const resolved = transition(late.next, give).next;
    expect(resolved.attention).toBeNull();
    expect(transition(resolved, paid({ amountMinor: 1n, feeMinor: null })).verdict).toBe(
      'unchanged',
    );
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
    of('cancelled'),
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
    revoking: null,
    next_check_at: null,
    method_email: null,
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
      mayChangeCustomer: true,
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
    const again = paid({ method: { ...method, code: 'authz_2' } });
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
    const once = paid({ method: { ...method, ...changes } });
    const { state } = run(withToken(unbound), [[accept(charge)], [fact(charge, once)]]);
    expect(state.records.get(charges, charge._id)?.status).toBe('completed');
    expect(state.records.get(paymentTokens, unbound._id)?.status).toBe('unbound');
  });

  test.each([
    'authorization_revoked',
    'authorization_not_found',
    'expired_card',
    'lost_card',
    'stolen_card',
  ])('for good (%s) revokes the token: no later charge is accepted', (code) => {
    const active = token({ status: 'active', authorization: 'authz_1' });
    const [charge, later] = [1, 2].map(() => merchantCharge({ payment_token_id: active._id }));
    const gone = refused({ code, decline: 'hard' });
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
    ['of an earlier attempt, reported after the payment', { attempt: 1 }],
    ['that contradicts the payment', { attempt: 2, via: 'poll' }],
  ])('for good %s leaves the token active', (_what, changes) => {
    const active = token({ status: 'active', authorization: 'authz_1' });
    const charge = merchantCharge({ payment_token_id: active._id });
    const { state } = run(withToken(active), [
      [accept(charge)],
      [fact(charge, refused())],
      [fact(charge, paid({ attempt: 2 }))],
      [fact(charge, refused({ code: 'stolen_card', decline: 'hard', ...changes }))],
    ]);
    expect(state.records.get(charges, charge._id)?.status).toBe('completed');
    expect(state.records.get(paymentTokens, active._id)).toEqual(active);
  });

  test.each(['card_declined', 'insufficient_funds', 'provider_declined'])(
    'for now (%s) leaves the token active',
    (code) => {
      const active = token({ status: 'active', authorization: 'authz_1' });
      const charge = merchantCharge({ payment_token_id: active._id });
      const { state } = run(withToken(active), [
        [accept(charge)],
        [fact(charge, refused({ code, decline: 'hard' }))],
      ]);
      expect(state.records.get(paymentTokens, active._id)).toEqual(active);
    },
  );

  test.each([
    ['an unbound token', {}, 'invalid_state'],
    ['a revoked token', { status: 'revoked' }, 'invalid_state'],
    ['another tenant’s token', { tenant_id: 'ten_b', status: 'active' }, 'not_found'],
    [
      'another customer’s token',
      { status: 'active', customer: { ...customer, id: 'x' } },
      'invalid_state',
    ],
    [
      'a token of another e-mail address',
      { status: 'active', customer: { ...customer, email: 'old@example.com' } },
      'customer.email',
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
      attempt: 1,
      url: 'https://pay.example/1',
      handle: null,
      expiresAt: days(1),
      providerRequestId: null,
    } as const;
    const { writes } = decide(snapshot, [item, item], NOW);
    expect(writes.events.map(({ name, sequence }) => [name, sequence])).toEqual([
      ['charge.requires_action', 1],
    ]);
    expect(writes.changed.all(charges).map(statusOf)).toEqual(['requires_action']);
  });
});
