import { cardControlKinds } from '../../capabilities/card-states/mutations.js';
import { fundingKinds } from '../../capabilities/card-fundings/mutations.js';
import { authorizationKinds } from '../../capabilities/card-authorizations/mutations.js';
import { cardEventKinds } from '../provider-events/mutations.js';
import { issuingKinds } from '../../capabilities/cards/mutations.js';
import { chargeKinds } from '../../capabilities/charges/mutations.js';
import { refundKinds } from '../../capabilities/refunds/mutations.js';
import { recurringKinds } from '../../capabilities/recurring-charges/mutations.js';
import { tokenKinds } from '../../capabilities/payment-tokens/mutations.js';
import { transferKinds } from '../../capabilities/transfers/mutations.js';
import { applyCredit } from '../ledger/credit.js';
import type { Mutation } from './mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from './unit-of-work.js';

/** A refusal that was found before the commit: nothing but its key is claimed, so that a retry gets the same answer. */
export type SaveRefusal = {
  kind: 'refusal';
  tenantId: string;
  claim: Claim;
  answer: SavedResponse;
};

const saveRefusal: Mutation<SaveRefusal, AcceptResult> = {
  reads: ({ claim }) => ({ keys: [claim.id] }),
  decide: (uow, item, now) =>
    findSavedResponse(uow, item.claim, null, now) ?? saveResponse(uow, item, item.answer),
};

/** Everything that can be committed. A capability adds its kinds here. */
const mutations = {
  refusal: saveRefusal,
  credit: applyCredit,
  ...transferKinds,
  ...issuingKinds,
  ...cardControlKinds,
  ...fundingKinds,
  ...authorizationKinds,
  ...cardEventKinds,
  ...tokenKinds,
  ...chargeKinds,
  ...refundKinds,
  ...recurringKinds,
};

type Mutations = typeof mutations;
type Name = keyof Mutations;
type InputOf<N extends Name> = Parameters<Mutations[N]['decide']>[1];
/** What an item comes to: its kind says. */
export type ResultOf<I extends AnyMutationInput> = ReturnType<Mutations[I['kind']]['decide']>;

export type AnyMutationInput = { [N in Name]: InputOf<N> }[Name];
export type AnyResult = ResultOf<AnyMutationInput>;

/** The rules of an item. */
export const mutationOf = (item: AnyMutationInput) =>
  mutations[item.kind] as unknown as Mutation<AnyMutationInput, AnyResult>;
