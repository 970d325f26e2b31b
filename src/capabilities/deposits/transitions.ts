import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import {
  applyChange,
  labelOf,
  MONITOR_MS,
  monitoredUntil,
  raiseAttention,
  type Change,
  type Verdict,
  isOutdatedRejection,
} from '../../core/instructions/transition.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { ProviderDeposit } from '../../core/providers/account-provider.js';
import { uncheckedText } from '../../shared/text.js';
import type { VirtualAccount } from '../virtual-accounts/record.js';
import {
  freshInstruction,
  isUnbooked,
  maskAccount,
  mayBeReturned,
  submittedReturn,
  type Deposit,
  type DepositInstruction,
} from './record.js';
import type { DepositStep } from './postings.js';
import { exceedsTotal, matchOf, MISMATCH, suspenseReason, type DepositTerms } from './suspense.js';

/** A fact about a deposit, with the instruction that it is about. */
export type DepositFact = FactSource &
  (
    | ({ instruction: DepositInstruction } & InstructionFact)
    /** The provider has the deposit. It outranks every message about it. */
    | { instruction: 'confirm'; kind: 'confirmed'; deposit: Omit<ProviderDeposit, 'id'> }
    /** A message says that a deposit was reversed, so that the provider must be asked. */
    | { instruction: 'confirm'; kind: 'doubted' }
    /** An operator sends a suspended deposit back. */
    | { instruction: 'return'; kind: 'return_ordered' }
    /** An operator gives a suspended deposit to an account of its tenant. */
    | { instruction: 'confirm'; kind: 'assigned'; account: string }
    /** An operator gives it to an account of another tenant. */
    | { instruction: 'confirm'; kind: 'moved'; to: NonNullable<Deposit['moved_to']> }
    /** The deposit is recorded under its new tenant. */
    | { instruction: 'confirm'; kind: 'move_completed' }
    /** An operator ends the attention that has this reason. */
    | { instruction: 'confirm'; kind: 'acknowledged'; reason: string }
  );

/** The effect of a fact. `step` is the movement of money, if there is one. */
export type DepositTransition = { verdict: Verdict; next: Deposit; step: DepositStep | null };

type DepositChange = Change<Deposit> & { step?: DepositStep };
type Effect = DepositChange | 'unchanged' | 'stale';
type Case = { deposit: Deposit; now: Date; terms: DepositTerms; account: VirtualAccount | null };

/** The state machine of deposits: total, without side effects, and the only way for a deposit to move money. */
export function transitionDeposit(given: Case, fact: DepositFact): DepositTransition {
  const { deposit, now } = given;
  const change = effectOf(given, fact);
  if (typeof change === 'string') return { verdict: change, next: deposit, step: null };
  const next = applyChange(deposit, fact, labelOf(fact), change, now);
  return { verdict: change.verdict ?? 'applied', next, step: change.step ?? null };
}

function effectOf(given: Case, fact: DepositFact): Effect {
  const { deposit } = given;
  if (fact.instruction === 'return') return returnEffect(given, fact);
  switch (fact.kind) {
    case 'confirmed':
      return confirm(given, fact.deposit);
    case 'doubted':
      return doubt(given);
    case 'assigned':
      return assign(given);
    case 'moved':
      return move(given, fact.to);
    case 'move_completed':
      return completeMove(given);
    case 'acknowledged':
      return acknowledge(given, fact.reason);
    case 'succeeded':
      return endConfirmation(given);
    case 'reversed':
      return reverse(given);
    case 'rejected':
      return dismiss(given, fact);
    case 'operator_confirmed':
      return deposit.attention === null || deposit.state === 'suspended' ? 'unchanged' : clear();
  }
}

const clear = (): DepositChange => ({
  set: { attention: null },
  entry: ['attention_cleared', 'an operator and the provider confirm the deposit'],
});

/**
 * An operator ends attention that no answer of the provider ends. An open question is answered first, and money in suspense is
 * decided by other acts.
 */
function acknowledge({ deposit }: Case, reason: string): Effect {
  const { attention, acknowledged = [] } = deposit;
  if (isOpen(deposit) || deposit.state === 'suspended' || attention?.reason !== reason)
    return 'stale';
  return {
    set: { attention: null, acknowledged: [...acknowledged, reason] },
    entry: ['attention_cleared', 'an operator has acknowledged it'],
  };
}

/** Calls an operator, unless one has acknowledged this reason. */
const call = (deposit: Deposit, now: Date, reason: string): Effect =>
  deposit.acknowledged?.includes(reason) ? 'unchanged' : raiseAttention(deposit, now, reason);

