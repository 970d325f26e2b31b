export {
  createClient,
  type CallOptions,
  type Client,
  type ClientSettings,
  type Result,
} from './client.js';
export { BursarError, WebhookVerificationError, type BursarErrorCode } from './errors.js';
export { verifyWebhook, type WebhookHeaders } from './webhooks.js';
export type {
  AccountToResolve,
  Bank,
  BulkTransfer,
  Card,
  CardBalance,
  CardOperation,
  Charge,
  Customer,
  ErrorCode,
  NewBankAccountToken,
  NewBulkTransfer,
  NewCard,
  NewCardToken,
  NewCharge,
  NewTransfer,
  Operations,
  Pagination,
  PaymentToken,
  Recipient,
  TimelineEntry,
  Transfer,
  WebhookEvent,
} from './api.js';
