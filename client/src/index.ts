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
  ErrorCode,
  NewBulkTransfer,
  NewCard,
  NewTransfer,
  Operations,
  Pagination,
  Recipient,
  TimelineEntry,
  Transfer,
  WebhookEvent,
} from './api.js';
