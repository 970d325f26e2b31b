import { authorizationOperations } from '../capabilities/card-authorizations/api.js';
import { cardEventOperations } from '../core/provider-events/api.js';
import { cardOperations } from '../capabilities/cards/api.js';
import { cardControlOperations, cardStandingEvents } from '../capabilities/card-states/api.js';
import { cardFundingOperations, cardOperationEvents } from '../capabilities/card-fundings/api.js';
import { ERRORS } from '../shared/errors.js';
import { openApiDocument } from '../platform/http/openapi.js';
import { apiTypeScript, type OpenApiDocument } from '../platform/http/typescript.js';
import { chargeEvents, chargeOperations } from '../capabilities/charges/api.js';
import { refundEvents, refundOperations } from '../capabilities/refunds/api.js';
import {
  recurringChargeEvents,
  recurringChargeOperations,
} from '../capabilities/recurring-charges/api.js';
import { tokenOperations } from '../capabilities/payment-tokens/api.js';
import { transferEvents, transferOperations } from '../capabilities/transfers/api.js';
import { receiveCardEvent, receivePaymentCallback } from '../core/provider-events/callback-api.js';

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
