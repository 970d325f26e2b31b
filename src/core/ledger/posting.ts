import type { Correction, HoldStep } from '../instructions/held-instruction.js';
import { payFromAvailable, payReceivable } from './receivable.js';
import type { Wallet } from './wallet.js';

/** One side of a posting. A positive amount arrives on the account. */
export type Leg = { account: string; amountMinor: bigint };

/**
 * One movement of money: money moves by postings alone. A posting is immutable and its legs sum to zero. Its id is
 * `<resource>/<step>`, so that a step can happen once and a repeat is harmless.
 */
export type Posting = { id: string; tenantId: string; legs: Leg[]; at: Date };

/** The accounts of the ledger, by name. */
export const accounts = {
  available: (tenantId: string) => `wallet:${tenantId}:available`,
  held: (tenantId: string) => `wallet:${tenantId}:held`,
  /** The debt of the tenant: executed movements that the wallet could not cover. */
  receivable: (tenantId: string) => `receivable:${tenantId}`,
  /** The balance that a card can spend, and the part that authorizations hold. */
  cardAvailable: (card: string) => `card:${card}:available`,
  cardHeld: (card: string) => `card:${card}:held`,
  clearing: (provider: string) => `clearing:${provider}`,
  /** The amounts of open disputes that the provider has not taken. */
  disputes: (provider: string) => `disputes:${provider}`,
  /** The clearings with cards of this issuer, until the network is paid. */
  network: (provider: string) => `network:${provider}`,
  fees: 'fees',
  /** The fees that a provider keeps of charges and deposits, and its prices of transfers. */
  providerFees: (provider: string) => `provider-fees:${provider}`,
  /** Payments that were proven after the release of their hold, until an operator decides. */
  suspense: 'suspense',
  /** The world outside: where credited money comes from. */
  external: 'external',
} as const;

/** The account on which earlier releases have booked the fees of all providers. Their postings stay as they are. */
export const FEES_OF_ALL_PROVIDERS = 'provider-fees';

/** Makes a posting without its zero legs. Throws unless the legs balance: an unbalanced posting is a bug. */
export function posting(id: string, tenantId: string, at: Date, legs: Leg[]): Posting {
  const moving = legs.filter((leg) => leg.amountMinor !== 0n);
  const sum = moving.reduce((total, leg) => total + leg.amountMinor, 0n);
  if (sum !== 0n) throw new Error(`posting ${id} does not balance`);
  if (moving.length < 2) throw new Error(`posting ${id} moves nothing`);
  return { id, tenantId, at, legs: moving };
}

/** Money that an instruction holds in a wallet until its provider has executed or rejected it. */
export type Hold = {
  /** The id of the record; ids of postings are `<id>/<step>`. */
  id: string;
  tenantId: string;
  heldAt: Date;
  provider: string;
  /** Amount that the provider was requested to move. */
  amountMinor: bigint;
  /** Amount that it has moved, if an operator has accepted another one. */
  settledMinor?: bigint | null;
  /** How often an operator has corrected what is booked of it; later postings have this number, because they may be repeated. */
  corrections?: number;
  /** The account that the provider moves the amount to, if it is not the clearing account. */
  paidTo?: string;
  /** Legs that a capture adds. Their sum is the total of the hold. */
  captured: readonly Leg[];
};

/** The balances of a wallet that a movement depends on, or their changes (negative: decreases). */
export type WalletBalances = Pick<Wallet, 'availableMinor' | 'receivableMinor'>;

/** The postings of movements, with the changes of the wallet's balances. */
export type HoldMovement = WalletBalances & { postings: Posting[] };

const NO_CHANGE: WalletBalances = { availableMinor: 0n, receivableMinor: 0n };

const totalOf = ({ captured }: Hold) => captured.reduce((sum, leg) => sum + leg.amountMinor, 0n);

const settledOf = ({ amountMinor, settledMinor }: Hold) => settledMinor ?? amountMinor;

/** The part of the hold that returns to the wallet, because the provider has moved less than was requested. */
export const unspentOf = (hold: Hold): bigint => {
  const unspent = hold.amountMinor - settledOf(hold);
  return unspent > 0n ? unspent : 0n;
};

