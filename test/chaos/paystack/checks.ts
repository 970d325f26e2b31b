import type { Charge } from '../../../src/capabilities/charges/record.js';
import type { Refund } from '../../../src/capabilities/refunds/record.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import type { InstructionRecord } from '../../../src/core/instructions/instruction.js';
import type { ProviderEvent } from '../../../src/core/provider-events/event.js';
import type { Rehearsal } from '../../paystack/rehearsal.js';
import { accountViolations, depositReferences } from './account-checks.js';
import type { AccountLoad } from './account-load.js';
import type { Load } from './load.js';

/** The checks of a random-fault run once no work is open. Each returns what is wrong, as text. */

/** The disagreements between the requests, our records, our ledger, and Paystack's journal. */
export async function violations(
  rehearsal: Rehearsal,
  load: Load,
  accounts: AccountLoad,
): Promise<string[]> {
  const { db } = rehearsal.service.deps.database;
  const transfers = await db.collection<Transfer>('transfers').find().toArray();
  const charges = await db.collection<Charge>('charges').find().toArray();
  const refunds = await db.collection<Refund>('refunds').find().toArray();
  const records = [...transfers, ...charges, ...refunds];
  const known = [...records.map(({ _id }) => _id), ...(await depositReferences(rehearsal))];
  const events = db.collection<ProviderEvent>('provider_events');
  return [
    ...(await rehearsal.problems()),
    ...answersHold(load, records),
    ...records.flatMap(endProblems),
    ...transfers.flatMap((one) => transferProblems(rehearsal, one)),
    ...charges.flatMap((one) => chargeProblems(rehearsal, one)),
    ...refunds.flatMap((one) => refundProblems(rehearsal, one)),
    ...(await accountViolations(rehearsal, accounts)),
    ...strangers(rehearsal, known),
    ...(await events.find({ attention: { $ne: null } }).toArray()).map(eventProblem),
  ];
}

type AnyRecord = Transfer | Charge | Refund;

/** Each accepted request has one record with its amount, each refused one has none, and there is no other record. */
function answersHold({ asked }: Load, records: readonly AnyRecord[]): string[] {
  const found = new Map<string, AnyRecord[]>();
  for (const each of records) {
    found.set(each.reference, [...(found.get(each.reference) ?? []), each]);
  }
  const wrong = asked.filter(({ reference, amount, accepted }) => {
    const own = found.get(reference) ?? [];
    return accepted
      ? own.length !== 1 || own[0]?.amount_minor !== BigInt(amount)
      : own.length !== 0;
  });
  const known = new Set(asked.map(({ reference }) => reference));
  const others = records.filter(({ reference }) => !known.has(reference));
  return [
    ...wrong.map(({ reference }) => `${reference} is not as it was answered`),
    ...others.map(({ reference }) => `${reference} was not asked for`),
  ];
}

/** A record has ended, and needs no operator. */
export function endProblems({ _id: id, status, attention }: InstructionRecord): string[] {
  const isOver = status === 'completed' || status === 'failed';
  return [
    ...(isOver ? [] : [`${id} is ${status}`]),
    ...(attention ? [`${id} needs an operator: ${attention.reason}`] : []),
  ];
}

/** No message here is about money that nobody here knows, so none needs an operator. */
const eventProblem = ({ _id: id, event, attention, message }: ProviderEvent): string =>
  `${event} (${id}) needs an operator: ${attention?.reason}; its masked copy: ${JSON.stringify(message)}`;

/** The amounts that Paystack has moved for records whose reference begins so. */
export const moved = ({ fake }: Rehearsal, kind: string, reference: string): bigint[] =>
  fake
    .journal()
    .filter((entry) => entry.kind === kind && entry.reference.startsWith(reference))
    .map(({ amount }) => BigInt(amount));

/** Compares the amounts that Paystack has moved for a record. */
export const expectAmounts = (what: string, found: readonly bigint[], wanted: readonly bigint[]) =>
  found.join() === wanted.join() ? [] : [`${what}: [${found.join()}], and not [${wanted.join()}]`];

/** A transfer is paid once if it is completed, or if it was paid and returned. */
function transferProblems(rehearsal: Rehearsal, transfer: Transfer): string[] {
  const { _id: id, amount_minor: amount, status, reversed_at: reversedAt } = transfer;
  const paid = status === 'completed' || reversedAt !== null ? [amount] : [];
  return [
    ...expectAmounts(`${id} is ${status}, paid`, moved(rehearsal, 'paid_out', id), paid),
    ...expectAmounts(
      `${id} is ${status}, returned`,
      moved(rehearsal, 'paid_out_returned', id),
      reversedAt === null ? [] : [amount],
    ),
  ];
}

/** A charge is paid once, over all its attempts, if it is completed. A surcharge is Paystack's. */
function chargeProblems(rehearsal: Rehearsal, charge: Charge): string[] {
  const theirs = `${charge._id.replace('_', '-')}-`;
  const paid = rehearsal.fake
    .transactions()
    .filter(({ reference, paidAt }) => reference.startsWith(theirs) && paidAt !== null)
    .map(({ requested }) => BigInt(requested));
  const wanted = charge.status === 'completed' ? [charge.amount_minor] : [];
  return expectAmounts(`${charge._id} is ${charge.status}, paid`, paid, wanted);
}

/** A refund is made once at most, and is completed if it reached the customer. */
function refundProblems({ fake }: Rehearsal, { _id: id, status, amount_minor }: Refund): string[] {
  const made = fake.refunds().filter(({ merchantNote }) => merchantNote === id);
  const reached = made.filter((each) => each.status !== 'failed');
  const wanted = status === 'completed' ? [amount_minor] : [];
  return [
    ...(made.length > 1 ? [`${id} was made ${made.length} times`] : []),
    ...expectAmounts(
      `${id} is ${status}, refunded`,
      reached.map(({ amount }) => BigInt(amount)),
      wanted,
    ),
  ];
}

/** Effects at Paystack that no record of ours explains. */
function strangers({ fake }: Rehearsal, known: readonly string[]): string[] {
  const ids = new Set(known);
  return fake
    .journal()
    .map(({ reference }) => reference.replace(/^chg-(.*)-[0-9]+$/, 'chg_$1'))
    .filter((reference) => !ids.has(reference))
    .map((reference) => `Paystack has moved money for ${reference}, which nobody here knows`);
}
