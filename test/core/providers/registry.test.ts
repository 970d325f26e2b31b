import { createRegistry } from '../../../src/core/providers/registry.js';
import { createSandboxBankIssuer } from '../../../src/core/providers/sandbox-bank/card-adapter.js';
import { createSandboxBankPayments } from '../../../src/core/providers/sandbox-bank/payment-adapter.js';
import { issuerRateLimitKey } from '../../../src/platform/temporal/queues.js';
import type { Config } from '../../../src/shared/config.js';
import { withEmptyParts } from '../../support/parts.js';

const none = { transfers: [], cards: [], payments: [], accounts: [], bills: [], identity: [] };
const config = withEmptyParts<Config>({
  providers: {
    transfers: null,
    cards: null,
    payments: null,
    virtual_accounts: null,
    identity: null,
    billpay: null,
  },
});
const settings = { config, observe: () => undefined };
const bank = {
  url: 'http://127.0.0.1:1',
  secret: 'secret',
  deduplicates: false,
  deduplicatesForMs: null,
  conclusiveAfterMs: 1_000,
  callsPerSecond: 50,
  timeoutMs: 1_000,
};

test('an issuer or a payment provider without naira stops the start', () => {
  const issuer = createSandboxBankIssuer(bank);
  const abroad = { ...issuer, cards: { ...issuer.cards, currencies: ['USD'] } };
  const refused = /sandbox-bank does not handle NGN/;
  expect(() => createRegistry({ ...none, cards: [abroad] }, settings)).toThrow(refused);
  const payments = createSandboxBankPayments(bank);
  const elsewhere = { ...payments, payments: { ...payments.payments, currencies: ['USD'] } };
  expect(() => createRegistry({ ...none, payments: [elsewhere] }, settings)).toThrow(refused);
});

test('the slowest call of an issuer bounds the calls of its queue', () => {
  const issuer = createSandboxBankIssuer(bank);
  const { rates } = issuer.cards;
  const slow = {
    ...issuer,
    cards: { ...issuer.cards, rates: { ...rates, find: { bucket: 'find', perSecond: 3 } } },
  };
  const { rateLimits } = createRegistry({ ...none, cards: [slow] }, settings);
  expect(rateLimits).toEqual([
    {
      name: issuerRateLimitKey('sandbox-bank'),
      callsPerSecond: 3,
      bulkTransfersOf: null,
    },
  ]);
});
