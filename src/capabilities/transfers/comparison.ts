import { isOpen } from '../../core/instructions/instruction.js';
import { OPEN } from '../../core/instructions/listing.js';
import type { Providers } from '../../core/providers/registry.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import {
  reconciledBy,
  type ComparedRecords,
  type Reconciled,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import {
  describePayment,
  paymentAgrees,
  paymentFact,
} from '../../core/reconciliation/payment-answers.js';
import { firstIdAt } from '../../shared/ids.js';
import type { Reconcilable, Transfers } from './store.js';
import type { TransferStarter } from './workflow-starter.js';

type Deps = {
  transfers: { store: Transfers; starter: Pick<TransferStarter, 'notifyChangedSoon'> };
  providers: Pick<Providers, 'find'>;
};

const PAGE = 200;

/** Transfers, as they are compared with their bank by our reference. */
export const reconciledTransfers = (deps: Deps): Reconciled =>
  reconciledBy(comparedTransfers(deps), (scope) => pages(deps.transfers.store, scope));

/** Transfers with their look-up at the bank. An answer is applied as a fact, so money moves by the rules of the transition. */
export const comparedTransfers = ({
  transfers: { store, starter },
  providers,
}: Deps): ComparedRecords<Reconcilable, VerifyAnswer> => ({
  kind: 'transfers',
  get: store.get,
  async ask({ provider, _id: id }, signal) {
    const found = providers.find(provider);
    if (found) return found.verify(id, signal);
    return { kind: 'unknown', reason: 'connection', providerRequestId: null };
  },
  agrees: paymentAgrees,
  describe: describePayment,
  async apply({ tenant_id: tenantId, _id: id, provider }, answer) {
    const fact = paymentFact(answer, provider);
    const applied = fact && (await store.applyFact(tenantId, id, fact));
    // Wakes a waiting workflow, so that it ends or asks for attention without waiting for its timer.
    if (applied) starter.notifyChangedSoon({ _id: id });
    return applied?.kind === 'fact' ? applied.verdict : null;
  },
});

/** True for a transfer that a reconciliation of ended ones compares. */
export const hasEnded =
  (provider: string) =>
  (transfer: Reconcilable): boolean =>
    transfer.provider === provider && !isOpen(transfer);

/** Yields pages of records: first the open ones older than `since`, by tenant, then all created from then until now. */
async function* pages(
  transfers: Transfers,
  { since, tenants }: ReconcileScope,
): AsyncGenerator<readonly Reconcilable[]> {
  const [from, until] = [firstIdAt('transfer', since), firstIdAt('transfer', new Date())];
  for (const tenantId of tenants) {
    for (const status of OPEN) {
      yield* paged((after) =>
        transfers.openBefore({ tenantId, status, before: from, after }, PAGE),
      );
    }
  }
  yield* paged((after) => transfers.madeBetween(after?._id ?? from, until, PAGE));
}

async function* paged(
  read: (after: Reconcilable | undefined) => Promise<Reconcilable[]>,
): AsyncGenerator<Reconcilable[]> {
  let after: Reconcilable | undefined;
  do {
    const page = await read(after);
    yield page;
    after = page.length === PAGE ? page.at(-1) : undefined;
  } while (after);
}
