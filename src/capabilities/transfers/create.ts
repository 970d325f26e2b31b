import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import { ApiError } from '../../shared/errors.js';
import { transferFee } from '../../shared/fees.js';
import { newId } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import { nextCheckIndex } from '../../platform/database/indexes.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/accept.js';
import { amountWithin } from '../../platform/http/validate.js';
import { START_WITHIN_MS, timelineEntry } from '../../core/instructions/instruction.js';
import { lagosDay, usedOn, type Wallet } from '../../core/ledger/wallet.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { TransferProvider } from '../../core/providers/transfer-provider.js';
import { acceptTransfer, type AcceptTransfer } from './mutations.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { recipientOf, type AccountName, type BankParts } from '../banks/index.js';
import { presentTransfer } from './presenter.js';
import type { CreateTransferBody, TransferBody } from './schema.js';
import type { TransferStarter } from './workflow-starter.js';
import type { Transfer } from './record.js';

/** Accepts or refuses a transfer, and returns the response. A repeat of a key gets the saved response. */
export type CreateTransfer = (
  tenant: Tenant,
  body: CreateTransferBody,
  claim: Claim | null,
  request?: {
    /** Excludes the time of the name enquiry from the request's deadline. */
    withoutDeadline?: WithoutDeadline;
  },
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/**
 * Creates the function that accepts transfers. It makes the name enquiry, commits record, hold, limit, key and response
 * in one transaction, and starts the workflow without waiting for the start. It returns a refusal as a response and does
 * not throw it, because the idempotency key saves refusals too.
 */
export function createTransferCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: TransferStarter;
  enquiries: Enquiries;
  /** The provider of new transfers. */
  provider: () => Pick<TransferProvider, 'name'>;
  intake: Pick<IntakeLimit, 'check'>;
  clock?: () => Date;
}): CreateTransfer {
  const { groupCommit, starter, enquiries, intake, clock = () => new Date() } = deps;

  return async (tenant, body, claim, request = {}) => {
    const { withoutDeadline = (wait) => wait } = request;
    const { name: provider } = deps.provider();
    intake.check(provider);
    const amountMinor = amountWithin(tenant, body);
    const names = await withoutDeadline(enquiries.names(tenant, [{ body, amountMinor }]));
    const named = names[0] ?? NO_NAME;
    if (named.kind === 'not_found') {
      return refuseRequest(groupCommit, {
        tenantId: tenant.id,
        claim,
        error: new ApiError('invalid_account'),
      });
    }
    const transfer = newTransfer({
      tenant,
      body,
      amountMinor,
      named,
      provider,
      now: clock(),
      startWithinMs: START_WITHIN_MS,
    });
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptTransfer, acceptTransferInput(tenant, transfer, claim)),
    );
    if (outcome.resource === transfer._id) starter.startSoon(transfer);
    if (outcome.resource === null) await enquiries.countRefused(tenant, [named]);
    return outcome;
  };
}

function acceptTransferInput(
  tenant: Tenant,
  transfer: Transfer,
  claim: Claim | null,
): AcceptTransfer {
  return {
    tenantId: tenant.id,
    transfer,
    dailyLimitMinor: tenant.limits.dailyMinor,
    claim,
    answer: successResponse(presentTransfer(transfer)),
  };
}

/** Builds the record of a transfer with everything that does not depend on the commit. */
export function newTransfer(given: {
  tenant: Tenant;
  body: TransferBody;
  amountMinor: bigint;
  /** Answer of the name enquiry. Without a name the workflow repeats the enquiry. */
  named: AccountName;
  provider: string;
  now: Date;
  /** If the workflow is not started within this time, the dispatcher starts it. */
  startWithinMs: number;
  /** Id of the bulk transfer that it is an item of. */
  bulkTransferId?: string;
}): Transfer {
  const { tenant, body, amountMinor, named, now, bulkTransferId } = given;
  const id = newId('transfer');
  const feeMinor = transferFee(amountMinor);
  const { account, bankCode } = recipientOf(body);
  const detail = `the total is held in the wallet${bulkTransferId === undefined ? '' : `; came in ${bulkTransferId}`}`;
  return {
    _id: id,
    tenant_id: tenant.id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    amount_minor: amountMinor,
    fee_minor: feeMinor,
    total_minor: amountMinor + feeMinor,
    currency: body.currency,
    recipient: {
      account,
      bank_code: bankCode,
      name: named.kind === 'found' ? named.name : null,
      bank: named.kind === 'not_found' ? null : named.bankName,
    },
    reference: body.reference ?? id,
    narration: body.narration,
    session_id: null,
    metadata: body.metadata ?? null,
    provider: given.provider,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    first_submitted_at: null,
    acknowledged_at: null,
    next_attempt_at: null,
    failure: null,
    attention: null,
    in_suspense: false,
    monitor_until: null,
    limit_day: lagosDay(now),
    next_check_at: new Date(now.getTime() + given.startWithinMs),
    timeline: [timelineEntry(now, 'accepted', 'api', { detail })],
    created_at: now,
    updated_at: now,
    settled_amount_minor: null,
    completed_at: null,
    reversed_at: null,
  };
}

