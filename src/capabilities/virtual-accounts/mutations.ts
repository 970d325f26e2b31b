import {
  acceptOnce,
  refuseTakenReference,
  keysOf,
  findSavedResponse,
  refusalResponse,
  saveResponse,
  successResponse,
  type AcceptResult,
  type Claim,
} from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { instructionState, timelineEntry } from '../../core/instructions/instruction.js';
import { ApiError } from '../../shared/errors.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { presentAccount } from './presenter.js';
import { transitionAccount, type AccountFact, type AccountTransition } from './transitions.js';
import {
  accountCounts,
  accountCustomerId,
  accountCustomers,
  freshInstruction,
  isOpenState,
  lastRequeryDay,
  virtualAccounts,
  type VirtualAccount,
} from './record.js';
import { withAccountEvent } from './webhook-events.js';

/** A new account with its idempotency key. */
type AcceptAccount = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  account: VirtualAccount;
  /** The request wishes no name of the account: it gets that of its customer, or else the customer's id. */
  isUnnamed?: boolean;
  /** Open accounts that a customer may have. */
  maxOpen: number;
  claim: Claim | null;
};

/** The closing of an account, with its idempotency key. */
type AcceptClosing = { tenantId: string; id: string; claim: Claim | null };

/** The result of a closing. `closing`: the account, if this request has begun to close it. */
type AcceptClosingResult = AcceptResult & { closing?: VirtualAccount };

/** The fields of an account that name the records which its facts change. */
export type AccountKey = Pick<VirtualAccount, '_id' | 'tenant_id' | 'customer_id'>;

/** A fact about an account. */
type ApplyAccountFact = { tenantId: string; id: string; customer: string; fact: AccountFact };

/** The verdict, and the account after the fact. */
export type ApplyAccountFactResult =
  | { kind: 'fact'; verdict: AccountTransition['verdict']; account: VirtualAccount }
  | { kind: 'no_such_account' };

/** Accepts an account once: the record, the customer with its count, and the response in one commit. */
export const acceptVirtualAccount: Mutation<AcceptAccount, AcceptResult> = {
  reads: ({ tenantId, account, claim }, full) => ({
    keys: keysOf(claim),
    // A reference that is the record's own id can't have been taken.
    references: account.reference === account._id ? [] : [referenceOf(account)],
    records: [
      accountCustomers.ref(accountCustomerId(tenantId, account.customer_id)),
      customerRef(tenantId, account.customer_id),
      ...(full ? [virtualAccounts.ref(account._id)] : []),
    ],
    wallets: [tenantId],
  }),
  decide: decideAccept,
  weigh: () => 6_000,
};

/** Begins to close an active account. A repeat, and the closing of a closed account, change nothing. */
export const acceptVirtualAccountClosing: Mutation<AcceptClosing, AcceptClosingResult> = {
  reads: ({ tenantId, id, claim }) => ({
    keys: keysOf(claim),
    records: [virtualAccounts.ref(id)],
    wallets: [tenantId],
  }),
  decide: decideClosing,
};