/** The legs of the capture: what was moved, the part that returns to the wallet, and what suspense pays beyond the hold. */
function capturedLegs(hold: Hold): Leg[] {
  const { tenantId, provider, amountMinor, captured, paidTo = accounts.clearing(provider) } = hold;
  const unspent = unspentOf(hold);
  return sumByAccount([
    ...captured,
    { account: paidTo, amountMinor: settledOf(hold) - amountMinor },
    { account: accounts.available(tenantId), amountMinor: unspent },
    { account: accounts.suspense, amountMinor: amountMinor - settledOf(hold) - unspent },
  ]).filter((leg) => leg.amountMinor !== 0n);
}

/** The id of a posting after the end of the hold. */
const idOf = ({ id, corrections = 0 }: Hold, step: HoldStep | Correction): string =>
  corrections === 0 ? `${id}/${step}` : `${id}/${step}-${corrections}`;

/** Available → held, at acceptance. */
export function holdPosting(hold: Hold): Posting {
  const { id, tenantId, heldAt } = hold;
  const total = totalOf(hold);
  return posting(`${id}/hold`, tenantId, heldAt, [
    { account: accounts.available(tenantId), amountMinor: -total },
    { account: accounts.held(tenantId), amountMinor: total },
  ]);
}

/** Held → the accounts of the capture. Has the same id as the release, so that only one of them can exist. */
export function capturePosting(hold: Hold, at: Date): Posting {
  const { id, tenantId } = hold;
  const fromHold = { account: accounts.held(tenantId), amountMinor: -totalOf(hold) };
  return posting(`${id}/resolve`, tenantId, at, [fromHold, ...capturedLegs(hold)]);
}

/** Held → available. */
export function releasePosting(hold: Hold, at: Date): Posting {
  const { id, tenantId } = hold;
  const total = totalOf(hold);
  return posting(`${id}/resolve`, tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -total },
    { account: accounts.available(tenantId), amountMinor: total },
  ]);
}

/** The accounts of the capture → available, after the receivable is paid. */
function reverse(
  hold: Hold,
  at: Date,
  wallet: WalletBalances,
  postingId = idOf(hold, 'reversal'),
): HoldMovement {
  const { tenantId } = hold;
  const unspent = unspentOf(hold);
  const { repaidMinor, restMinor } = payReceivable(wallet, totalOf(hold) - unspent);
  const legs = sumByAccount([
    ...capturedLegs(hold).map(({ account, amountMinor }) => ({
      account,
      amountMinor: -amountMinor,
    })),
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: unspent + restMinor },
  ]);
  const postings = [posting(postingId, tenantId, at, legs)];
  return { postings, availableMinor: restMinor, receivableMinor: -repaidMinor };
}

/** An execution that is proven after the release: clearing against suspense, or back. */
function suspensePosting(hold: Hold, at: Date, step: 'suspense' | 'suspense-reversal'): Posting {
  const amountMinor = step === 'suspense' ? settledOf(hold) : -settledOf(hold);
  return posting(idOf(hold, step), hold.tenantId, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(hold.provider), amountMinor },
  ]);
}

/** Available → the accounts of the capture, and clears suspense. A receivable covers what the wallet lacks. */
function debitSuspense(hold: Hold, at: Date, { availableMinor }: WalletBalances): HoldMovement {
  const { tenantId, provider } = hold;
  const amountMinor = settledOf(hold);
  const unspent = unspentOf(hold);
  const total = totalOf(hold) - unspent;
  const receivableMinor = availableMinor < total ? total - availableMinor : 0n;
  // Suspense was booked against clearing, so only the part of the capture that differs from clearing moves now.
  const rest = sumByAccount([
    { account: accounts.clearing(provider), amountMinor: -amountMinor },
    ...capturedLegs(hold),
    { account: accounts.available(tenantId), amountMinor: -unspent },
  ]);
  const legs = sumByAccount([
    { account: accounts.available(tenantId), amountMinor: receivableMinor - total },
    { account: accounts.receivable(tenantId), amountMinor: -receivableMinor },
    { account: accounts.suspense, amountMinor },
    ...rest,
  ]);
  const postings = [posting(idOf(hold, 'suspense-debit'), tenantId, at, legs)];
  return { postings, availableMinor: receivableMinor - total, receivableMinor };
}