/** Concurrent name enquiries, and the time for starting them. The transfers' workflows make the remaining ones. */
const ENQUIRIES_AT_ONCE = 32;
const ENQUIRIES_WITHIN_MS = 3_000;

/** A tenant stays suspect for this time after an answer that led to no transfer. */
const SUSPECT_FOR_MS = 10 * 60_000;
const MAX_SUSPECTS = 10_000;

/** A validated transfer, or the reason of its refusal. */
export type ReadTransfer = { body: TransferBody; amountMinor: bigint } | { error: ApiError };

/** The names of the recipients of one request, and the counting of what its answer tells about them. */
export type Enquiries = {
  /**
   * Makes the name enquiries of the transfers that the commit is expected to accept, in the order of the request. The others
   * get `no_answer`, and so does everything beyond the limit of answers that lead to no transfer: such an account is never
   * `not_found`. A transfer that is accepted all the same gets its name from its workflow. A single transfer is expected to be
   * accepted, without a look at wallet and references, until an answer to this tenant has led to no transfer.
   */
  names(tenant: Tenant, transfers: readonly ReadTransfer[]): Promise<AccountName[]>;
  /** Counts the transfers that the commit refused although their account exists: the caller learns that from the refusal. */
  countRefused(tenant: Tenant, refused: readonly (AccountName | undefined)[]): Promise<void>;
};

/** The name of a transfer that is refused anyway. */
export const NO_NAME: AccountName = { kind: 'no_answer', bankName: null };

/** Creates the name enquiries of transfers. The two reads are of a moment before the commit, which decides by itself. */
export function createEnquiries(deps: {
  banks: Pick<BankParts, 'nameEnquiry' | 'unnamed' | 'enquiryLimit'>;
  readWallet: (tenantId: string) => Promise<Wallet>;
  /** Those of the references that a transfer of the tenant has. */
  takenReferences: (tenantId: string, references: string[]) => Promise<string[]>;
  clock?: () => Date;
}): Enquiries {
  const { banks, readWallet, takenReferences, clock = () => new Date() } = deps;
  const suspects = new LRUCache<string, true>({ max: MAX_SUSPECTS, ttl: SUSPECT_FOR_MS });

  async function expected(tenant: Tenant, transfers: readonly ReadTransfer[]): Promise<boolean[]> {
    if (transfers.length === 1 && !suspects.has(tenant.id)) return [true];
    const references = transfers.flatMap((each) => referenceOf(each) ?? []);
    const [wallet, taken] = await Promise.all([
      readWallet(tenant.id),
      references.length === 0 ? [] : takenReferences(tenant.id, references),
    ]);
    const dailyLimitMinor = tenant.limits.dailyMinor;
    return expectedAcceptances(transfers, { wallet, taken, dailyLimitMinor, now: clock() });
  }

  return {
    async names(tenant, transfers) {
      const end = performance.now() + ENQUIRIES_WITHIN_MS;
      const limit = banks.enquiryLimit(tenant);
      const accepted = await expected(tenant, transfers);

      async function enquire(read: ReadTransfer, index: number): Promise<AccountName> {
        if ('error' in read) return NO_NAME;
        const recipient = recipientOf(read.body);
        const isAsked = accepted[index] && performance.now() <= end && !limit.isUsedUp();
        if (!isAsked) return banks.unnamed(recipient);
        const named = await banks.nameEnquiry(recipient);
        if (named.kind !== 'not_found') return named;
        suspects.set(tenant.id, true);
        return (await limit.count()).allowed ? named : banks.unnamed(recipient);
      }

      return mapWithConcurrency(ENQUIRIES_AT_ONCE, transfers, enquire);
    },

    async countRefused(tenant, refused) {
      const known = refused.filter((named) => named?.kind === 'found').length;
      if (known === 0) return;
      suspects.set(tenant.id, true);
      await banks.enquiryLimit(tenant).count(known);
    },
  };
}

