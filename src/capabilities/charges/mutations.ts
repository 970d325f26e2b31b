import {
  acceptOnce,
  refuseTakenReference,
  keysOf,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import { recurringCharges } from '../recurring-charges/record.js';
import { ApiError } from '../../shared/errors.js';
import type { AuthenticatedKey } from '../../platform/api-keys/authentication.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { Reads, UnitOfWork } from '../../core/commit/unit-of-work.js';
import { instructionState, isOpen, timelineEntry } from '../../core/instructions/instruction.js';
import { onChargeChanged } from '../recurring-charges/mutations.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { changeToken } from '../payment-tokens/mutations.js';
import {
  paymentTokens,
  bindToken,
  revokedToken,
  revokeLateMethod,
  type PaymentToken,
} from '../payment-tokens/record.js';
import { charges, earlierOf, isOfPage, NEVER_AGAIN, type Charge } from './record.js';
import type { ChargeFact } from './facts.js';
import { transitionCharge, type Transition } from './transitions.js';
import { withChargeEvent } from './webhook-events.js';

/** A new charge with its idempotency key. */
export type AcceptCharge = {
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  charge: Charge;
  /** False for a request with a public key, which may not change a token of a secret key either. */
  mayChangeCustomer: boolean;
  claim: Claim | null;
  /** The response if it is accepted. */
  answer: SavedResponse;
};

/** The fields of a charge that name the records which its facts may change. */
export type ChargeKey = Pick<Charge, '_id' | 'tenant_id' | 'payment_token_id' | 'recurring'>;

/** A fact about a charge. */
type ApplyChargeFact = {
  tenantId: string;
  id: string;
  of: ChargeKey;
  fact: ChargeFact;
};
/** The provider has a page for the customer. */
type SetChargeAction = {
  tenantId: string;
  id: string;
  /** The attempt that the page belongs to. */
  attempt: number;
  url: string;
  handle: string | null;
  /** When the charge fails if nobody pays; a charge that has an earlier time keeps it. */
  expiresAt: Date;
  providerRequestId: string | null;
};

/** The verdict, and the charge after the fact. */
export type ApplyChargeFactResult =
  { kind: 'fact'; verdict: Transition['verdict']; charge: Charge } | { kind: 'no_such_charge' };
/** The charge with its next action; null if there is no such charge or it has ended. */
type SetChargeActionResult = { charge: Charge | null };

/** Accepts a charge once. */
export const acceptCharge: Mutation<AcceptCharge, AcceptResult> = {
  reads: ({ charge, claim }, full) => {
    const { references, records } = chargeReads(charge);
    return {
      keys: keysOf(claim),
      references,
      records: [
        ...records,
        customerRef(charge.tenant_id, charge.customer.id),
        ...(full ? [charges.ref(charge._id)] : []),
      ],
    };
  },
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
  leavesWallet: () => true,
};

/** Applies a fact about a charge, with its effects on the wallet, the payment token and the recurring charge. */
export const applyChargeFact: Mutation<ApplyChargeFact, ApplyChargeFactResult> = {
  reads: (input) => ({
    records: [
      charges.ref(input.id),
      ...(input.of.payment_token_id === null ? [] : [paymentTokens.ref(input.of.payment_token_id)]),
      ...(input.of.recurring === null ? [] : [recurringCharges.ref(input.of.recurring.id)]),
    ],
    wallets: moves(input) ? [input.tenantId] : [],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(charges, id)),
  leavesWallet: (input) => !moves(input),
};

/** Stores the page on which the customer continues. */
export const setChargeAction: Mutation<SetChargeAction, SetChargeActionResult> = {
  reads: ({ id }) => ({ records: [charges.ref(id)] }),
  decide: decideAction,
  leavesWallet: () => true,
};

/** True if the fact may change the wallet: a payment, its fee, or a payment in suspense that an operator accepts. */
const moves = ({ fact }: ApplyChargeFact): boolean =>
  fact.kind === 'succeeded' ||
  (fact.kind === 'operator_confirmed' && fact.amountMinor !== undefined);

const referenceOf = ({ tenant_id: tenantId, reference }: Charge) =>
  ({ collection: charges, tenantId, reference }) as const;

/** The reads of `admitCharge`. */
export function chargeReads(charge: Charge) {
  return {
    // A reference that is the record's own id can't have been taken.
    references: charge.reference === charge._id ? [] : [referenceOf(charge)],
    records: charge.payment_token_id === null ? [] : [paymentTokens.ref(charge.payment_token_id)],
  } satisfies Reads;
}

/** Accepts a charge, or returns a refusal and changes nothing. */
function admitCharge(
  uow: UnitOfWork,
  { charge, mayChangeCustomer }: Pick<AcceptCharge, 'charge' | 'mayChangeCustomer'>,
): ApiError | null {
  const refusal = refuse(uow, charge, mayChangeCustomer ? 'secret' : 'public');
  if (refusal) return refusal;
  uow.create(charges, charge);
  uow.takeReference(referenceOf(charge), charge._id);
  return null;
}

/**
 * The one refusal of a payment token that a charge with a public key names. A browser must not learn which tokens exist, whose
 * they are, or in which state they are.
 */
export const noTokenOfPublicKey = (): ApiError =>
  new ApiError('not_found', {
    field: 'payment_token_id',
    message: 'There is no such payment token that a public key may use.',
  });

function refuse(uow: UnitOfWork, charge: Charge, kind: AuthenticatedKey['kind']): ApiError | null {
  const taken = refuseTakenReference(uow, referenceOf(charge));
  if (taken) return taken;
  if (charge.payment_token_id === null) return null;
  const token = uow.get(paymentTokens, charge.payment_token_id);
  const refusal = refuseToken(token, charge);
  if (kind === 'secret') return refusal;
  return refusal || token?.made_by !== 'public_key' ? noTokenOfPublicKey() : null;
}

function refuseToken(token: PaymentToken | undefined, charge: Charge): ApiError | null {
  const field = 'payment_token_id';
  if (!token || token.tenant_id !== charge.tenant_id) {
    return new ApiError('not_found', { field, message: 'There is no such payment token.' });
  }
  if (token.customer.id !== charge.customer.id) {
    const message = 'The payment token is another customer’s.';
    return new ApiError('invalid_state', { field, message });
  }
  if (token.customer.email !== charge.customer.email) {
    const message = 'The payment token was made for another e-mail address of this customer.';
    return new ApiError('invalid_state', { field: 'customer.email', message });
  }
  const usable = charge.capture_mode === 'merchant_initiated' ? ['active'] : ['active', 'unbound'];
  if (usable.includes(token.status)) return null;
  const message = `The payment token is ${token.status}.`;
  return new ApiError('invalid_state', { field, message, details: { status: token.status } });
}

function decideAccept(uow: UnitOfWork, input: AcceptCharge, now: Date): AcceptResult {
  const { charge, answer } = input;
  return acceptOnce(uow, input, now, {
    collection: charges,
    id: charge._id,
    response: () => answer,
    admit() {
      const refusal = admitCharge(uow, input);
      if (refusal) return refusal;
      const named = { ...charge.customer, mayChange: input.mayChangeCustomer };
      nameCustomer(uow, input.tenantId, named, now);
      return charge;
    },
  });
}

function decideFact(uow: UnitOfWork, input: ApplyChargeFact, now: Date): ApplyChargeFactResult {
  const charge = own(uow, input);
  if (!charge) return { kind: 'no_such_charge' };
  const wallet = uow.wallet(input.tenantId);
  const transition = transitionCharge(charge, input.fact, now, wallet);
  const changed = transition.next !== charge;
  const next = changed ? changeCharge(uow, charge, transition.next) : charge;
  transition.postings.forEach(uow.post);
  const { availableMinor, receivableMinor } = transition;
  if (availableMinor !== 0n || receivableMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      receivableMinor: wallet.receivableMinor + receivableMinor,
    });
  }
  if (input.fact.kind === 'succeeded') bind(uow, next, input.fact, now);
  const { kind, attempt } = input.fact;
  // A decline of an earlier attempt, or one of a charge that was paid, says nothing about the token.
  const isPresent = attempt === null || attempt === charge.attempt;
  const isDeclined = isPresent && transition.verdict !== 'stale' && next.status !== 'completed';
  if (isDeclined && kind === 'rejected') revoke(uow, next, input.fact, now);
  return { kind: 'fact', verdict: transition.verdict, charge: next };
}

