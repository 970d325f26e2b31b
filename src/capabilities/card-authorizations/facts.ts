import type { AuthorizationStatus } from './record.js';
import { least } from '../../shared/money.js';

/** A fact about an authorization. Amounts are in kobo. */
export type AuthorizationFact = {
  /** Identifies the fact, so that a repeat is ignored: made of the issuer's message id, or a name of ours. */
  key: string;
  /** The amount of the fact. Zero where it has none; only a correction may be negative. */
  amount_minor: bigint;
  /** The time of the event itself, not of its arrival. */
  at: Date;
  /** The money that the card would have had on arrival without this payment: see `payersOf`. Missing: of an earlier version. */
  card_had_minor?: bigint;
} & (
  | {
      kind: 'approved';
      /** The issuer's message that was approved. */
      message_id: string;
      /** The amount that was held here. */
      held_minor: bigint;
      /** The part of it that is held in the wallet. Missing: none, or divided by what the card had at that time. */
      held_wallet_minor?: bigint;
      /** The issuer's own hold, if it is more. Missing: as much, or all of the amount of an approval in our place. */
      issuer_hold_minor?: bigint;
      /** The party that approved in our place; null: we approved. */
      stand_in: 'issuer' | 'network' | null;
      /** The day in Lagos whose limit the amount uses. Missing: that of the payment. */
      day?: string;
      /** The end of the hold that the issuer has named. Missing: none. */
      hold_until?: Date;
    }
  /** Our approval of this message does not count; null: of every message so far. */
  | { kind: 'declined'; message_id: string | null }
  /**
   * Not `final`: more of the hold may be cleared later. With `of` it is our own clearing of a financial message, which ends the
   * hold of that message alone. `forced`: the network did not ask.
   */
  | { kind: 'cleared'; final: boolean; of?: ClearedMessage; forced?: true }
  /** `whole`: all that is held and taken, whatever the amount. */
  | { kind: 'reversed'; whole: boolean }
  | { kind: 'expired' | 'refunded' | 'refund_reversed' | 'corrected' }
  /** Of a dispute: the issuer gives the amount, or takes it back. */
  | { kind: DisputeFactKind }
);

/** A financial message, and its hold. `open_minor` is the issuer's hold, if it is another one; it is never stored. */
type ClearedMessage = { message_id: string; held_minor: bigint; open_minor?: bigint };

/** The kinds of facts that come from a dispute of the payment. */
export type DisputeFactKind = 'dispute_credited' | 'dispute_debited';

/** The kind of a fact. */
export type FactKind = AuthorizationFact['kind'];

/** An authorization after its facts. No amount is negative. */
export type AuthorizationBalance = {
  status: AuthorizationStatus;
  /** The part of the issuer's hold that we hold: as much as there is. */
  heldMinor: bigint;
  /** The part of the approvals that is not cleared, reversed or expired: the issuer's own hold. */
  openMinor: bigint;
  /** Taken, and not returned by a reversal. */
  clearedMinor: bigint;
  /** Returned by refunds of the merchant. It may exceed what was cleared. */
  refundedMinor: bigint;
  /** Returned by the issuer because of disputes. */
  creditedMinor: bigint;
  /** The approved amount, less what was reversed of it. */
  approvedMinor: bigint;
  /** The part of it that is held or taken: what was not taken at the end of the hold does not count. */
  standingMinor: bigint;
};

/** The order of facts with the same time, which decides between them whatever their order of arrival. */
const KINDS: readonly FactKind[] = [
  'approved',
  'declined',
  'cleared',
  'reversed',
  'expired',
  'refunded',
  'refund_reversed',
  'corrected',
  'dispute_credited',
  'dispute_debited',
];

/** By time; at the same time by kind, then by key. */
const byTime = (a: AuthorizationFact, b: AuthorizationFact): number =>
  a.at.getTime() - b.at.getTime() ||
  KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
  (a.key < b.key ? -1 : 1);

const NOTHING: AuthorizationBalance = {
  status: 'declined',
  heldMinor: 0n,
  openMinor: 0n,
  clearedMinor: 0n,
  refundedMinor: 0n,
  creditedMinor: 0n,
  approvedMinor: 0n,
  standingMinor: 0n,
};

