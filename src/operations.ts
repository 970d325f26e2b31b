import { authorizationOperations } from './cards/authorizations/api.js';
import { cardEventOperations } from './cards/events/api.js';
import { cardOperations } from './cards/api.js';
import { cardControlOperations, cardStandingEvents } from './cards/control/api.js';
import { cardFundingOperations, cardOperationEvents } from './cards/funding/api.js';
import { ERRORS } from './errors.js';
import { openApiDocument } from './http/openapi.js';
import { apiTypeScript, type OpenApiDocument } from './http/typescript.js';
import { chargeEvents, chargeOperations } from './payments/charges/api.js';
import { refundEvents, refundOperations } from './payments/refunds/api.js';
import { recurringChargeEvents, recurringChargeOperations } from './payments/recurring/api.js';
import { tokenOperations } from './payments/tokens/api.js';
import { transferEvents, transferOperations } from './transfers/api.js';
import { receiveCardEvent, receivePaymentCallback } from './webhooks/api.js';

/** Everything that can be called, by its name. Each has a route: see routes.ts. */
export const operations = {
  ...transferOperations,
  ...cardOperations,
  ...cardControlOperations,
  ...tokenOperations,
  ...chargeOperations,
  ...refundOperations,
  ...recurringChargeOperations,
  ...cardFundingOperations,
  ...authorizationOperations,
  ...cardEventOperations,
  receivePaymentCallback,
  receiveCardEvent,
};

/** What tenants are told by webhook. */
export const events = [
  transferEvents,
  cardOperationEvents,
  cardStandingEvents,
  chargeEvents,
  refundEvents,
  recurringChargeEvents,
];

/** The document that is served at /openapi.json, and kept in the repository as openapi.json. */
export const openApi = openApiDocument(Object.values(operations), events, {
  title: 'Bursar',
  version: '1',
  description: 'Payments that are kept: what was accepted ends, and nothing is ever guessed.',
});

/** The same in TypeScript, kept in the repository as client/src/api.ts. */
export const clientApi = () =>
  apiTypeScript(
    Object.values(operations),
    openApi as unknown as OpenApiDocument,
    Object.keys(ERRORS),
  );