/**
 * Binds the saved method to the payment token of a completed setup charge. A bound token keeps its first method, and a
 * revoked one has the new method revoked too.
 */
function bind(
  uow: UnitOfWork,
  charge: Charge,
  { method }: Extract<ChargeFact, { kind: 'succeeded' }>,
  now: Date,
): void {
  const { status, payment_token_id: id } = charge;
  if (status !== 'completed' || !isOfPage(charge) || id === null) return;
  const token = uow.get(paymentTokens, id);
  if (token?.tenant_id !== charge.tenant_id) return;
  const next = bindToken(token, method, now) ?? revokeLateMethod(token, method, now);
  if (next) changeToken(uow, token, next);
}

/** Revokes a token that can never be charged again, so that no later charge uses it. */
function revoke(
  uow: UnitOfWork,
  { tenant_id: tenantId, capture_mode: mode, payment_token_id: id }: Charge,
  { code }: Extract<ChargeFact, { kind: 'rejected' }>,
  now: Date,
): void {
  if (!NEVER_AGAIN.has(code) || mode !== 'merchant_initiated' || id === null) return;
  const token = uow.get(paymentTokens, id);
  if (token?.tenant_id !== tenantId || token.status !== 'active') return;
  changeToken(uow, token, revokedToken(token, now));
}

