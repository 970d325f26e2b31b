import type { WithoutDeadline } from '../../platform/http/context.js';
import type { VerifyChargeAnswer } from '../../core/providers/payment-provider.js';
import type { ResendSafety, UnknownReason } from '../../core/providers/port.js';
import type { Providers } from '../../core/providers/registry.js';
import type { PrepareAnswer } from '../../core/providers/transfer-provider.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import { channelOf, type Tokens } from '../payment-tokens/index.js';
import type { PaymentToken } from '../payment-tokens/record.js';
import { createAnswerRecorder } from './provider-answers.js';
import {
  aboutAttempt,
  attemptReference,
  awaitsCustomer,
  isOfPage,
  TOKEN_REVOKED,
  type Charge,
} from './record.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { NotSubmitted } from '../../core/instructions/submit-permit.js';
import type { Charges } from './store.js';
import type { ChargeFact } from './facts.js';

type Deps = {
  charges: Pick<Charges, 'applyFact' | 'requireAction' | 'noteDecline' | 'awaitConfirmation'>;
  tokens: Pick<Tokens, 'get'>;
  providers: Pick<Providers, 'payment' | 'payments'>;
  expiresAfterMs: number;
  clock?: () => Date;
};

/** The calls to the providers of charges. */
export type ChargeCalls = ReturnType<typeof createChargeCalls>;

/**
 * How a charge is asked about. `withoutDeadline` excludes the provider's time from the deadline of the request. `opensPages`: a
 * page whose address was lost is given up, and another one is opened. `inEveryMode`: as in `askAttempts`.
 */
type Verify = {
  withoutDeadline?: WithoutDeadline | undefined;
  opensPages?: boolean;
  inEveryMode?: boolean;
};

/** The decline of an attempt that a cancellation has proven to be without effect. */
const NOT_EXECUTED = { kind: 'declined', code: 'not_executed', decline: 'hard' } as const;

/**
 * Creates the provider calls of charges. A final answer is committed here, because the saved method that comes with a
 * payment must not enter a workflow's history: workflows get the result alone.
 */
