import type { Effect, EffectKind } from './journal-effects.js';
import { answer, type Outcome } from './wire.js';

/** Entries on one page. */
const PAGE = 100;

/** The effects that move the client's balance, and their direction. Cards and open disputes have accounts of their own. */
const SIGNS: Partial<Record<EffectKind, 1 | -1>> = {
  paid: -1,
  reversed: 1,
  charged: 1,
  refunded: -1,
  refund_returned: 1,
  received: 1,
  deposit_reversed: -1,
  deposit_returned: -1,
};

type Query = { from: string; to: string; cursor?: number | undefined };

/** A page of the movements of the client's balance, newest first, each with the balance after it; at first it is 0. */
export function moneyLedger(effects: readonly Effect[], { from, to, cursor }: Query): Outcome {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  let balance = 0;
  const entries = effects.flatMap(({ seq, kind, reference, amount_minor: amount, at }) => {
    const sign = SIGNS[kind];
    if (sign === undefined || amount === null) return [];
    balance += sign * amount;
    return [{ seq, reference, amount_minor: sign * amount, balance_minor: balance, at }];
  });
  const page = entries
    .filter(({ seq, at }) => at >= first && at < last && seq < (cursor ?? Infinity))
    .slice(-PAGE)
    .toReversed();
  const next = page.length === PAGE ? (page.at(-1)?.seq ?? null) : null;
  return answer(200, {
    entries: page.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })),
    next,
  });
}
