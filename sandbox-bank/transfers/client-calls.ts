import { createHash } from 'node:crypto';
import { findBank } from '../shared/directory.js';
import type { Journal } from '../shared/journal.js';
import type { RequestRules } from '../shared/request-handler.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import { behaviourOf } from './behaviours.js';
import type { TransferRecord } from './records.js';
import type { Transfer, TransferState } from './state.js';

/** Transfers on one page of a list. */
const PAGE = 100;
/** A forgotten transfer is found for this long. */
const REMEMBERED_MS = 2_000;
/** The balance of a client without a limit. */
const ENDLESS_MINOR = 1_000_000_000_000_000;

/** True while look-ups do not find a transfer that the bank has. */
export function isHidden({ behaviour, status, createdAt }: Transfer): boolean {
  if (status !== 'pending') return false;
  if (behaviour === 'done_much_later') return true;
  return behaviour === 'forgotten' && Date.now() - createdAt > REMEMBERED_MS;
}

/** The id of an account as a recipient. */
export const recipientOf = ({ account, bank_code: bank }: { account: string; bank_code: string }) =>
  `rcp_${createHash('sha256')
    .update(`${findBank(bank)?.nip_code ?? bank}/${account}`)
    .digest('hex')
    .slice(0, 16)}`;

type Parts = {
  state: TransferState;
  journal: Journal<TransferRecord>;
  rules: RequestRules;
  present: (transfer: Transfer) => unknown;
};

/** The client's calls around its transfers: recipients, cancellations, lists, its balance. */
export type ClientCalls = {
  /** Makes the recipient of a transfer, always the same for one account. Moves nothing. */
  prepare(account: { account: string; bank_code: string }): Outcome;
  /** Makes sure that nothing will be executed under this reference, unless it was. */
  cancel(reference: string): Outcome;
  /** A page of the transfers within a time, newest first. */
  list(query: { from: string; to: string; cursor?: number | undefined }): Outcome;
  balance(): Outcome;
  /** Sets the client's balance, for tests. */
  setFloat(amountMinor: number | null): Outcome;
};

/** Creates the calls. Their outcomes may be sent only after the log has been flushed. */
export const createClientCalls = (parts: Parts): ClientCalls => ({
  ...preparationsAndCancellations(parts),
  ...queries(parts),
});

function preparationsAndCancellations({ state, journal, rules, present: presentVisible }: Parts) {
  return {
    prepare(account: { account: string; bank_code: string }): Outcome {
      const behaviour = behaviourOf(account.account);
      if (behaviour === 'preparation_refused') {
        return errorAnswer(422, 'account_closed', 'the account is closed');
      }
      if (!findBank(account.bank_code) || behaviour === 'no_such_account') {
        return errorAnswer(404, 'no_such_account', 'there is no such account');
      }
      const isLost = behaviour === 'prepared_without_answer_first';
      const key = `recipient/${account.bank_code}/${account.account}`;
      const away = isLost ? rules.turnAway(key, behaviour, Date.now()) : null;
      return away ?? answer(201, { recipient: recipientOf(account) });
    },
    cancel(reference: string): Outcome {
      const newest = state.withReference(reference).at(-1);
      if (!newest) {
        if (!state.isCancelled(reference)) {
          journal.commit([{ kind: 'cancelled', reference, at: Date.now() }]);
        }
        return answer(200, { reference, status: 'cancelled' });
      }
      if (newest.status === 'pending' && newest.behaviour === 'done_much_later') {
        const at = Date.now();
        const { number } = newest;
        journal.commit([
          { kind: 'refused', transfer: number, code: 'cancelled', at },
          { kind: 'cancelled', reference, at },
        ]);
        return answer(200, { reference, status: 'cancelled' });
      }
      return answer(200, presentVisible(newest));
    },
  };
}

function queries({ state, journal, present: presentVisible }: Parts) {
  return {
    list({ from, to, cursor }: { from: string; to: string; cursor?: number | undefined }) {
      const [first, last] = [Date.parse(from), Date.parse(to)];
      const page = state.all
        .slice(0, cursor ?? state.all.length)
        .filter((transfer) => transfer.createdAt >= first && transfer.createdAt < last)
        .filter((transfer) => !isHidden(transfer))
        .slice(-PAGE)
        .toReversed();
      const next = page.length === PAGE ? (page.at(-1)?.number ?? null) : null;
      return answer(200, { transfers: page.map(presentVisible), next });
    },
    balance: () =>
      answer(200, { available_minor: state.floatMinor() ?? ENDLESS_MINOR, currency: 'NGN' }),
    setFloat(amountMinor: number | null) {
      journal.commit([{ kind: 'float', amount_minor: amountMinor, at: Date.now() }]);
      return answer(200, { amount_minor: amountMinor });
    },
  };
}
