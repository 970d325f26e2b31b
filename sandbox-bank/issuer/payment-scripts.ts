import type { Timers } from '../shared/timers.js';
import type { Authorization } from './authorization-state.js';
import type { Authorizations, OutcomeRequest } from './authorizations.js';
import type { AuthorizationRequest } from './records.js';

/** A step of a payment: it adds at least one message, so that a restart continues after the last one. */
type Step = { afterMs: number; run(one: Authorization, parts: Parts): void };
type Parts = { authorizations: Authorizations };

const BOTH = { final: true, report: true } as const;

/** The part of the approved amount, in per cent, rounded up. */
const share = ({ messages }: Authorization, percent: number) =>
  Math.max(1, Math.ceil(((messages[0]?.amountMinor ?? 0) * percent) / 100));

const outcome = (
  afterMs: number,
  of: OutcomeRequest['outcome'],
  percent: number | null = null,
  more: Partial<OutcomeRequest> = {},
): Step => ({
  afterMs,
  run: (one, { authorizations }) => {
    const amount_minor = percent === null ? undefined : signed(one, percent);
    authorizations.end(one.token, { ...BOTH, outcome: of, amount_minor, ...more });
  },
});

const signed = (one: Authorization, percent: number) =>
  percent < 0 ? -share(one, -percent) : share(one, percent);

const part = { final: false } as const;

/** Both have the time of the approval's next millisecond, and each is delivered three times, the later one first. */
const shuffled: Step = {
  afterMs: 1_000,
  run: (one, { authorizations }) => {
    const at = Math.max(Date.now(), (one.messages.at(-1)?.at ?? 0) + 1);
    const common = { report: true, at, times: 3 } as const;
    const reversal = { outcome: 'reversed', amount_minor: share(one, 50), final: true } as const;
    const clearing = { outcome: 'cleared', amount_minor: share(one, 50), final: false } as const;
    authorizations.end(one.token, { ...common, ...reversal });
    authorizations.end(one.token, { ...common, ...clearing });
  },
};

const together: Step = {
  afterMs: 1_000,
  run: (one, { authorizations }) =>
    authorizations.endTogether(one.token, [
      { ...BOTH, outcome: 'cleared', amount_minor: share(one, 40), final: false },
      { ...BOTH, outcome: 'cleared', amount_minor: share(one, 60) },
      { ...BOTH, outcome: 'refunded', amount_minor: share(one, 10) },
    ]),
};

/** An increment of half of the payment. */
const increment: Step = {
  afterMs: 1_000,
  run: (one, { authorizations }) => {
    const [first] = one.messages;
    if (!first?.order) return;
    const amount_minor = share(one, 50);
    const card = one.card.order.reference;
    const alone = { kind: 'increment', hold_minor: null, amount_minor } as const;
    const order = { ...first.order, ...alone, cash_minor: undefined, merchant_amount: undefined };
    void authorizations.authorize({ ...order, card, authorization: one.token });
  },
};

const clearing = (afterMs: number, percent: number | null = null, more = {}) =>
  outcome(afterMs, 'cleared', percent, more);

const withdrawn: Step = {
  afterMs: 1_000,
  run: (one, { authorizations }) => authorizations.withdraw(one),
};

/** By the last three characters of the merchant's name: what becomes of an approved payment by itself. */
const SCRIPTS: Readonly<Record<string, readonly Step[]>> = {
  '001': [clearing(2_000)],
  '002': [increment],
  '003': [clearing(1_000, 20, part), clearing(1_000, 80)],
  '004': [clearing(1_000, 120)],
  '005': [outcome(1_000, 'reversed', 50), clearing(1_000)],
  '006': [],
  '007': [],
  '008': [clearing(0, 100, { forced: true })],
  '009': [shuffled],
  '010': [outcome(1_000, 'expired'), clearing(1_000, 100)],
  '011': [clearing(1_000), outcome(1_000, 'refunded', 100)],
  '012': [clearing(1_000), outcome(1_000, 'refunded', 100), outcome(1_000, 'refund_reversed', 100)],
  '013': [clearing(1_000, null, { report: false })],
  '014': [together],
  '015': [withdrawn],
  '016': [clearing(1_000), outcome(1_000, 'corrected', -10)],
  '017': [],
};

const nameOf = ({ merchant }: Pick<AuthorizationRequest, 'merchant'>) => merchant.name.slice(-3);

/** The request of a new payment, as the merchant's name changes it: a stand-in, or a hold above the amount. */
export function asNamed<Order extends AuthorizationRequest>(order: Order): Order {
  if (order.kind !== 'authorization') return order;
  switch (nameOf(order)) {
    case '007':
      return { ...order, kind: 'advice' };
    case '017':
      return { ...order, hold_minor: Math.ceil(order.amount_minor * 1.2) };
    default:
      return order;
  }
}

/** True if nobody is asked about the payment: it is cleared by force. */
export const isForced = (order: AuthorizationRequest): boolean =>
  order.kind === 'authorization' && nameOf(order) === '008';

/** Creates the part that lets payments take the course that their merchant's name chooses. */
export function createPaymentScripts(parts: Parts & { timers: Timers }) {
  const { timers } = parts;

  /** Runs the next step of a payment; the number of its messages tells how far it is. */
  function next(one: Authorization, steps: readonly Step[]): void {
    const done = one.messages.length - 1;
    const step = steps[done];
    if (!step) return;
    timers.after((one.messages.at(-1)?.at ?? 0) + step.afterMs - Date.now(), () => {
      if (one.messages.length - 1 !== done) return;
      step.run(one, parts);
      if (one.messages.length - 1 > done) next(one, steps);
    });
  }

  return {
    /** Begins or continues the course of a payment, if it was approved. */
    begin(one: Authorization): void {
      const order = one.messages[0]?.order;
      if (!order || (order.kind !== 'authorization' && order.kind !== 'advice')) return;
      const steps = SCRIPTS[nameOf(order)];
      const isApproved = one.messages[0]?.status === 'authorized';
      if (steps && (isApproved || isForced(order))) next(one, steps);
    },
  };
}
