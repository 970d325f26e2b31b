import {
  applyCardAuthorizationFact,
  decideCardAuthorization,
  setCardSecurity,
} from '../../src/capabilities/card-authorizations/mutations.js';
import {
  acceptCardDispute,
  applyCardDisputeFacts,
  cancelCardDispute,
} from '../../src/capabilities/card-disputes/mutations.js';
import {
  acceptCardFunding,
  applyCardFundingFact,
  expireCardFunding,
  setAutoReload,
} from '../../src/capabilities/card-fundings/mutations.js';
import {
  applyReportedState,
  recheckState,
  setOperatorLock,
} from '../../src/capabilities/card-states/locks.js';
import {
  acceptCardState,
  applyCardStateFact,
  expireCard,
} from '../../src/capabilities/card-states/mutations.js';
import {
  applyCardUnloadFact,
  retryCardUnload,
} from '../../src/capabilities/card-unloads/mutations.js';
import { acceptCard, applyIssuanceFact } from '../../src/capabilities/cards/mutations.js';
import {
  acceptCharge,
  applyChargeFact,
  setChargeAction,
} from '../../src/capabilities/charges/mutations.js';
import { actOnDispute, applyDisputeFact } from '../../src/capabilities/disputes/mutations.js';
import {
  applyTokenSetupFact,
  createPaymentToken,
  deletePaymentToken,
  requestTokenSetup,
} from '../../src/capabilities/payment-tokens/mutations.js';
import {
  acceptRecurringCharge,
  changeRecurringCharge,
  loseRecurringToken,
  renewRecurringCharge,
  updateRecurringCharge,
} from '../../src/capabilities/recurring-charges/mutations.js';
import {
  forgetUnnamedRefusal,
  noteUnnamedRefusal,
  recordDeskRefund,
  refuseDeskRefund,
} from '../../src/capabilities/refunds/desk-refunds.js';
import {
  acceptRefund,
  applyRefundFact,
  forgetRefundAccount,
  nameRefundAccount,
} from '../../src/capabilities/refunds/mutations.js';
import { orderReturn } from '../../src/capabilities/refunds/returns.js';
import { acceptBulkTransfer } from '../../src/capabilities/bulk-transfers/mutations.js';
import {
  acceptTransfer,
  applyTransferFact,
  grantTransferPermit,
} from '../../src/capabilities/transfers/mutations.js';
import type { GroupCommit } from '../../src/core/commit/group-commit.js';
import type { Mutation, PlannedMutation } from '../../src/core/commit/mutation.js';
import { saveRefusal } from '../../src/core/idempotency/save-refusal.js';
import { applyCredit } from '../../src/capabilities/wallets/mutations.js';
import { acceptProviderEventReplay } from '../../src/core/provider-events/mutations.js';

/** Every mutation by its name, so that property tests can generate mixtures of them. */
const MUTATIONS = {
  saveRefusal,
  applyDisputeFact,
  actOnDispute,
  applyCredit,
  acceptTransfer,
  acceptBulkTransfer,
  applyTransferFact,
  grantTransferPermit,
  acceptCard,
  applyIssuanceFact,
  acceptCardState,
  applyCardStateFact,
  expireCard,
  applyReportedState,
  setOperatorLock,
  recheckState,
  acceptCardFunding,
  applyCardFundingFact,
  expireCardFunding,
  setAutoReload,
  applyCardUnloadFact,
  retryCardUnload,
  decideCardAuthorization,
  applyCardAuthorizationFact,
  setCardSecurity,
  acceptCardDispute,
  cancelCardDispute,
  applyCardDisputeFacts,
  acceptProviderEventReplay,
  createPaymentToken,
  deletePaymentToken,
  requestTokenSetup,
  applyTokenSetupFact,
  acceptCharge,
  applyChargeFact,
  setChargeAction,
  acceptRefund,
  applyRefundFact,
  nameRefundAccount,
  forgetRefundAccount,
  recordDeskRefund,
  refuseDeskRefund,
  forgetUnnamedRefusal,
  noteUnnamedRefusal,
  orderReturn,
  acceptRecurringCharge,
  changeRecurringCharge,
  updateRecurringCharge,
  loseRecurringToken,
  renewRecurringCharge,
};

type Mutations = typeof MUTATIONS;
type Name = keyof Mutations;
type InputOf<N extends Name> = Parameters<Mutations[N]['decide']>[1];
/** The result of a mutation by its name. */
export type ResultOf<N extends Name> = ReturnType<Mutations[N]['decide']>;

/** The input of one mutation with its name. */
export type Named<N extends Name> = { kind: N } & InputOf<N>;
/** The input of any mutation with its name. */
export type AnyMutation = { [N in Name]: Named<N> }[Name];
/** The result of any mutation. */
export type AnyResult = ResultOf<Name>;

/** The mutation with its input, as the commit engine takes it. */
export function planned({ kind, ...input }: AnyMutation): PlannedMutation {
  return { mutation: MUTATIONS[kind], input };
}

/** Commits one named mutation. */
export function commitNamed<N extends Name>(
  groupCommit: GroupCommit,
  { kind, ...input }: Named<N>,
): Promise<ResultOf<N>> {
  const mutation = MUTATIONS[kind] as unknown as Mutation<{ tenantId: string }, ResultOf<N>>;
  return groupCommit.commit(mutation, input);
}
