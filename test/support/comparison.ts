import { audits } from '../../src/composition/capabilities.js';
import type { Database } from '../../src/platform/database/client.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { compareAccounts } from './account-comparison.js';
import {
  settledOf,
  type OutgoingPayment,
} from '../../src/core/outgoing-payments/outgoing-payment.js';
import { compareDeposits } from './deposit-comparison.js';
import { compareAuthorizations } from './authorization-comparison.js';
import type { JournalEntry } from './bank.js';
import { compareCardDisputes } from './card-dispute-comparison.js';
import { compareCards } from './card-comparison.js';
import { compareCharges } from './charge-comparison.js';
import { compareDisputes } from './dispute-comparison.js';
import { compareChecks } from './check-comparison.js';
import { compareRefunds } from './refund-comparison.js';
import { checkMoney, type Compare } from './journal.js';

/** The comparisons of all capabilities that have effects at the bank. */
const COMPARISONS: readonly Compare[] = [
  comparePayments('transfers'),
  comparePayments('bill_payments'),
  compareCards,
  compareAuthorizations,
  compareCardDisputes,
  compareCharges,
  compareRefunds,
  compareDisputes,
  compareAccounts,
  compareDeposits,
  compareChecks,
];

/**
 * Lists all problems in the ledger, and between the records and the bank's journal. Empty if every posting balances,
 * every record has the status that the bank's effects require, and no effect took place twice.
 */
export async function findProblems(
  database: Database,
  journal: readonly JournalEntry[],
): Promise<string[]> {
  const { problems, balances } = await auditLedger(database, audits);
  const { clearingMinor, feesMinor, differences } = await compareAll(database, journal);
  return [
    ...problems,
    ...checkSum('clearing', balances.get('clearing:sandbox-bank') ?? 0n, clearingMinor),
    ...checkSum('fees', balances.get('fees') ?? 0n, feesMinor),
    ...differences,
  ];
}

/**
 * Tells whether these tenants have problems in the ledger, or any record differs from the bank's journal. The ledger of a shared
 * service has the tenants of many test files, and an audit of all takes seconds of a processor.
 */
export async function haveProblems(
  tenants: readonly string[],
  database: Database,
  journal: readonly JournalEntry[],
): Promise<boolean> {
  if ((await compareAll(database, journal)).differences.length > 0) return true;
  for (const tenantId of tenants) {
    const { problems } = await auditLedger(database, audits, { scope: { tenantId } });
    if (problems.length > 0) return true;
  }
  return false;
}

async function compareAll(database: Database, journal: readonly JournalEntry[]) {
  const compared = await Promise.all(COMPARISONS.map((compare) => compare(database, journal)));
  const strangers = journal.filter((entry) => !compared.some(({ knows }) => knows(entry)));
  const sum = (part: 'clearingMinor' | 'feesMinor') =>
    compared.reduce((total, one) => total + one[part], 0n);
  return {
    clearingMinor: sum('clearingMinor'),
    feesMinor: sum('feesMinor'),
    differences: [
      ...strangers.map(
        ({ reference, kind }) => `the bank has ${kind} ${reference}, which is not ours`,
      ),
      ...compared.flatMap((one) => one.problems),
    ],
  };
}

const checkSum = (what: string, found: bigint, wanted: bigint): string[] =>
  found === wanted ? [] : [`${what} is at ${found}, completed records require ${wanted}`];

/** Payments out of the wallet, with amounts and fees. */
function comparePayments(collection: string): Compare {
  return async ({ db }, journal) => {
    const payments = await db.collection<OutgoingPayment>(collection).find().toArray();
    const ids = new Set(payments.map(({ _id }) => _id));
    const sum = (part: (payment: OutgoingPayment) => bigint) =>
      payments.filter((p) => p.status === 'completed').reduce((total, p) => total + part(p), 0n);
    return {
      knows: ({ reference }) => ids.has(reference),
      problems: payments.flatMap((payment) =>
        checkMoney(
          { id: payment._id, status: payment.status, amountMinor: settledOf(payment) },
          journal,
          ['paid', 'reversed'],
        ),
      ),
      clearingMinor: sum(settledOf),
      // Bursar pays the prices of providers from its fees, also of payments that were reversed.
      feesMinor:
        sum((p) => p.fee_minor) -
        payments.reduce((total, { provider_fee_minor: fee }) => total + (fee ?? 0n), 0n),
    };
  };
}
