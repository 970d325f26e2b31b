import { cancellationSignal } from '@temporalio/activity';
import type { Log } from '../src/log.js';
import type { TransferProvider } from '../src/providers/provider.js';
import type { FirstTries } from '../src/pursuits/first-try.js';
import type { FactOrigin } from '../src/pursuits/facts.js';
import type { FactReport, RecordRef } from '../src/pursuits/reports.js';
import type { TransferFact } from '../src/transfers/facts.js';
import type { NoSuchAccount, ResolveReport } from '../src/transfers/reports.js';
import type { Transfers } from '../src/transfers/store.js';
import type { Transfer } from '../src/transfers/transfer.js';
import { load, pursuitActivities, type Pursued } from './pursuits.js';
import { toFact } from './reports.js';

export type TransferActivityDeps = {
  transfers: Transfers;
  providers: { transfer(name: string): TransferProvider };
  firstTries: FirstTries;
  log: Log;
};
type Deps = TransferActivityDeps;

/** The payment does not depend on the name: the bank checks the account again when it pays. */
const NAME_ENQUIRY_WITHIN_MS = 3_000;

export type TransferActivities = ReturnType<typeof createTransferActivities>;

/** A transfer's activities. Names are in histories; what they do is in pursuits.ts. */
export function createTransferActivities(deps: Deps) {
  const transfers = pursuedTransfers(deps);
  const pursuit = pursuitActivities(transfers);
  return {
    submitTransfer: pursuit.send,
    submitTransferHere: pursuit.sendHere,
    verifyTransfer: pursuit.verify,
    settleTransfer: pursuit.settle,
    readStanding: pursuit.readStanding,
    noteOperator: pursuit.noteOperator,
    raiseAttention: pursuit.raiseAttention,
    noteCancellation: pursuit.noteCancellation,

    /** Name enquiry for a transfer that was accepted while the bank did not answer it. */
    resolveRecipient: async (ref: RecordRef): Promise<ResolveReport> =>
      resolveRecipient(deps, await load(transfers, ref)),
  };
}

/** How transfers are told to their banks, and settled. */
const pursuedTransfers = ({
  transfers,
  providers,
  firstTries,
  log,
}: Deps): Pursued<Transfer, NoSuchAccount> => ({
  name: 'transfer',
  records: transfers,
  log,
  firstTries,

  callsFor(transfer) {
    const provider = providers.transfer(transfer.provider);
    const { account, bank_code: bankCode, name } = transfer.recipient;
    return {
      provider: provider.name,
      absence: provider.capabilities.absence,
      send: (requestedAt, signal) =>
        provider.initiate(
          {
            reference: transfer._id,
            clientReference: transfer.reference,
            amountMinor: transfer.amount_minor,
            currency: transfer.currency,
            recipient: { account, bankCode, name },
            narration: transfer.narration,
            requestedAt,
          },
          signal,
        ),
      verify: (signal) => provider.verify(transfer._id, signal),
    };
  },

  async apply({ tenant, id }, report, origin) {
    const outcome = await transfers.applyFact(tenant, id, toTransferFact(report, origin));
    return outcome.kind === 'fact' ? outcome.transfer : null;
  },
});

const toTransferFact = (report: FactReport<NoSuchAccount>, origin: FactOrigin): TransferFact =>
  report.kind === 'no_such_account' ? { ...origin, kind: report.kind } : toFact(report, origin);

async function resolveRecipient(
  { transfers, providers }: Deps,
  transfer: Transfer,
): Promise<ResolveReport> {
  const { tenant, _id: id, recipient } = transfer;
  if (transfer.status !== 'pending' || recipient.name !== null) return { kind: 'resolved' };
  const answer = await providers
    .transfer(transfer.provider)
    .resolveAccount(
      { account: recipient.account, bankCode: recipient.bank_code },
      AbortSignal.any([cancellationSignal(), AbortSignal.timeout(NAME_ENQUIRY_WITHIN_MS)]),
    );
  if (answer.kind === 'not_found') return { kind: 'no_such_account' };
  if (answer.kind === 'no_answer') return { kind: 'no_answer' };
  await transfers.nameRecipient(tenant, id, { name: answer.name, bank: answer.bankName });
  return { kind: 'resolved' };
}