/** The sender, and what the sender has written: nobody has checked the texts. */
const textsOf = ({ sender, narration }: Omit<ProviderDeposit, 'id'>) => ({
  sender: {
    ...sender,
    name: sender.name && uncheckedText(sender.name),
    account: maskAccount(sender.account),
  },
  narration: narration && uncheckedText(narration),
});

/** Books a deposit that the provider has, once: to the wallet, or to suspense. */
function confirm(given: Case, told: Omit<ProviderDeposit, 'id'>): Effect {
  const { deposit, now, terms, account } = given;
  if (!isUnbooked(deposit)) {
    if (told.currency !== deposit.currency) return call(deposit, now, OTHER_CURRENCY);
    return deposit.amount_minor === told.amountMinor
      ? endConfirmation(given)
      : call(deposit, now, 'the provider reports another amount than was booked');
  }
  if (told.currency !== 'NGN') return refuseCurrency(given, told);
  const known = {
    amount_minor: told.amountMinor,
    currency: told.currency,
    fee_minor: told.feeMinor ?? 0n,
    account_number: told.accountNumber,
    match: matchOf(account, told),
    session_id: told.sessionId,
    ...textsOf(told),
    received_at: told.receivedAt,
    failure: null,
    reversed_at: null,
    monitor_until: null,
  };
  const reason = suspenseReason(given, told);
  // The answer may be from before the reversal that a message has reported since, so it settles no doubt.
  const status = deposit.doubted
    ? doubtedAtBooking(deposit, now)
    : { status: 'completed' as const };
  if (reason === null) {
    return {
      set: { ...known, state: 'credited', credited_at: now, ...status, attention: null },
      entry: ['credited', 'the deposit was credited to the wallet'],
      step: 'credit',
    };
  }
  const suspended = { ...known, state: 'suspended' as const, fee_booked: true as const };
  if (reason === MISMATCH && terms.returns) {
    return {
      set: { ...suspended, ...freshInstruction('return', now) },
      entry: ['suspense', `${reason}: it is returned to its sender`],
      step: 'suspense',
    };
  }
  return {
    set: { ...suspended, ...status, attention: { since: now, reason } },
    entry: ['suspense', `the deposit is in suspense: ${reason}`],
    step: 'suspense',
    verdict: 'attention',
  };
}

/** The reason of attention for a deposit that is not in naira. */
export const OTHER_CURRENCY = 'the deposit has another currency';

/**
 * Wallets are in naira, so a deposit in another currency is shown with its own one, and nothing is booked. One that an operator
 * has ended calls nobody again.
 */
function refuseCurrency({ deposit, now }: Case, told: Omit<ProviderDeposit, 'id'>): Effect {
  if (deposit.state !== 'received') return 'unchanged';
  const change = raiseAttention(deposit, now, OTHER_CURRENCY);
  if (typeof change === 'string') return change;
  const { currency, amountMinor } = told;
  return { ...change, set: { ...change.set, currency, amount_minor: amountMinor } };
}

/** The provider still has the deposit as it is booked. */
function endConfirmation({ deposit, now }: Case): Effect {
  // The answer is about a question from before the move, whose second half is still to be done.
  if (deposit.moved_to) return 'unchanged';
  if (deposit.instruction !== 'confirm' || !isOpen(deposit)) return 'unchanged';
  if (deposit.state === 'received') return 'stale';
  if (deposit.state === 'credited' || deposit.state === 'suspended') {
    const reversed = 'a message says that it was reversed, and the provider still has it';
    const before = deposit.state === 'suspended' ? deposit.attention?.reason : undefined;
    const isKnown = before === undefined || before.includes(reversed);
    const reason = isKnown ? (before ?? reversed) : `${before}; ${reversed}`;
    return {
      set: { status: 'completed', attention: { since: now, reason } },
      entry: ['attention_raised', reason],
      verdict: 'attention',
    };
  }
  return {
    set: { status: 'completed' },
    entry: ['note', 'the provider confirms the deposit as it is booked'],
  };
}

/** Asks the provider again about a deposit that is booked. */
function doubt({ deposit, now }: Case): Effect {
  const isAsked = deposit.instruction === 'confirm' && isOpen(deposit);
  if (isAsked && deposit.state === 'received' && !deposit.doubted) {
    return {
      set: { doubted: true },
      entry: ['note', 'the provider is asked once more after its first confirmation'],
    };
  }
  if (isAsked || deposit.state === 'reversed' || deposit.state === 'returned') return 'unchanged';
  if (deposit.instruction === 'return' && isOpen(deposit)) return 'unchanged';
  return {
    set: { ...instructed(deposit, 'confirm', now), attention: deposit.attention },
    entry: ['note', 'the provider is asked whether it has the deposit'],
  };
}

