import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';

/** Far above any provider's callback. Who sends them has no key yet, so many at once must not fill the memory. */
const MAX_CALLBACK_BYTES = 64 * 1024;

export const receivePaymentCallback = operation({
  id: 'receivePaymentCallback',
  tag: 'Provider callbacks',
  method: 'post',
  path: '/webhooks/payments/{provider}',
  summary: 'Receive a payment provider’s message',
  description:
    'For providers only. Authenticated by the provider’s signature over the raw body. An event is stored ' +
    'once, acknowledged, and then applied.',
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
  summary: 'Receive a card issuer’s message',
  description:
    'For issuers only. Authenticated by the issuer’s signature over the raw body. An event is stored once, ' +
    'acknowledged, and then applied. An authorization request is answered with the decision, in the issuer’s format.',
  access: 'provider',
  params: { provider: z.string().meta({ example: 'sandbox-bank' }) },
  maxBodyBytes: MAX_CALLBACK_BYTES,
  answer: { status: 200, data: z.object({ received: z.literal(true) }) },
  refusals: ['invalid_signature'],
});
