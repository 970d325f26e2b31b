import { checkPayment } from '../../src/core/outgoing-payments/audit.js';
import { holdOf } from '../../src/core/outgoing-payments/outgoing-payment.js';
import { type Posting, holdPosting } from '../../src/core/ledger/posting.js';
import {
  transitionTransfer,
  type TransferFact,
} from '../../src/capabilities/transfers/transitions.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { storedPostings } from './stored-postings.js';
import { byProvider, NOW, pendingTransfer } from './transfers.js';

/** A fact about a transfer of 250,000 kobo with a fee of 1,000. */
export const paid = {
  ...byProvider,
  kind: 'succeeded',
  amountMinor: 250_000n,
  sessionId: 's1',
} as const satisfies TransferFact;
/** A fact about a transfer of 250,000 kobo with a fee of 1,000. */
export const rejected = {
  ...byProvider,
  kind: 'rejected',
  code: 'account_closed',
} as const satisfies TransferFact;
/** A fact about a transfer of 250,000 kobo with a fee of 1,000. */
export const reversed = {
  ...byProvider,
  kind: 'reversed',
  amountMinor: 250_000n,
  sessionId: 's1',
} as const satisfies TransferFact;
/** A fact about a transfer of 250,000 kobo with a fee of 1,000. */
export const confirmed = {
  ...byProvider,
  kind: 'operator_confirmed',
} as const satisfies TransferFact;

/** Applies facts one after another to a processing transfer. Returns the last state, and all postings and balance changes. */
export function after(facts: TransferFact[], available = 0n, start: Partial<Transfer> = {}) {
  let transfer = pendingTransfer({ status: 'processing', submissions: 1, ...start });
  const made: Posting[] = [holdPosting(holdOf(transfer))];
  const postings: string[] = [];
  const verdicts: string[] = [];
  let wallet = available;
  let owed = 0n;
  let day = 0n;
  for (const fact of facts) {
    const transition = transitionTransfer(transfer, fact, NOW, {
      availableMinor: wallet,
      receivableMinor: owed,
    });
    transfer = transition.next;
    wallet += transition.availableMinor;
    owed += transition.receivableMinor;
    day += transition.dayMinor;
    verdicts.push(transition.verdict);
    made.push(...transition.postings);
    postings.push(...transition.postings.map((p) => p.id.slice(p.id.indexOf('/') + 1)));
  }
  return { transfer, verdicts, postings, made, gained: wallet - available, owed, day };
}

/** The problems that an audit of the ledger finds with a transfer and its postings. */
export const problemsOf = ({
  transfer,
  made,
}: Pick<ReturnType<typeof after>, 'transfer' | 'made'>) =>
  checkPayment(
    {
      ...transfer,
      postings: storedPostings(made),
    },
    'transfer',
  );