function decideAction(uow: UnitOfWork, input: SetChargeAction, now: Date): SetChargeActionResult {
  const charge = own(uow, input);
  if (!charge || !isOpen(charge) || charge.attempt !== input.attempt) return { charge: null };
  if (charge.next_action?.url === input.url) return { charge };
  const entry = timelineEntry(now, 'provider_answer', charge.provider, {
    detail: 'redirect: the customer must act',
    providerRequestId: input.providerRequestId,
  });
  const next: Charge = {
    ...charge,
    next_action: { type: 'redirect', url: input.url },
    handle: input.handle ?? charge.handle,
    expires_at: earlierOf(input.expiresAt, charge.expires_at),
    version: charge.version + 1,
    updated_at: now,
    timeline: [...charge.timeline, entry],
  };
  return { charge: changeCharge(uow, charge, next) };
}

const own = (uow: UnitOfWork, { tenantId, id }: { tenantId: string; id: string }) => {
  const charge = uow.get(charges, id);
  return charge?.tenant_id === tenantId ? charge : undefined;
};

/** Changes a charge and emits its event. Returns the charge with the event counted. */
export function changeCharge(uow: UnitOfWork, before: Charge, after: Charge): Charge {
  const { next, event } = withChargeEvent(before, after);
  uow.change(charges, next);
  uow.emit(event);
  onChargeChanged(uow, before, next);
  return next;
}

/**
 * Ends a charge that waits for its next attempt. A charge that has been submitted keeps its attempt, and gets no further
 * one.
 */
export function stopRetries(
  uow: UnitOfWork,
  charge: Charge,
  { code, note, at }: { code: string; note: string; at: Date },
): void {
  if (!isOpen(charge)) return;
  const last: Charge = { ...charge, dunning_days: [] };
  if (charge.first_declined_at !== null && charge.submissions === 0) {
    const fact = {
      kind: 'rejected',
      code,
      decline: 'hard',
      attempt: null,
      via: 'operator',
      actor: 'bursar',
      providerRequestId: null,
      note,
    } as const;
    changeCharge(uow, charge, transitionCharge(last, fact, at, uow.wallet(charge.tenant_id)).next);
    return;
  }
  const detail = `${note}: not tried again`;
  const timeline = [...charge.timeline, timelineEntry(at, 'note', 'bursar', { detail })];
  uow.change(charges, { ...last, timeline, version: charge.version + 1, updated_at: at });
}
