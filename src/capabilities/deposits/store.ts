import type { Db } from 'mongodb';
import { utcDay } from '../../core/commit/daily-counts.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import {
  depositCounts,
  depositId,
  LIST_INDEXES,
  movedDepositId,
  newDeposit,
  type Deposit,
  type DepositState,
  type NewDeposit,
} from './record.js';
import { applyDepositFact, recordDeposit, type ApplyDepositFactResult } from './mutations.js';
import type { DepositTerms } from './suspense.js';
import type { DepositFact } from './transitions.js';

/** A page of a tenant's deposits: filters, sort order and position. */
export type DepositListing = {
  limit: number;
  offset: number;
  descending: boolean;
  state?: DepositState | undefined;
  accountId?: string | undefined;
  sessionId?: string | undefined;
  reference?: string | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
};

/** The store of deposits. */
export type Deposits = ReturnType<typeof createDeposits>;

/** The store of deposits. Money, states and events change only through commits. */
export function createDeposits(
  { db }: Database,
  groupCommit: GroupCommit,
  {
    stallTimeoutMs,
    termsOf,
    clock = () => new Date(),
  }: {
    stallTimeoutMs: number;
    /** The conditions of deposits at this provider. */
    termsOf: (provider: string) => DepositTerms;
    clock?: () => Date;
  },
) {
  const instructions = createInstructionStore<Deposit>({
    collection: db.collection<InstructionRecord>('deposits'),
    clock,
    stallTimeoutMs,
  });

  /** The deposit of a provider's id. One that an operator has moved to another tenant is followed there. */
  async function ofProvider(provider: string, theirs: string): Promise<Deposit | null> {
    const found = await instructions.find(depositId(provider, theirs));
    return found?.moved_to ? ((await instructions.find(found.moved_to.id)) ?? found) : found;
  }

  /** Records a deposit once. Two reports may name different tenants at once: the index of ids lets one of them win. */
  async function record(given: NewDeposit): Promise<Deposit> {
    const deposit = newDeposit(given, clock());
    const { tenantId, id } = given;
    try {
      await groupCommit.commit(recordDeposit, { tenantId, id, deposit });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    return (await instructions.find(id)) ?? deposit;
  }

  return {
    ...instructions,
    ofProvider,
    record,

    /** Records the deposit that another one has become, once. */
    recordMoved: (
      { _id, moved_to: to, ...from }: Deposit,
      by: Pick<NewDeposit, 'via' | 'detail'>,
    ) =>
      to &&
      record({
        ...by,
        id: movedDepositId(_id),
        tenantId: to.tenant_id,
        provider: from.provider,
        reference: from.reference,
        accountId: to.virtual_account_id,
        accountNumber: from.account_number,
        amountMinor: from.amount_minor,
        receivedAt: from.received_at,
        assigned: true,
      }),

    /** Applies a fact by the rules of the transition. Returns the verdict and the deposit afterwards. */
    applyFact: (
      { tenant_id: tenantId, _id: id, virtual_account_id: own, provider }: Deposit,
      fact: DepositFact,
    ): Promise<ApplyDepositFactResult> =>
      groupCommit.commit(applyDepositFact, {
        tenantId,
        id,
        account: fact.kind === 'assigned' ? fact.account : own,
        fact,
        terms: termsOf(provider),
      }),

    ...depositList(db),
  };
}

const depositList = (db: Db) => ({
  /** A tenant's page of deposits with the total of the list. */
  async list(tenantId: string, query: DepositListing) {
    const direction = query.descending ? -1 : 1;
    const filter = filterOf(tenantId, query);
    const hint = indexOf(query);
    const [items, total] = await Promise.all([
      db
        .collection<Deposit>('deposits')
        .find(filter, { projection: { timeline: 0 }, ...(hint && { hint }) })
        .sort({ created_at: direction, _id: direction })
        .skip(query.offset)
        .limit(query.limit)
        .toArray(),
      isCounted(query)
        ? depositCounts.total(db, tenantId, {
            ...(query.state && { status: query.state }),
            ...(query.from && { from: utcDay(query.from) }),
            ...(query.until && { until: utcDay(query.until) }),
          })
        : db.collection<Deposit>('deposits').countDocuments(filter, hint ? { hint } : {}),
    ]);
    return { items, total };
  },
});

const isCounted = ({ accountId, sessionId, reference }: DepositListing): boolean =>
  accountId === undefined && sessionId === undefined && reference === undefined;

function indexOf(query: DepositListing): object | null {
  if (query.accountId !== undefined) {
    return query.state === undefined ? LIST_INDEXES.byAccount : LIST_INDEXES.byAccountState;
  }
  if (query.sessionId !== undefined) return { tenant_id: 1, session_id: 1 };
  if (query.reference !== undefined) return { tenant_id: 1, reference: 1 };
  return query.state === undefined ? LIST_INDEXES.byCreation : LIST_INDEXES.byState;
}

function filterOf(tenantId: string, query: DepositListing) {
  const { state, accountId, sessionId, reference, from, until } = query;
  return {
    tenant_id: tenantId,
    ...(state && { state }),
    ...(accountId !== undefined && { virtual_account_id: accountId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(reference !== undefined && { reference }),
    ...((from ?? until) && {
      created_at: { ...(from && { $gte: from }), ...(until && { $lt: until }) },
    }),
  };
}