/**
 * The balance of an authorization after all its facts. Facts are applied in the order in which they happened, so their order
 * of arrival does not change the result.
 *
 * | fact              | effect                                                                                       |
 * | ----------------- | -------------------------------------------------------------------------------------------- |
 * | approved          | holds its part of the amount, on top of what is held                                         |
 * | declined          | our approval of that message does not count: the issuer did not get it, or it was voided;    |
 * |                   | then the approval of the message in our place counts, if there is one                        |
 * | cleared           | takes the amount, also without a hold; lowers the hold by it, and to zero if it is final;    |
 * |                   | our own clearing counts while our approval does or one in our place, and its amount is the   |
 * |                   | issuer's if reported: that report has no other effect                                        |
 * | reversed          | returns its amount, first from the issuer's hold, then from what was taken before; or all    |
 * |                   | of it                                                                                        |
 * | expired           | releases the hold                                                                            |
 * | refunded          | the merchant returns the amount, also of a payment that is not known here                    |
 * | refund_reversed   | the refund is taken back                                                                     |
 * | corrected         | the amount taken is corrected by this much                                                   |
 * | dispute_credited  | the issuer gives the amount because of a dispute                                             |
 * | dispute_debited   | the issuer takes such an amount back                                                         |
 */
export const balanceAfter = (facts: readonly AuthorizationFact[]): AuthorizationBalance =>
  historyOf(facts).at(-1)?.after ?? NOTHING;

/** A fact, and the balance before and after it. */
export type Step = {
  fact: AuthorizationFact;
  before: AuthorizationBalance;
  after: AuthorizationBalance;
};

/** The facts that count, in the order in which they happened, whatever the order of their arrival. */
export function historyOf(facts: readonly AuthorizationFact[]): Step[] {
  let before = NOTHING;
  return facts
    .filter((fact) => counts(fact, facts))
    .map((fact) => asReported(fact, facts))
    .toSorted(byTime)
    .map((fact) => {
      const step = { fact, before, after: balanceAfterFact(before, fact) };
      before = step.after;
      return step;
    });
}

/** The amount that was taken and not returned, by a refund or because of a dispute. It is negative if more was returned. */
export const netOf = ({
  clearedMinor,
  refundedMinor,
  creditedMinor,
}: Pick<AuthorizationBalance, 'clearedMinor' | 'refundedMinor' | 'creditedMinor'>): bigint =>
  clearedMinor - refundedMinor - creditedMinor;

type Approval = Extract<AuthorizationFact, { kind: 'approved' }>;

/** The approvals that count, also those that were reversed or have expired since. */
export const approvalsIn = (facts: readonly AuthorizationFact[]): Approval[] =>
  facts.filter((fact): fact is Approval => fact.kind === 'approved' && counts(fact, facts));

/** The sum of the approvals that count. */
export const approvedIn = (facts: readonly AuthorizationFact[]): bigint =>
  approvalsIn(facts).reduce((sum, { amount_minor: amount }) => sum + amount, 0n);

/** The key of the issuer's clearing with this message id. */
export const clearingKey = (messageId: string) => `cleared-${messageId}`;

/** False for a voided approval, and for what another fact about the same message replaces. */
function counts(fact: AuthorizationFact, facts: readonly AuthorizationFact[]): boolean {
  if (fact.kind === 'approved') {
    return fact.stand_in === null ? !isVoided(fact, facts) : !isInForce(facts, fact.message_id);
  }
  if (fact.kind !== 'cleared') return true;
  if (!fact.of) return !isOfOurs(fact, facts);
  return isInForce(facts, fact.of.message_id) || isStoodIn(facts, fact.of.message_id);
}

/** True if this is the issuer's report of our own clearing of a financial message: it only decides on the amount of ours. */
const isOfOurs = ({ key }: AuthorizationFact, facts: readonly AuthorizationFact[]): boolean =>
  facts.some(
    (one) =>
      one.kind === 'cleared' &&
      one.of !== undefined &&
      clearingKey(one.of.message_id) === key &&
      counts(one, facts),
  );

/**
 * Our own clearing of a financial message, with the amount that the issuer has reported, and what the card had then. If the approval in our place counts
 * instead of ours, that one is taken and no longer held: a financial message that the network approved is paid.
 */
