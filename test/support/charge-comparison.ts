import type { Database } from '../../src/platform/database/client.js';
import {
  isOfPage,
  paidMinorOf,
  readAttempt,
  type Charge,
} from '../../src/capabilities/charges/record.js';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import { readSetupReference } from '../../src/capabilities/payment-tokens/setup.js';
import type { JournalEntry } from './bank.js';
import type { Comparison } from './journal.js';

/**
 * Compares charges with the effects at the network: a charge is paid at most once, over all its attempts. Its customer may pay
 * several of its pages, once each, and what does not complete the charge is in suspense or was returned. An authorization is revoked
 * only with its token.
 */
export async function compareCharges(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const charges = await db.collection<Charge>('charges').find().toArray();
  const tokens = await db.collection<PaymentToken>('payment_tokens').find().toArray();
  const ids = new Set([...charges, ...tokens].map(({ _id }) => _id));
  const completed = charges.filter(({ status }) => status === 'completed');
  return {
    knows: ({ kind, reference }) => EFFECTS.has(kind) && ids.has(pageOf(reference) ?? ''),
    problems: [
      ...charges.flatMap((charge) => checkCharge(charge, journal)),
      ...checkTokens(tokens, charges, journal),
    ],
    clearingMinor: -[
      ...completed.map((charge) => paidMinorOf(charge)),
      ...charges.flatMap(({ suspended }) => suspended.map((payment) => payment.amount_minor)),
    ].reduce((total, minor) => total + minor, 0n),
    // Bursar pays the provider's fee of what is not credited.
    feesMinor: -charges
      .flatMap(({ suspense_fees: fees = [] }) => fees)
      .reduce((total, { fee_minor: fee }) => total + fee, 0n),
  };
}

const EFFECTS: ReadonlySet<string> = new Set(['charged', 'authorization_revoked']);

/** The charge or the token whose page has this reference. */
const pageOf = (reference: string): string | undefined =>
  (readAttempt(reference) ?? readSetupReference(reference))?.id;

/** Tokens that the network cannot charge any more, and that say nothing of it. */
function checkTokens(
  tokens: readonly PaymentToken[],
  charges: readonly Charge[],
  journal: readonly JournalEntry[],
): string[] {
  const revoked = journal.filter(({ kind }) => kind === 'authorization_revoked');
  const pages = new Set(revoked.map(({ reference }) => pageOf(reference)));
  const ofCharges = charges.filter(({ _id }) => pages.has(_id)).map((one) => one.payment_token_id);
  const ids = new Set([...ofCharges, ...pages]);
  return tokens
    .filter(({ _id, status }) => ids.has(_id) && status !== 'revoked')
    .map(({ _id, status }) => `${_id} is ${status}, and its authorization is revoked`);
}

function checkCharge(charge: Charge, journal: readonly JournalEntry[]): string[] {
  const { _id: id, status, attempt, attention } = charge;
  const charged = journal.filter(
    ({ kind, reference }) => kind === 'charged' && readAttempt(reference)?.id === id,
  );
  const once = new Set(charged.map(({ reference }) => (isOfPage(charge) ? reference : id)));
  const paid = charged.find(({ reference }) => reference === `${id}-${attempt}`);
  const problems: string[] = [];
  if (charged.length > once.size) problems.push(`${id} was charged ${charged.length} times`);
  if (status === 'completed' && !paid) {
    const isOther = charged.length > 0;
    problems.push(
      isOther
        ? `${id} was paid by another attempt than it says`
        : `${id} is completed and not paid`,
    );
  }
  if (status === 'completed' && paid && BigInt(paid.amount_minor) !== paidMinorOf(charge)) {
    problems.push(`${id} is completed and was paid with another amount`);
  }
  // A report that cannot be booked waits for an operator.
  const isWaiting = isOpen(charge) || attention !== null;
  const unbooked = charged.filter((payment) => !isBooked(charge, payment));
  if (!isWaiting && unbooked.length > 0) {
    const which = unbooked.map(({ reference }) => reference).join(', ');
    problems.push(`${id} is ${status}, and the payment of ${which} is not booked`);
  }
  return problems;
}

/** True for a payment that has completed its charge, is in suspense, or was returned from there. */
function isBooked(charge: Charge, { reference }: JournalEntry): boolean {
  const { status, suspended, returned_attempts: returned } = charge;
  const attempt = readAttempt(reference)?.attempt;
  if (status === 'completed' && attempt === charge.attempt) return true;
  return (
    attempt !== undefined &&
    (returned.includes(attempt) || suspended.some((each) => each.attempt === attempt))
  );
}
