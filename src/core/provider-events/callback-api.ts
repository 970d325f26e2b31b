import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';

/** Far above any provider's callback. Who sends them has no key yet, so many at once must not fill the memory. */
const MAX_CALLBACK_BYTES = 64 * 1024;

export const receivePaymentCallback = operation({
  id: 'receivePaymentCallback',
  tag: 'Provider callbacks',
  method: 'post',
  path: '/webhooks/payments/{provider}',
  summary: 'A payment provider tells what became of an order',
  description:
    'For providers only. The provider’s own signature over the raw body is the only key; what it tells is stored ' +
    'once, answered, and then applied.',
  access: 'provider',
  params: { provider: z.string().meta({ example: 'sandbox-bank' }) },
  maxBodyBytes: MAX_CALLBACK_BYTES,
  answer: { status: 200, data: z.object({ received: z.literal(true) }) },
  refusals: ['invalid_signature'],
});

export const receiveCardEvent = operation({
  id: 'receiveCardEvent',
  tag: 'Provider callbacks',
  method: 'post',
  path: '/webhooks/cards/{provider}',
  summary: 'A card issuer tells what happened, or asks whether a payment is approved',
  description:
    'For issuers only. The issuer’s own signature over the raw body is the only key. An event is stored once, answered, ' +
    'and then applied; a request for an authorization is answered with the decision, in the issuer’s own form.',
  access: 'provider',
  params: { provider: z.string().meta({ example: 'sandbox-bank' }) },
  maxBodyBytes: MAX_CALLBACK_BYTES,
  answer: { status: 200, data: z.object({ received: z.literal(true) }) },
  refusals: ['invalid_signature'],
});