function reverse({ deposit, now }: Case): Effect {
  if (deposit.state === 'returned') {
    return call(deposit, now, 'reversed by the provider after it was returned');
  }
  if (deposit.state === 'reversed') return endMonitoring(deposit);
  const step = { credited: 'reversal', suspended: 'suspense-reversal', received: null } as const;
  const moved = step[deposit.state];
  return {
    set: {
      state: 'reversed',
      instruction: 'confirm',
      status: 'completed',
      last_return: submittedReturn(deposit),
      reversed_at: now,
      attention: null,
      monitor_until: null,
    },
    entry: ['reversed', 'the provider took the deposit back'],
    ...(moved && { step: moved }),
  };
}

/** The provider took a deposit back that an operator had ended: nothing of it is awaited any more. */
const endMonitoring = (deposit: Deposit): Effect =>
  isUnbooked(deposit) && deposit.monitor_until !== null
    ? {
        set: { attention: null, monitor_until: null },
        entry: ['note', 'the provider took the deposit back'],
      }
    : 'unchanged';

/** An operator fails a deposit that the provider does not confirm. One that is confirmed later is booked all the same. */
function dismiss({ deposit, now }: Case, { ifNotSubmitted }: { ifNotSubmitted?: boolean }): Effect {
  if (ifNotSubmitted || deposit.state !== 'received') return 'stale';
  return {
    set: {
      state: 'reversed',
      status: 'failed',
      failure: { code: 'operator', message: 'An operator ended this deposit.' },
      attention: null,
      monitor_until: new Date(now.getTime() + MONITOR_MS),
    },
    entry: ['note', 'no money was received'],
  };
}

/** The fields of a further instruction. What was submitted to return the deposit stays known. */
const instructed = (deposit: Deposit, instruction: DepositInstruction, now: Date) => ({
  ...freshInstruction(instruction, now),
  last_return: submittedReturn(deposit),
});

/** The fields of a deposit that is doubted already when it is booked. */
const doubtedAtBooking = (deposit: Deposit, now: Date) => ({
  ...instructed(deposit, 'confirm', now),
  doubted: false,
});

/** True while an operator may decide about money in suspense. */
const isUndecided = (deposit: Deposit): boolean =>
  deposit.state === 'suspended' && !(deposit.instruction === 'return' && isOpen(deposit));

/** True while an operator may give money in suspense to an account: the sender surely does not have it, and some of it is left. */
export const isAssignable = (deposit: Deposit): boolean =>
  isUndecided(deposit) &&
  !mayBeReturned(deposit) &&
  deposit.fee_minor < (deposit.amount_minor ?? 0n);

const ASSIGNED_MEANWHILE = 'assigned while the provider is asked whether it was reversed';

function assign({ deposit, account, now }: Case): Effect {
  if (!isAssignable(deposit) || account?.state !== 'active') return 'stale';
  if (exceedsTotal(account, deposit.amount_minor ?? 0n)) return 'stale';
  // A message may say that it was reversed. The provider is still asked, and its answer ends that.
  const isAsked = deposit.instruction === 'confirm' && isOpen(deposit);
  return {
    set: {
      state: 'credited',
      ...(!isAsked && { status: 'completed' as const }),
      virtual_account_id: account._id,
      assigned: true,
      credited_at: now,
      attention: isAsked ? { since: now, reason: ASSIGNED_MEANWHILE } : null,
      monitor_until: null,
    },
    entry: ['credited', 'an operator assigned the deposit to an account: it was credited'],
    step: 'assign',
  };
}

function move({ deposit, now }: Case, to: NonNullable<Deposit['moved_to']>): Effect {
  if (!isAssignable(deposit)) return 'stale';
  return {
    set: {
      ...instructed(deposit, 'confirm', now),
      state: 'reversed',
      reversed_at: now,
      moved_to: to,
    },
    entry: ['note', 'an operator assigned the deposit elsewhere'],
    step: 'move',
  };
}

/** The money and its sender have a record under their new tenant, which ends the move. */
const completeMove = ({ deposit }: Case): Effect =>
  deposit.moved_to && isOpen(deposit)
    ? {
        // A workflow that knew the deposit before the move may have called an operator since.
        set: { status: 'completed', sender: null, narration: null, attention: null },
        entry: ['note', 'the deposit is with its new owner'],
      }
    : 'unchanged';