/** A hold as it is booked before and after an operator's correction. `inSuspense`: no wallet has paid for it. */
export type CorrectedHold = { before: Hold; after: Hold; inSuspense: boolean };

/** The posting of a correction, and its effect on the wallet. */
export function correctHold(
  { before, after, inSuspense }: CorrectedHold,
  correction: Correction,
  at: Date,
  wallet: WalletBalances,
): HoldMovement {
  const postingId = idOf(after, correction);
  const { tenantId, provider } = after;
  if (inSuspense) {
    const paidMinor = correction === 'return' ? 0n : settledOf(after);
    const moreMinor = paidMinor - settledOf(before);
    const legs = [
      { account: accounts.suspense, amountMinor: -moreMinor },
      { account: accounts.clearing(provider), amountMinor: moreMinor },
    ];
    return { ...NO_CHANGE, postings: [posting(postingId, tenantId, at, legs)] };
  }
  if (correction === 'return') return reverse(before, at, wallet, postingId);
  const backMinor = unspentOf(after) - unspentOf(before);
  const { availableMinor, receivableMinor } = giveBack(wallet, backMinor);
  const legs = sumByAccount([
    ...capturedLegs(after),
    ...capturedLegs(before).map(({ account, amountMinor }) => ({
      account,
      amountMinor: -amountMinor,
    })),
    { account: accounts.available(tenantId), amountMinor: availableMinor - backMinor },
    { account: accounts.receivable(tenantId), amountMinor: -receivableMinor },
  ]).filter((leg) => leg.amountMinor !== 0n);
  const postings = [posting(postingId, tenantId, at, legs)];
  return { postings, availableMinor, receivableMinor };
}

/** The changes of a wallet that gets an amount, which pays the receivable first, or gives one (negative). */
function giveBack(wallet: WalletBalances, amountMinor: bigint): WalletBalances {
  if (amountMinor < 0n) {
    const { paidMinor, owedMinor } = payFromAvailable(wallet, -amountMinor);
    return { availableMinor: -paidMinor, receivableMinor: owedMinor };
  }
  const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor);
  return { availableMinor: restMinor, receivableMinor: -repaidMinor };
}

function sumByAccount(legs: readonly Leg[]): Leg[] {
  const sums = new Map<string, bigint>();
  for (const { account, amountMinor } of legs) {
    sums.set(account, (sums.get(account) ?? 0n) + amountMinor);
  }
  return [...sums].map(([account, amountMinor]) => ({ account, amountMinor }));
}

/** The posting of one movement, and its effect on the wallet. */
export function moveHold(
  hold: Hold,
  step: HoldStep,
  at: Date,
  wallet: WalletBalances,
): HoldMovement {
  switch (step) {
    case 'capture':
      return {
        ...NO_CHANGE,
        postings: [capturePosting(hold, at)],
        availableMinor: unspentOf(hold),
      };
    case 'release':
      return { ...NO_CHANGE, postings: [releasePosting(hold, at)], availableMinor: totalOf(hold) };
    case 'reversal':
      return reverse(hold, at, wallet);
    case 'suspense':
    case 'suspense-reversal':
      return { ...NO_CHANGE, postings: [suspensePosting(hold, at, step)] };
    case 'suspense-debit':
      return debitSuspense(hold, at, wallet);
  }
}

/** The postings of several movements in sequence, after a first one, and their effect on the wallet. */
export function moveHoldBy(
  hold: Hold,
  steps: readonly HoldStep[],
  at: Date,
  wallet: WalletBalances,
  first: HoldMovement = { ...NO_CHANGE, postings: [] },
): HoldMovement {
  let sum = first;
  for (const step of steps) {
    const moved = moveHold(hold, step, at, {
      availableMinor: wallet.availableMinor + sum.availableMinor,
      receivableMinor: wallet.receivableMinor + sum.receivableMinor,
    });
    sum = {
      postings: [...sum.postings, ...moved.postings],
      availableMinor: sum.availableMinor + moved.availableMinor,
      receivableMinor: sum.receivableMinor + moved.receivableMinor,
    };
  }
  return sum;
}