function asReported(
  fact: AuthorizationFact,
  facts: readonly AuthorizationFact[],
): AuthorizationFact {
  if (fact.kind !== 'cleared' || !fact.of) return fact;
  const { message_id: messageId } = fact.of;
  const reported = facts.find(({ key }) => key === clearingKey(messageId));
  const instead = isInForce(facts, messageId) ? undefined : standInOf(facts, messageId);
  const { amount_minor: amount } = reported ?? instead ?? fact;
  const approval = instead ?? ownApprovalOf(facts, messageId);
  const of = {
    held_minor: instead?.held_minor ?? fact.of.held_minor,
    open_minor: approval ? heldAtIssuer(approval) : fact.of.held_minor,
  };
  const had = reported?.card_had_minor ?? fact.card_had_minor;
  return {
    ...fact,
    amount_minor: amount,
    of: { message_id: messageId, ...of },
    ...(had !== undefined && { card_had_minor: had }),
  };
}

/** The issuer's hold for an approval. An approval in our place holds all of its amount there, whatever there is here. */
const heldAtIssuer = (approval: Approval): bigint => {
  const { stand_in: standIn, amount_minor: amount, held_minor: held } = approval;
  return approval.issuer_hold_minor ?? (standIn === null ? held : most(held, amount));
};

/** Our own approval of this message, also if it is voided. */
export const ownApprovalOf = (
  facts: readonly AuthorizationFact[],
  messageId: string,
): Approval | undefined =>
  facts.find(
    (fact): fact is Approval =>
      fact.kind === 'approved' && fact.stand_in === null && fact.message_id === messageId,
  );

/** True if we have approved this message, and no decline voids that. */
export const isInForce = (facts: readonly AuthorizationFact[], messageId: string): boolean => {
  const own = ownApprovalOf(facts, messageId);
  return own !== undefined && !isVoided(own, facts);
};

/** True if somebody approved this message in our place. Nothing voids that: only a reversal ends it. */
export const isStoodIn = (facts: readonly AuthorizationFact[], messageId: string): boolean =>
  standInOf(facts, messageId) !== undefined;

const standInOf = (facts: readonly AuthorizationFact[], messageId: string): Approval | undefined =>
  facts.find(
    (fact): fact is Approval =>
      fact.kind === 'approved' && fact.stand_in !== null && fact.message_id === messageId,
  );

/** True if a decline voids this approval of ours. */
function isVoided({ message_id: id, at }: Approval, facts: readonly AuthorizationFact[]): boolean {
  return facts.some(
    (fact) =>
      fact.kind === 'declined' &&
      (fact.message_id === null ? fact.at >= at : fact.message_id === id),
  );
}

/**
 * True if the issuer has ended the payment after the time of the request, or this message was declined, approved in our place, or
 * cleared: the request was on its way for so long that its answer is not waited for any more.
 */
export const endedSince = (
  facts: readonly AuthorizationFact[],
  { messageId, requestedAt }: { messageId: string; requestedAt: Date },
): boolean =>
  isStoodIn(facts, messageId) ||
  facts.some((fact) => {
    if (fact.key === clearingKey(messageId)) return true;
    if (fact.kind === 'declined' && fact.message_id !== null) return fact.message_id === messageId;
    if (isOfOurs(fact, facts)) return false;
    return isEnd(fact) && fact.at >= requestedAt;
  });

const isEnd = (fact: AuthorizationFact): boolean =>
  fact.kind === 'declined' ||
  (fact.kind === 'expired' && !fact.key.startsWith(OUR_EXPIRY)) ||
  (fact.kind === 'cleared' && fact.final) ||
  (fact.kind === 'reversed' && fact.whole);

/** The beginning of the key of an expiry that our own clock found. */
export const OUR_EXPIRY = 'hold-expired-';

/** The beginning of the key of our own withdrawal of an approval. */
export const OUR_VOID = 'voided-';

/** True if the fact is our own: the issuer's reports do not name it. */
export function isOwn(fact: AuthorizationFact): boolean {
  switch (fact.kind) {
    case 'approved':
      return fact.stand_in === null;
    case 'cleared':
      return fact.of !== undefined;
    case 'declined':
      return fact.key.startsWith(OUR_VOID);
    case 'expired':
      return fact.key.startsWith(OUR_EXPIRY);
    default:
      return fact.kind === 'dispute_credited' || fact.kind === 'dispute_debited';
  }
}

