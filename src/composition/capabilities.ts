import type { IndexDescription } from 'mongodb';
import { bankCapability } from '../capabilities/banks/index.js';
import { billPaymentCapability } from '../capabilities/bill-payments/index.js';
import { billerCapability } from '../capabilities/billers/index.js';
import { bulkTransferCapability } from '../capabilities/bulk-transfers/index.js';
import { cardAuthorizationCapability } from '../capabilities/card-authorizations/index.js';
import { cardDisputeCapability } from '../capabilities/card-disputes/index.js';
import { cardFundingCapability } from '../capabilities/card-fundings/index.js';
import { cardStateCapability } from '../capabilities/card-states/index.js';
import { cardUnloadCapability } from '../capabilities/card-unloads/index.js';
import { cardCapability } from '../capabilities/cards/index.js';
import { chargeCapability } from '../capabilities/charges/index.js';
import { disputeCapability } from '../capabilities/disputes/index.js';
import { depositCapability } from '../capabilities/deposits/index.js';
import { customerCapability } from '../capabilities/customers/index.js';
import { identityCheckCapability } from '../capabilities/identity-checks/index.js';
import { paymentTokenCapability } from '../capabilities/payment-tokens/index.js';
import { recurringChargeCapability } from '../capabilities/recurring-charges/index.js';
import { refundCapability } from '../capabilities/refunds/index.js';
import { transferCapability } from '../capabilities/transfers/index.js';
import { virtualAccountCapability } from '../capabilities/virtual-accounts/index.js';
import { walletCapability } from '../capabilities/wallets/index.js';
import type { MutationsByName } from '../core/commit/mutation.js';
import { saveRefusal } from '../core/idempotency/save-refusal.js';
import type { Deps } from './deps.js';
import {
  defineCapability,
  type Capability,
  type CoreDeps,
  type PartsByName,
} from '../core/capability.js';
import type { ProviderEventHandler } from '../core/provider-events/handler.js';
import { webhookEventCapability } from '../core/webhooks/capability.js';
import { providerEventCapability } from '../core/provider-events/capability.js';
import type { createSafeguard } from '../platform/http/rate-limit.js';

/** The one list of capabilities, each with its own types. The dispatcher starts overdue records in this order. */
export const list = [
  bulkTransferCapability,
  transferCapability,
  bankCapability,
  cardCapability,
  cardStateCapability,
  cardFundingCapability,
  cardUnloadCapability,
  cardAuthorizationCapability,
  cardDisputeCapability,
  paymentTokenCapability,
  chargeCapability,
  refundCapability,
  disputeCapability,
  recurringChargeCapability,
  virtualAccountCapability,
  customerCapability,
  identityCheckCapability,
  billerCapability,
  billPaymentCapability,
  depositCapability,
  walletCapability,
  defineCapability(providerEventCapability),
  defineCapability(webhookEventCapability),
] as const;

/** The parts that routes take: those of the composition root, and the limits of single routes. */
export type CapabilityDeps = Deps & { safeguard: ReturnType<typeof createSafeguard> };

/** The parts that exist before the pipeline of provider events: handlers are made of them. */
type ProviderEventParts = CoreDeps & PartsByName<Listed>;

/** The same list for the readers that treat all capabilities alike. Compiling it checks that each gets the parts it takes. */
export const capabilities: readonly Capability<CapabilityDeps, Deps, ProviderEventParts>[] = list;

type Listed = (typeof list)[number];
type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** All operations by name, each with its own type. */
export type Operations = Merged<
  NonNullable<Extract<Listed, { operations?: unknown }>['operations']>
>;

/** The webhook events of any capability, with the type of their data. */
export type CapabilityEvents = Each<NonNullable<Listed['events']>>;
type Each<E> = E extends readonly (infer One)[] ? One : E;

/** Each capability's handler of provider events, made of the parts that exist before the pipeline. */
export const providerEventHandlers = (parts: ProviderEventParts): ProviderEventHandler[] =>
  capabilities.flatMap((capability) => capability.providerEvents?.(parts) ?? []);

/** The names of the collections of these capabilities that have this index. */
export const collectionsWith = (
  index: IndexDescription,
  of: readonly Pick<Capability, 'collections'>[] = capabilities,
): string[] =>
  of
    .flatMap(({ collections = [] }) => collections)
    .filter(({ indexes }) => indexes.includes(index))
    .map(({ name }) => name);

/** The records of all capabilities that an archive takes. */
export const archivedRecords = capabilities.flatMap(({ archived = [] }) => archived);

/** The records of all capabilities that an erasure of a customer takes, those that others belong to first. */
export const erasedRecords = capabilities.flatMap(({ erased = [] }) => erased);

/** Each capability's part of the ledger audit. */
export const audits = capabilities.flatMap(({ audit }) => audit ?? []);

/** The mutations that one process may commit for another, by name. */
export const forwardedMutations: MutationsByName = Object.assign(
  { saveRefusal },
  ...capabilities.map(({ mutations }) => mutations),
);
