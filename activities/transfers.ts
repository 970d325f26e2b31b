import { cancellationSignal } from '@temporalio/activity';
import type { ProviderEvents } from '../src/core/provider-events/index.js';
import type { CallKind, CallRates } from '../src/core/providers/call-rates.js';
import type { Breaks } from '../src/core/reconciliation/breaks.js';
import { isSilent } from '../src/core/reconciliation/comparison.js';
import type { ReconciliationRuns } from '../src/core/reconciliation/last-runs.js';
import type { Providers } from '../src/core/providers/registry.js';
import type { TransferProvider } from '../src/core/providers/transfer-provider.js';
import { reconcileNextPage } from '../src/capabilities/transfers/reconciliation.js';
import type { TransferStarter } from '../src/capabilities/transfers/workflow-starter.js';
import { questionsOf, transferRateLimitKey } from '../src/platform/temporal/queues.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import { aboutOf } from '../src/core/instructions/instruction.js';
import type { FactResult, RecordRef } from '../src/core/instructions/workflow-contract.js';
import type { TransferFact } from '../src/capabilities/transfers/transitions.js';
import type {
  NoSuchAccount,
  ReconciliationPage,
  ReconciliationPageInput,
  ResolveRecipientResult,
} from '../src/capabilities/transfers/workflow-contract.js';
import type { Transfers } from '../src/capabilities/transfers/store.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import {
  load,
  withFaults,
  type InstructionHandler,
  type PartsAndFaults,
} from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { withHeartbeats } from './heartbeats.js';
import { noteAnswers, toFact } from './provider-result.js';

/** Parts that the activities of transfers need. */
export type TransferActivityDeps = PartsAndFaults & {
  transfers: { store: Transfers; starter: Pick<TransferStarter, 'notifyChangedSoon'> };
  providers: Pick<Providers, 'all' | 'transfer' | 'find'>;
  callRates: CallRates;
  providerEvents: Pick<ProviderEvents, 'receive'>;
  breaks: Pick<Breaks, 'note' | 'openOf' | 'noteTry'>;
  reconciliationRuns: Pick<ReconciliationRuns, 'noteEnd'>;
};
type Deps = TransferActivityDeps;

/** The kinds of calls that a preparation may count as, and its longest wait for its turn. */
export type PreparationTurn = { kinds: readonly CallKind[]; withinMs: number };

/** A submission goes before polls, so its preparation may take a call of theirs. It may have a workflow task, so it waits shortly. */
const OF_SINGLE: PreparationTurn = { kinds: ['first', 'queued'], withinMs: 500 };

/** The answers of a provider that needs no preparation, and of one that cannot cancel. */
const READY = { kind: 'ready', handle: null, providerRequestId: null } as const;
const CANNOT_CANCEL = { kind: 'not_found', providerRequestId: null } as const;

/** Short, because the payment does not depend on the name: the bank checks the account again when it pays. */
const NAME_ENQUIRY_WITHIN_MS = 3_000;

/** The activities of transfers, as those of bulk transfers and micro-batches call them. */
export type TransferActivities = ReturnType<typeof createTransferActivities>;

/** The activities of transfers. Their names are in histories, so they never change. `turn`: that of preparations. */
export function createTransferActivities(deps: Deps, turn = OF_SINGLE) {
  const transfers = transferHandler(deps, turn);
  const activities = providerActivities(transfers);
  return {
    submitTransfer: activities.submit,
    submitTransferLocally: activities.submitLocally,
    verifyTransfer: activities.verify,
    applyTransferOutcome: activities.applyOutcome,

    /** Name enquiry for a transfer that was accepted while the bank did not answer name enquiries. */
    resolveRecipient: async (ref: RecordRef): Promise<ResolveRecipientResult> =>
      resolveRecipient(deps, await load(transfers, ref)),

    /** Compares a page of ended transfers with their provider, and applies its answers. */
    reconcileTransfers: (input: ReconciliationPageInput): Promise<ReconciliationPage> =>
      withHeartbeats(async () => {
        const parts = { ...deps, answered: noteAnswers(deps.callRates) };
        const page = await reconcileNextPage(parts, input, cancellationSignal());
        const { provider } = input;
        if (page.position === null && !isSilent(page.counts)) {
          await deps.reconciliationRuns.noteEnd({ kind: 'transfers', provider });
        }
        return page;
      }),
  };
}