function balanceAfterFact(
  balance: AuthorizationBalance,
  fact: AuthorizationFact,
): AuthorizationBalance {
  const { status, heldMinor, openMinor, clearedMinor, refundedMinor } = balance;
  const { amount_minor: amount } = fact;
  switch (fact.kind) {
    case 'approved':
      return {
        ...balance,
        status: clearedMinor > 0n ? 'partially_cleared' : 'approved',
        heldMinor: heldMinor + fact.held_minor,
        openMinor: openMinor + heldAtIssuer(fact),
        approvedMinor: balance.approvedMinor + amount,
        standingMinor: balance.standingMinor + amount,
      };
    case 'cleared': {
      const byHold = fact.of?.held_minor ?? amount;
      const open = fact.final ? 0n : without(openMinor, fact.of?.open_minor ?? byHold);
      const left = fact.final ? 0n : without(heldMinor, byHold);
      const taken = clearedMinor + amount;
      const cleared = { ...balance, heldMinor: left, openMinor: open, clearedMinor: taken };
      return {
        ...(left > 0n ? cleared : withoutHold(cleared)),
        status: left > 0n ? 'partially_cleared' : 'cleared',
      };
    }
    case 'reversed':
      return fact.whole ? reverseAll(balance) : reverse(balance, amount);
    case 'expired':
      return { ...withoutHold({ ...balance, openMinor: 0n }), status: EXPIRED[status] ?? status };
    case 'refunded':
      return { ...balance, status: knownStatus(status), refundedMinor: refundedMinor + amount };
    case 'refund_reversed':
      return { ...balance, refundedMinor: without(refundedMinor, amount) };
    case 'corrected':
      return {
        ...balance,
        status: amount > 0n ? knownStatus(status) : status,
        clearedMinor: without(clearedMinor, -amount),
      };
    case 'dispute_credited':
      return { ...balance, creditedMinor: balance.creditedMinor + amount };
    case 'dispute_debited':
      return { ...balance, creditedMinor: balance.creditedMinor - amount };
    case 'declined':
      return balance;
  }
}

/** Without a hold of ours, no more of the approvals stands than was taken or is held by the issuer. */
const withoutHold = (balance: AuthorizationBalance): AuthorizationBalance => ({
  ...balance,
  heldMinor: 0n,
  standingMinor: least(balance.standingMinor, balance.clearedMinor + balance.openMinor),
});

const EXPIRED: Partial<Record<AuthorizationStatus, AuthorizationStatus>> = {
  approved: 'expired',
  partially_cleared: 'cleared',
};

/** The status of an authorization with money that moved without an approval. */
const knownStatus = (status: AuthorizationStatus): AuthorizationStatus =>
  status === 'declined' ? 'cleared' : status;

/** A declined authorization without a clearing has nothing to reverse. */
const hasNothing = ({ status, clearedMinor }: AuthorizationBalance) =>
  status === 'declined' && clearedMinor === 0n;

/** Refunds have returned a part already, which is not returned twice. */
function reverseAll(balance: AuthorizationBalance): AuthorizationBalance {
  if (hasNothing(balance)) return balance;
  const { clearedMinor, refundedMinor } = balance;
  return {
    ...balance,
    status: 'reversed',
    heldMinor: 0n,
    openMinor: 0n,
    clearedMinor: least(clearedMinor, refundedMinor),
    approvedMinor: 0n,
    standingMinor: 0n,
  };
}

/**
 * Returns an amount. The issuer lowers its own hold first, so what is taken is returned only beyond that hold, also where we
 * hold less. Our hold is lowered by the whole amount: a late approval then never adds more to it than there was to hold.
 */
function reverse(balance: AuthorizationBalance, amount: bigint): AuthorizationBalance {
  if (hasNothing(balance)) return balance;
  const { status, openMinor: open, clearedMinor: cleared, refundedMinor: refunded } = balance;
  const openMinor = without(open, amount);
  const fromTaken = least(without(amount, open), without(cleared, refunded));
  const clearedMinor = cleared - fromTaken;
  return {
    ...balance,
    status: openMinor > 0n ? status : clearedMinor > 0n ? 'cleared' : 'reversed',
    heldMinor: without(balance.heldMinor, amount),
    openMinor,
    clearedMinor,
    approvedMinor: without(balance.approvedMinor, amount),
    standingMinor: without(balance.standingMinor, amount),
  };
}

const most = (a: bigint, b: bigint) => (a > b ? a : b);

/** The difference, or zero if it were negative. */
const without = (from: bigint, amount: bigint) => (from > amount ? from - amount : 0n);