export function createChargeCalls({
  charges,
  tokens,
  providers,
  expiresAfterMs,
  clock = () => new Date(),
}: Deps) {
  const recordAnswer = createAnswerRecorder({ charges, providers, expiresAfterMs, clock });

  const tokenOf = async ({ tenant_id: tenantId, payment_token_id: id }: Charge) =>
    id === null ? null : tokens.get(tenantId, id);

  /** The token of a submission that has its permit: it is read behind it, so that none is charged that was revoked meanwhile. */
  const tokenToCharge = (charge: Charge) =>
    tokenOf(charge).catch((cause: unknown) => {
      throw new NotSubmitted(cause);
    });

  /** A page for the customer. */
  async function open(
    charge: Charge,
    requestedAt: Date,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    const token = await tokenToCharge(charge);
    const request = { ...requestOf(charge, token, requestedAt), channel: channelOf(token) };
    const answer = await providers.payment(charge.provider).openPage(request, signal);
    return recordAnswer(charge, answer, 'provider_answer');
  }

  /** Charges the customer's saved method. */
  async function chargeToken(charge: Charge, requestedAt: Date, signal: AbortSignal) {
    const token = await tokenToCharge(charge);
    if (!isChargeable(token)) return refuseRevoked(charge);
    const request = {
      ...requestOf(charge, token, requestedAt),
      method: token.authorization,
      handle: charge.handle,
    };
    const answer = await providers.payment(charge.provider).confirmCharge(request, signal);
    return recordAnswer(charge, answer, 'provider_answer');
  }

  /**
   * Nothing is submitted with a revoked token. If an earlier submission may be executed, only this one is refused, and the
   * charge is verified.
   */
  async function refuseRevoked(charge: Charge): Promise<ProviderOutcome> {
    const refused = { code: TOKEN_REVOKED, providerRequestId: null };
    if (charge.submissions - charge.rejected_submissions > 1) {
      return { ...refused, kind: 'rejected', scope: 'request' };
    }
    const declined = { ...refused, kind: 'declined', decline: 'hard' } as const;
    return recordAnswer(charge, declined, 'provider_answer');
  }

  return {
    resendSafetyOf: (charge: Charge): ResendSafety =>
      // A page moves no money by itself.
      isOfPage(charge)
        ? { kind: 'idempotent', forMs: null }
        : providers.payment(charge.provider).payments.charges,

    submit: (charge: Charge, requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> =>
      (isOfPage(charge) ? open : chargeToken)(charge, requestedAt, signal),

    /** True if a provider prepares charges of saved methods. */
    prepares: () => providers.payments.some(({ prepareCharge }) => prepareCharge !== undefined),

    preparationOf: createPreparation({ providers, tokenOf, clock }),

    fence: createFence(providers, recordAnswer),

    requestCancellation: createCancellation({ charges, providers }),

    /** Asks about the charge, or asks to cancel it if its tenant has. */
    async verify(
      charge: Charge,
      signal: AbortSignal,
      { withoutDeadline = (wait) => wait, opensPages = false, inEveryMode = false }: Verify = {},
    ): Promise<ProviderOutcome> {
      const provider = providers.payment(charge.provider);
      // A cancellation that was not answered is asked for again. Its answer is the charge's state.
      const ask = (isToCancel(charge) && provider.cancelCharge) || provider.verifyCharge;
      const verify = (of: Charge) => withoutDeadline(ask(aboutAttempt(of), signal));
      const { of, answer } = await askAttempts(charge, verify, { inEveryMode });
      return recordAnswer(of, answer, 'poll', { opensPages: opensPages && of === charge });
    },

    verifyAttempt: createAttemptVerification(providers, recordAnswer),
  };
}

/**
 * Creates the function that returns the preparation of a charge's next submission; undefined if there is nothing to prepare.
 */
const createPreparation =
  ({
    providers,
    tokenOf,
    clock,
  }: Pick<Deps, 'providers'> & {
    tokenOf: (charge: Charge) => Promise<PaymentToken | null>;
    clock: () => Date;
  }) =>
  (charge: Charge): ((signal: AbortSignal) => Promise<PrepareAnswer>) | undefined => {
    const { prepareCharge } = providers.payment(charge.provider);
    if (!prepareCharge || isOfPage(charge) || charge.handle !== null) return undefined;
    return async (signal) => {
      const token = await tokenOf(charge);
      // The submission refuses a revoked token.
      if (!isChargeable(token)) return { kind: 'ready', handle: null, providerRequestId: null };
      const method = token.authorization;
      return prepareCharge({ ...requestOf(charge, token, clock()), method }, signal);
    };
  };

/**
 * Creates the function that cancels an attempt which its provider does not know, so that nothing will ever be executed under its
 * reference. It may be known by now: then the answer is its state.
 */
const createFence =
  (providers: Deps['providers'], recordAnswer: ReturnType<typeof createAnswerRecorder>) =>
  async (charge: Charge, signal: AbortSignal): Promise<ProviderOutcome> => {
    const { cancelCharge } = providers.payment(charge.provider);
    if (!cancelCharge) return { kind: 'not_found', providerRequestId: null };
    const answer = await cancelCharge(aboutAttempt(charge), signal);
    const isOver = answer.kind === 'cancelled' && charge.cancel_requested_at === null;
    return recordAnswer(charge, isOver ? { ...answer, ...NOT_EXECUTED } : answer, 'poll');
  };

/**
 * Creates the function that asks about one attempt, whose payment an operator accepts. Only a payment is committed: the end of another
 * attempt is not that of the charge.
 */
const createAttemptVerification =
  (providers: Deps['providers'], recordAnswer: ReturnType<typeof createAnswerRecorder>) =>
  async (charge: Charge, attempt: number, signal: AbortSignal): Promise<ProviderOutcome> => {
    const of = ofAttempt(charge, attempt);
    const answer = await providers.payment(charge.provider).verifyCharge(aboutAttempt(of), signal);
    const { providerRequestId } = answer;
    switch (answer.kind) {
      case 'succeeded':
        return recordAnswer(of, answer, 'poll');
      case 'declined':
        return { kind: 'rejected', code: answer.code, providerRequestId };
      case 'unknown':
      case 'not_found':
        return answer;
      default:
        return { kind: 'pending', providerRequestId };
    }
  };

/** The charge as it is asked about for this attempt. The provider's id is that of the present one. */
const ofAttempt = (charge: Charge, attempt: number): Charge =>
  attempt === charge.attempt ? charge : { ...charge, attempt, handle: null };

/** True if the tenant has asked to cancel the charge, and it has not ended. */
export const isToCancel = (charge: Charge): boolean =>
  charge.cancel_requested_at !== null && isOpen(charge);

/**
 * Creates the function that notes that an open charge is cancelled by its tenant, and returns the charge. One that is open after it
 * was submitted: `verify` cancels it there, and the provider's answer decides, because it may have been paid. Null if the
 * outcome is awaited and nobody can cancel it.
 */
const createCancellation =
  ({ charges, providers }: Pick<Deps, 'charges' | 'providers'>) =>
  async (charge: Charge): Promise<Charge | null> => {
    const { cancelCharge } = providers.payment(charge.provider);
    const waits = awaitsCustomer(charge) || charge.submissions === 0;
    if (!waits && !(cancelCharge && isOfPage(charge))) return null;
    const origin = { via: 'note', actor: 'api', providerRequestId: null, note: null } as const;
    const endsHere = cancelCharge === undefined;
    const fact: ChargeFact = { ...origin, attempt: null, kind: 'cancel_requested', endsHere };
    const outcome = await charges.applyFact(charge, fact);
    return outcome.kind === 'fact' ? outcome.charge : charge;
  };

/** Reasons that are those of every question. */
const UNANSWERED: ReadonlySet<UnknownReason> = new Set(['timeout', 'connection', 'throttled']);

/** An attempt, and what its provider says about it. */
type AttemptAnswer = { of: Charge; answer: VerifyChargeAnswer };

/**
 * Asks about the attempts of a charge, and returns the answer that decides: the payment of another attempt than the present one, or the
 * end of a later one; then what is new about a payment of the present one; then that the provider says nothing usable about another
 * one, so that the present one proves nothing; else the answer about the present one. `inEveryMode`: an attempt with a saved method may
 * have had a page for its confirmation, which the customer can still pay after its decline.
 */
export async function askAttempts(
  charge: Charge,
  verify: (of: Charge) => Promise<VerifyChargeAnswer>,
  { inEveryMode }: { inEveryMode: boolean },
): Promise<AttemptAnswer> {
  const { open_attempt: open = null } = charge;
  let silent: AttemptAnswer | null = null;
  for (const attempt of otherAttempts(charge, inEveryMode)) {
    if (isBooked(charge, attempt)) continue;
    const of = ofAttempt(charge, attempt);
    const answer = await verify(of);
    const { kind } = answer;
    if (kind === 'succeeded' && isKnown(charge, attempt, answer)) continue;
    const isOver = attempt === open && (kind === 'declined' || kind === 'cancelled');
    if (kind === 'succeeded' || isOver) return { of, answer };
    if (kind !== 'unknown') continue;
    silent ??= { of, answer };
    // The provider answers no question now.
    if (UNANSWERED.has(answer.reason)) return silent;
  }
  const answer = await verify(charge);
  return silent === null || isNews(charge, answer) ? { of: charge, answer } : silent;
}

/** The attempts that are asked about beside the present one. Charges of earlier versions have no `last_attempt`. */
export function otherAttempts(charge: Charge, inEveryMode: boolean): number[] {
  const { attempt, open_attempt: open = null } = charge;
  const last = Math.max(charge.last_attempt ?? attempt, open ?? 0);
  const all = Array.from({ length: last }, (_, i) => i + 1);
  const asksAll = isOfPage(charge) || inEveryMode;
  return all.filter((each) => each !== attempt && (asksAll || each === open));
}

/** True for a payment of the present attempt that is not booked, or whose fee is not. */
const isNews = (
  { status, provider_fee_minor: known }: Charge,
  answer: VerifyChargeAnswer,
): boolean =>
  answer.kind === 'succeeded' &&
  (status !== 'completed' || (known === null && answer.feeMinor !== null));

/** True if the payment of an attempt is in suspense with its fee, or was returned: a question about it tells nothing new. */
const isBooked = (charge: Charge, attempt: number): boolean =>
  charge.returned_attempts.includes(attempt) ||
  charge.suspended.some((each) => each.attempt === attempt && each.fee_minor !== null);

/** True if the answer has nothing that the payment of this attempt in suspense has not: its fee is told later. */
const isKnown = (
  { suspended }: Charge,
  attempt: number,
  { amountMinor, feeMinor }: Extract<VerifyChargeAnswer, { kind: 'succeeded' }>,
): boolean =>
  feeMinor === null &&
  suspended.some((each) => each.attempt === attempt && each.amount_minor === amountMinor);

/** True if the saved method of a token may be charged. */
const isChargeable = (
  token: PaymentToken | null,
): token is PaymentToken & { authorization: string } =>
  token?.status === 'active' && token.authorization !== null;

/** A saved method belongs to the customer that it was saved for, so the token's customer and e-mail are named. */
const requestOf = (charge: Charge, token: PaymentToken | null, requestedAt: Date) => ({
  reference: attemptReference(charge),
  clientReference: charge.reference,
  amountMinor: charge.amount_minor,
  currency: charge.currency,
  customer: token ? methodOwner(token) : charge.customer,
  returnUrl: charge.return_url,
  requestedAt,
});

const methodOwner = ({ customer, method_email: email }: PaymentToken) => ({
  ...customer,
  email: email ?? customer.email,
});