const transferHandler = (
  { transfers: { store: transfers }, providers, callRates, ...deps }: Deps,
  turn: PreparationTurn,
): InstructionHandler<Transfer, NoSuchAccount> => ({
  name: 'transfer',
  records: transfers,
  ...withFaults(deps),
  capability: 'transfers',
  prepares: () => providers.all.some((provider) => 'prepare' in provider),

  providerCallsFor(transfer) {
    const provider = providers.transfer(transfer.provider);
    const { account, bank_code: bankCode, name } = transfer.recipient;
    const { handle = null, void_handles: voidHandles = 0 } = transfer;
    const about = aboutOf(transfer);
    const request = {
      reference: transfer._id,
      clientReference: transfer.reference,
      amountMinor: transfer.amount_minor,
      currency: transfer.currency,
      recipient: { account, bankCode, name },
      narration: transfer.narration,
    };
    return {
      provider: provider.name,
      resendSafety: provider.traits.resendSafety,
      prepare:
        provider.prepare && handle === null
          ? async (signal) => {
              const takeTurn = () => takeTurnOf(callRates, provider, { ...turn, signal });
              const hadVoidHandle = voidHandles > 0;
              const order = { ...request, requestedAt: new Date(), hadVoidHandle, takeTurn };
              return (await provider.prepare?.(order, signal)) ?? READY;
            }
          : undefined,
      submit: (requestedAt, signal) => provider.submit({ ...request, handle, requestedAt }, signal),
      verify: (signal) => provider.verify(about, signal),
      cancel: async (signal) => (await provider.cancel?.(about, signal)) ?? CANNOT_CANCEL,
    };
  },

  async apply({ tenantId, id }, report, origin) {
    const outcome = await transfers.applyFact(tenantId, id, toTransferFact(report, origin));
    return outcome.kind === 'fact' ? outcome.transfer : null;
  },
});

/**
 * Takes the turn of a preparation, whose submission has its own already. It is no submission, so it counts only where a provider
 * counts submissions apart; elsewhere the two are one call of the rate. False if there is no turn in time.
 */
async function takeTurnOf(
  callRates: CallRates,
  { name, traits }: TransferProvider,
  { kinds, withinMs, signal }: PreparationTurn & { signal: AbortSignal },
): Promise<boolean> {
  if (!traits.submissions) return true;
  const limit = questionsOf(transferRateLimitKey(name));
  return callRates.takeMore(limit, kinds, withinMs, signal).catch(() => false);
}

const toTransferFact = (report: FactResult<NoSuchAccount>, origin: FactSource): TransferFact =>
  report.kind === 'no_such_account' ? { ...origin, kind: report.kind } : toFact(report, origin);

async function resolveRecipient(
  { transfers: { store: transfers }, providers }: Deps,
  transfer: Transfer,
): Promise<ResolveRecipientResult> {
  const { tenant_id: tenantId, _id: id, recipient } = transfer;
  if (transfer.status !== 'pending' || recipient.name !== null) return { kind: 'resolved' };
  const answer = await providers
    .transfer(transfer.provider)
    .resolveAccount(
      { account: recipient.account, bankCode: recipient.bank_code },
      AbortSignal.any([cancellationSignal(), AbortSignal.timeout(NAME_ENQUIRY_WITHIN_MS)]),
    );
  if (answer.kind === 'not_found') return { kind: 'no_such_account' };
  if (answer.kind === 'no_answer') return { kind: 'no_answer' };
  await transfers.nameRecipient(tenantId, id, { name: answer.name, bank: answer.bankName });
  return { kind: 'resolved' };
}
