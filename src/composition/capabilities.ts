import { bankCapability } from '../capabilities/banks/index.js';
import { bulkTransferCapability } from '../capabilities/bulk-transfers/index.js';
import { cardAuthorizationCapability } from '../capabilities/card-authorizations/index.js';
import { cardFundingCapability } from '../capabilities/card-fundings/index.js';
import { cardStateCapability } from '../capabilities/card-states/index.js';
import { cardCapability, type createCards } from '../capabilities/cards/index.js';
import { chargeCapability } from '../capabilities/charges/index.js';
import { paymentTokenCapability } from '../capabilities/payment-tokens/index.js';
import { recurringChargeCapability } from '../capabilities/recurring-charges/index.js';
import { refundCapability } from '../capabilities/refunds/index.js';
import { transferCapability, type createTransferParts } from '../capabilities/transfers/index.js';
import type { Deps } from './deps.js';
import type { createPayments } from '../capabilities/charges/payments.js';
import { defineCapability, type Capability, type CoreDeps } from '../core/capability.js';
import type { ProviderEventHandler } from '../core/provider-events/handler.js';
import { providerEventCapability } from '../core/provider-events/capability.js';
import type { createSafeguard } from '../platform/http/rate-limit.js';

/** The parts that routes and supervision take: those of the composition root, and the limits of single routes. */
export type CapabilityDeps = Deps & { safeguard: ReturnType<typeof createSafeguard> };

/** The parts that exist before the pipeline of provider events, which handlers are made of. */
export type ProviderEventParts = CoreDeps &
  ReturnType<typeof createTransferParts> &
  ReturnType<typeof createCards> &
  ReturnType<typeof createPayments>;

const list = [
  bulkTransferCapability,
  transferCapability,
  bankCapability,
  cardCapability,
  cardStateCapability,
  cardFundingCapability,
  cardAuthorizationCapability,
  paymentTokenCapability,
  chargeCapability,
  refundCapability,
  recurringChargeCapability,
  defineCapability(providerEventCapability),
] as const;

/** The one list of capabilities. The dispatcher starts overdue records in this order. */
export const capabilities: readonly Capability<
  CapabilityDeps,
  CapabilityDeps,
  ProviderEventParts
>[] = list;

type Listed = (typeof list)[number];
type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** All operations by name, each with its own type. */
export type Operations = Merged<NonNullable<Listed['operations']>>;

/** The webhook events of any capability, with the type of their data. */
export type CapabilityEvents = NonNullable<Listed['events']>;

/** Each capability's handler of provider events, made of the parts that exist before the pipeline. */
export const providerEventHandlers = (parts: ProviderEventParts): ProviderEventHandler[] =>
  capabilities.flatMap((capability) => capability.providerEvents?.(parts) ?? []);

/** Each capability's part of the ledger audit. */
export const audits = capabilities.flatMap(({ audit }) => audit ?? []);