/**
 * Tells for each transfer whether the commit will accept it if its account exists: its reference is new, and the wallet and
 * the daily limit cover it after those before it. A caller who learns about accounts this way pays for each.
 */
function expectedAcceptances(
  transfers: readonly ReadTransfer[],
  given: { wallet: Wallet; taken: readonly string[]; dailyLimitMinor: bigint; now: Date },
): boolean[] {
  const { wallet, dailyLimitMinor, now } = given;
  const taken = new Set(given.taken);
  let leftMinor = wallet.availableMinor;
  let leftOfDayMinor = dailyLimitMinor - usedOn(wallet, lagosDay(now)).usedMinor;
  return transfers.map((read) => {
    if ('error' in read) return false;
    const { amountMinor } = read;
    const totalMinor = amountMinor + transferFee(amountMinor);
    const reference = referenceOf(read);
    if (reference !== undefined && taken.has(reference)) return false;
    if (totalMinor > leftMinor || amountMinor > leftOfDayMinor) return false;
    if (reference !== undefined) taken.add(reference);
    leftMinor -= totalMinor;
    leftOfDayMinor -= amountMinor;
    return true;
  });
}

const referenceOf = (read: ReadTransfer): string | undefined =>
  'error' in read ? undefined : read.body.reference;

/** Pause between two counts of one process. Requests in between are decided by the last count. */
const COUNT_EVERY_MS = 2_000;
/** A backlog of this size takes minutes to shrink. */
const INTAKE_RETRY_AFTER_SECONDS = 30;
const INTAKE_CLOSED =
  'Too many transfers wait for their outcome, because a provider answers too slowly. Nothing was accepted: try again later.';

/** A provider of which too many transfers are open is counted for this part of the time at most. */
const COUNTING_SHARE = 0.1;

/** Refuses new transfers of a provider while too many of it are open. */
export type IntakeLimit = ReturnType<typeof createIntakeLimit>;

/** The last count of one provider. */
type LastCount = { full: boolean; countAt: number; counting: Promise<void> | null };

/**
 * Creates the limit of open transfers of each provider. During a long outage of a provider each accepted transfer adds polls,
 * and beyond the limit they would exceed the provider's rate. Another provider has a limit of its own. The count is made in
 * the background of requests, so it may lag by some seconds of intake.
 */
export function createIntakeLimit(
  transfers: Collection<Transfer>,
  { maxOpen, log }: { maxOpen: number; log: Log },
) {
  const providers = new Map<string, LastCount>();

  /** The open transfers of all providers are counted in the index alone; one provider's, only if these are too many. */
  async function isFull(provider: string): Promise<boolean> {
    const filter = { next_check_at: { $type: 'date' as const } };
    const options = { limit: maxOpen, hint: nextCheckIndex.key, ...acrossTenants('loop') };
    if ((await transfers.countDocuments(filter, options)) < maxOpen) return false;
    return (await transfers.countDocuments({ ...filter, provider }, options)) >= maxOpen;
  }

  async function count(of: LastCount, provider: string): Promise<void> {
    const began = performance.now();
    try {
      const now = await isFull(provider);
      if (now !== of.full) {
        log.warn({ provider, max_open: maxOpen }, now ? 'intake is closed' : 'intake is open');
      }
      of.full = now;
    } catch (error) {
      log.warn({ err: error }, 'open transfers not counted, trying again');
    }
    const ended = performance.now();
    of.countAt = ended + Math.max(COUNT_EVERY_MS, (ended - began) / COUNTING_SHARE);
    of.counting = null;
  }

  return {
    /** Throws `service_unavailable` with Retry-After while too many transfers of this provider are open. */
    check(provider: string): void {
      const of = providers.get(provider) ?? { full: false, countAt: 0, counting: null };
      providers.set(provider, of);
      if (performance.now() >= of.countAt) of.counting ??= count(of, provider);
      if (of.full) {
        throw new ApiError('service_unavailable', {
          message: INTAKE_CLOSED,
          retryAfterSeconds: INTAKE_RETRY_AFTER_SECONDS,
        });
      }
    },
    idle: async () => {
      for (const { counting } of providers.values()) await counting;
    },
  };
}