/** Applies a fact about an account. Repeats and facts out of order are safe. */
export const applyVirtualAccountFact: Mutation<ApplyAccountFact, ApplyAccountFactResult> = {
  reads: ({ tenantId, id, customer }) => ({
    records: [virtualAccounts.ref(id), accountCustomers.ref(accountCustomerId(tenantId, customer))],
    wallets: [tenantId],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(virtualAccounts, id)),
};

const referenceOf = ({
  tenant_id: tenantId,
  reference,
}: Pick<VirtualAccount, 'tenant_id' | 'reference'>) =>
  ({ collection: virtualAccounts, tenantId, reference }) as const;

function decideAccept(uow: UnitOfWork, input: AcceptAccount, now: Date): AcceptResult {
  const { account, isUnnamed, maxOpen, tenantId } = input;
  return acceptOnce(uow, input, now, {
    collection: virtualAccounts,
    id: account._id,
    response: (opened) => successResponse(presentAccount(opened)),
    needsFullRead: true,
    admit() {
      const taken = refuseTakenReference(uow, referenceOf(account));
      if (taken) return taken;
      const id = accountCustomerId(tenantId, account.customer_id);
      const customer = uow.get(accountCustomers, id);
      const used = customer?.open ?? 0;
      if (used >= maxOpen) {
        return new ApiError('limit_exceeded', {
          message: 'The customer has as many open virtual accounts as are allowed.',
          details: { limit: maxOpen, used },
        });
      }
      const named = { ...account.customer, mayChange: true };
      // Earlier requests may have named the customer further.
      const { email, name } = nameCustomer(uow, tenantId, named, now);
      const opened: VirtualAccount = {
        ...account,
        customer: { ...account.customer, email, name },
        ...(isUnnamed && { account_name: name ?? account.customer_id }),
      };
      uow.create(virtualAccounts, opened);
      uow.takeReference(referenceOf(opened), opened._id);
      countOpen(uow, opened, 1);
      count(uow, opened, null);
      return opened;
    },
  });
}

/** Changes the number of the customer's open accounts. */
function countOpen(uow: UnitOfWork, account: AccountKey, by: number): void {
  if (by === 0) return;
  const { tenant_id: tenantId, customer_id: customerId } = account;
  const _id = accountCustomerId(tenantId, customerId);
  const before = uow.get(accountCustomers, _id);
  if (before) {
    const open = before.open + by;
    return uow.change(accountCustomers, { ...before, open, version: before.version + 1 });
  }
  uow.create(accountCustomers, { _id, tenant_id: tenantId, open: by, version: 1 });
}

/** Counts the account's state. Counts belong to commits that write the wallet. */
function count(uow: UnitOfWork, account: VirtualAccount, before: VirtualAccount | null): void {
  const changes = accountCounts.changesOf(account, before?.state ?? null, account.state);
  if (changes.length === 0) return;
  for (const change of changes) uow.count(accountCounts.counter, change);
  uow.changeWallet(uow.wallet(account.tenant_id));
}

function decideClosing(uow: UnitOfWork, input: AcceptClosing, now: Date): AcceptClosingResult {
  const { tenantId, id, claim } = input;
  const earlier = findSavedResponse(uow, claim, null, now);
  if (earlier) return earlier;
  if (keysOf(claim).length > 0) uow.requireFullRead();
  const account = uow.get(virtualAccounts, id);
  if (account?.tenant_id !== tenantId) {
    return saveResponse(uow, input, refusalResponse(new ApiError('not_found')));
  }
  const { state } = account;
  if (state === 'pending' || state === 'failed') {
    const message = `The account is ${state}, and only an active one is closed.`;
    const error = new ApiError('invalid_state', { message, details: { status: state } });
    return saveResponse(uow, input, refusalResponse(error));
  }
  const answered = (of: VirtualAccount) =>
    saveResponse(uow, input, successResponse(presentAccount(of)), id);
  if (state !== 'active') return answered(account);
  const closing: VirtualAccount = {
    ...account,
    ...freshInstruction('close', now),
    state: 'closing',
    requery_through: lastRequeryDay(now),
    version: account.version + 1,
    updated_at: now,
    timeline: [
      ...account.timeline,
      timelineEntry(now, 'accepted', 'api', { detail: 'the account is closing' }),
    ],
  };
  uow.change(virtualAccounts, closing);
  count(uow, closing, account);
  return { ...answered(closing), closing };
}

function decideFact(
  uow: UnitOfWork,
  { tenantId, id, customer, fact }: ApplyAccountFact,
  now: Date,
): ApplyAccountFactResult {
  const account = uow.get(virtualAccounts, id);
  if (account?.tenant_id !== tenantId || account.customer_id !== customer) {
    return { kind: 'no_such_account' };
  }
  const { verdict, next: after } = transitionAccount(account, fact, now);
  if (after === account) return { kind: 'fact', verdict, account };
  const { next, event } = withAccountEvent(account, after);
  uow.change(virtualAccounts, next);
  countOpen(uow, next, Number(isOpenState(next.state)) - Number(isOpenState(account.state)));
  count(uow, next, account);
  uow.emit(event);
  return { kind: 'fact', verdict, account: next };
}
