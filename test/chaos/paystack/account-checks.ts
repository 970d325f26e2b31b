import type { Deposit } from '../../../src/capabilities/deposits/record.js';
import {
  checkStatusOf,
  type IdentityCheck,
} from '../../../src/capabilities/identity-checks/record.js';
import type { VirtualAccount } from '../../../src/capabilities/virtual-accounts/record.js';
import { emailOf } from '../../../src/core/providers/paystack/customers.js';
import type { Rehearsal } from '../../paystack/rehearsal.js';
import { CUSTOMER_DOMAIN } from '../../paystack/support.js';
import { NO_ACCOUNT, RESULTS, type AccountLoad } from './account-load.js';
import { endProblems, expectAmounts, moved } from './checks.js';

/** The checks of virtual accounts, deposits and identity checks. Each returns what is wrong, as text. */

const allOf = <T extends object>({ service }: Rehearsal, name: string): Promise<T[]> =>
  service.deps.database.db.collection(name).find().toArray() as unknown as Promise<T[]>;

/** The references at Paystack of the deposits that are recorded here. */
export const depositReferences = async (rehearsal: Rehearsal): Promise<string[]> =>
  (await allOf<Deposit>(rehearsal, 'deposits')).map(({ reference }) => reference);

/** The disagreements between the requests of the load, our records, and Paystack's accounts and journal. */
export async function accountViolations(
  rehearsal: Rehearsal,
  load: AccountLoad,
): Promise<string[]> {
  const accounts = await allOf<VirtualAccount>(rehearsal, 'virtual_accounts');
  const deposits = await allOf<Deposit>(rehearsal, 'deposits');
  const checks = await allOf<IdentityCheck>(rehearsal, 'identity_checks');
  return [
    ...[...accounts, ...deposits, ...checks].flatMap(endProblems),
    ...openingProblems(load, accounts),
    ...accounts.flatMap((one) => accountProblems(rehearsal, one, deposits)),
    ...arrivalProblems(load, deposits),
    ...deposits.flatMap((one) => depositProblems(rehearsal, one)),
    ...checkProblems(load, checks),
  ];
}

/** Each accepted request has one account, in a state that its holder explains; each refused one has none. */
function openingProblems({ opened }: AccountLoad, accounts: readonly VirtualAccount[]): string[] {
  const known = new Set(opened.map(({ reference }) => reference));
  const wrong = opened.filter(({ reference, phone, accepted }) => {
    const own = accounts.filter((one) => one.reference === reference);
    const isFailed = own[0]?.state === 'failed';
    return own.length !== Number(accepted) || (accepted && isFailed !== phone.endsWith(NO_ACCOUNT));
  });
  const others = accounts.filter(({ reference }) => !known.has(reference));
  return [
    ...wrong.map(({ reference }) => `${reference} is not as it was answered`),
    ...others.map(({ reference }) => `${reference} was not asked for`),
  ];
}

/** An account is assigned at Paystack if it is active, once at most, and has received what is credited to it. */
function accountProblems(
  { fake }: Rehearsal,
  { _id: id, state, account_number: number, total_received_minor: total }: VirtualAccount,
  deposits: readonly Deposit[],
): string[] {
  const email = emailOf(id, { domain: 'live', customerDomain: CUSTOMER_DOMAIN });
  const theirs = fake.dedicatedAccounts().filter((one) => one.email === email);
  const assigned = theirs.filter((one) => one.assigned).map((one) => one.number);
  const received = deposits
    .filter((one) => one.state === 'credited' && one.virtual_account_id === id)
    .reduce((sum, { amount_minor: amount }) => sum + (amount ?? 0n), 0n);
  return [
    ...(theirs.length > 1 ? [`${id} was opened ${theirs.length} times`] : []),
    ...(assigned.join() === (state === 'active' ? String(number) : '')
      ? []
      : [`${id} is ${state} with ${number}, and assigned as [${assigned.join()}]`]),
    ...(received === total ? [] : [`${id} has received ${total}, and not ${received}`]),
  ];
}

/** All money that arrived has one record with its amount and its account, and there is no other record. */
function arrivalProblems({ paid }: AccountLoad, deposits: readonly Deposit[]): string[] {
  const known = new Set(paid.map(({ reference }) => reference));
  const wrong = paid.filter(({ account, reference, amount }) => {
    const own = deposits.filter((one) => one.reference === reference);
    const [first] = own;
    const isOwn = first?.assigned || first?.virtual_account_id === account;
    return own.length !== 1 || !isOwn || first?.amount_minor !== BigInt(amount);
  });
  const others = deposits.filter(({ reference }) => !known.has(reference));
  return [
    ...wrong.map(({ reference }) => `the deposit ${reference} is not as it was paid`),
    ...others.map(({ reference }) => `the deposit ${reference} was not paid`),
  ];
}

/** A deposit is credited or returned, and has left Paystack once if it is returned. */
function depositProblems(rehearsal: Rehearsal, deposit: Deposit): string[] {
  const { _id: id, reference, state, amount_minor: amount } = deposit;
  const isDecided = state === 'credited' || state === 'returned';
  return [
    ...(isDecided ? [] : [`${id} is ${state}`]),
    ...expectAmounts(
      `${id} is ${state}, returned`,
      moved(rehearsal, 'refunded', reference),
      state === 'returned' ? [amount ?? 0n] : [],
    ),
  ];
}

/** Each check has the result of its account, and keeps no number; there is no other check. */
function checkProblems({ checks }: AccountLoad, made: readonly IdentityCheck[]): string[] {
  const byId = new Map(made.map((one) => [one._id, one]));
  const known = new Set(checks.map(({ id }) => id));
  return [
    ...checks.flatMap(({ id, suffix }) => {
      const one = byId.get(id);
      const status = one && checkStatusOf(one);
      const wanted = RESULTS[suffix];
      return status === wanted ? [] : [`${id} is ${status}, and not ${wanted}`];
    }),
    ...made.filter(({ _id }) => !known.has(_id)).map(({ _id }) => `${_id} was not asked for`),
    ...made
      .filter(({ sealed }) => sealed !== null)
      .map(({ _id }) => `${_id} has ended and keeps its number`),
  ];
}