function returnEffect(given: Case, fact: DepositFact): Effect {
  const { deposit, now, terms } = given;
  if (fact.kind === 'return_ordered') {
    if (!isUndecided(deposit) || !terms.returns) return 'stale';
    return {
      set: instructed(deposit, 'return', now),
      entry: ['note', 'the deposit is returned to its sender'],
    };
  }
  if (deposit.state === 'returned' && fact.kind !== 'operator_confirmed') return 'unchanged';
  if (fact.kind === 'succeeded') return proveReturn(given, fact);
  if (deposit.instruction !== 'return') return 'stale';
  if (fact.kind === 'operator_confirmed') return acceptReturn(given, fact);
  if (deposit.state !== 'suspended') return 'stale';
  if (fact.kind === 'reversed') return reverse(given);
  return fact.kind === 'rejected' ? refuseReturn(given, fact) : 'stale';
}

/** The reason of attention for a return of another amount. */
export const RETURNED_OTHER_AMOUNT = 'the provider returned another amount than the deposit’s';

/** True for a return of another amount than the deposit's. Null: the provider does not tell the amount. */
export const isOtherReturn = (
  { amount_minor: wholeMinor }: Pick<Deposit, 'amount_minor'>,
  amountMinor: bigint | null,
): boolean => amountMinor !== null && amountMinor !== wholeMinor;

/**
 * The provider has returned the deposit. The proof counts whatever became of the instruction. If the money was given to somebody
 * else meanwhile, it has left twice, and an operator must claim it. A return of another amount moves nothing until an operator has
 * settled the difference.
 */
function proveReturn(
  { deposit, now }: Case,
  { via, amountMinor }: Extract<DepositFact, { kind: 'succeeded' }>,
): Effect {
  const isReturning = deposit.instruction === 'return';
  if (!isReturning && (via === 'operator' || submittedReturn(deposit) === null)) return 'stale';
  if (deposit.state === 'suspended') {
    return isOtherReturn(deposit, amountMinor)
      ? callAboutReturn(deposit, now)
      : bookReturn(deposit, 'the deposit was returned to its sender');
  }
  if (via === 'operator' || submittedReturn(deposit) === null) return 'stale';
  const became = deposit.moved_to ? 'moved to another tenant' : deposit.state;
  return call(deposit, now, `returned by the provider after it was ${became}`);
}

/** A refusal of the return was wrong, too: the money may be with its sender, so it is given to nobody else. */
function callAboutReturn(deposit: Deposit, now: Date): Effect {
  const effect = call(deposit, now, RETURNED_OTHER_AMOUNT);
  const last = submittedReturn(deposit);
  if (typeof effect === 'string' || !last?.refused) return effect;
  return { ...effect, set: { ...effect.set, last_return: { ...last, refused: false } } };
}

const bookReturn = (deposit: Deposit, entry: string): DepositChange => ({
  set: {
    state: 'returned',
    instruction: 'return',
    status: 'completed',
    attention: null,
    monitor_until: null,
    last_return: submittedReturn(deposit),
  },
  entry: ['released', entry],
  step: 'return',
});

/**
 * An operator has seen that the provider returned the deposit, whatever else it reports or is booked. A return of another amount
 * ends the deposit once an operator accepts that amount.
 */
function acceptReturn(
  { deposit }: Case,
  { amountMinor = null }: Extract<DepositFact, { kind: 'operator_confirmed' }>,
): Effect {
  const { state, attention } = deposit;
  if (state === 'suspended') {
    return amountMinor !== null && attention?.reason === RETURNED_OTHER_AMOUNT
      ? bookReturn(
          deposit,
          `an operator accepted the return of ${amountMinor} as that of the deposit`,
        )
      : 'stale';
  }
  return attention === null ? 'unchanged' : clear();
}

function refuseReturn(
  { deposit, now }: Case,
  fact: Extract<DepositFact, { kind: 'rejected' }>,
): Effect {
  if (isOutdatedRejection(deposit, fact)) return 'stale';
  const { via } = fact;
  const submitted = submittedReturn(deposit);
  const refused = submitted && { ...submitted, refused: true };
  if (!isOpen(deposit)) {
    // An operator had ended it by force, and the money is free to be assigned from now on.
    return via !== 'operator' && mayBeReturned(deposit)
      ? {
          set: { last_return: refused, monitor_until: null },
          entry: ['note', 'the provider confirms that it did not return the deposit'],
        }
      : 'unchanged';
  }
  const reason = 'the deposit could not be returned to its sender';
  return {
    set: {
      status: 'failed',
      attention: { since: now, reason },
      last_return: via === 'operator' ? submitted : refused,
      monitor_until: monitoredUntil(deposit, via, now),
    },
    entry: ['attention_raised', reason],
    verdict: 'attention',
  };
}
