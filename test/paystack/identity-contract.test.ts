import type { IdentityProvider } from '../../src/core/providers/identity-provider.js';
import { createPaystackIdentity } from '../../src/core/providers/paystack/identity-adapter.js';
import { describeIdentityProvider } from '../contract/identity-provider.js';
import type { Fault } from '../fakes/paystack/plans.js';
import { eventually } from '../support/eventually.js';
import { banksFor, CUSTOMER_DOMAIN, settingsFor, startFakeWithReceiver } from './support.js';

/** Below the time limit of a contract's harness, and enough for a slow machine. */
const TIMEOUT_MS = 1_000;

function adapterFor(url: string): IdentityProvider {
  const settings = { ...settingsFor(url, TIMEOUT_MS), customerDomain: CUSTOMER_DOMAIN };
  return createPaystackIdentity(settings, banksFor(settings));
}

type Fake = Awaited<ReturnType<typeof startFakeWithReceiver>>['fake'];

/** Accounts whose first validations the fake does not carry out, or does not answer. Each is verified in the end. */
const FAULTS = new Map<string, [Fault, number]>([
  ['0123456710', ['hang_after', 1]],
  ['0123456711', ['hang', 1]],
  ['0123456712', ['error_500', 3]],
  ['0123456713', ['throttle_seconds', 1]],
]);

/** The adapter, for whose next calls the fake gets the faults that the account stands for. */
function steered(adapter: IdentityProvider, fake: Fake): IdentityProvider {
  const seen = new Set<string>();
  return {
    ...adapter,
    startCheck(request, signal) {
      const { reference, subject } = request;
      const fault = 'accountNumber' in subject ? FAULTS.get(subject.accountNumber) : undefined;
      if (fault && !seen.has(reference)) fake.plan('identify', ...fault);
      seen.add(reference);
      return adapter.startCheck(request, signal);
    },
  };
}

describeIdentityProvider('paystack', async () => {
  const started = await startFakeWithReceiver();
  const { fake, receiver } = started;
  return {
    provider: steered(adapterFor(fake.url), fake),
    unreachable: adapterFor('http://127.0.0.1:1'),
    numbers: {
      verified: '0123456789',
      nameMismatch: '0123456002',
      // An account that is not there is one that the BVN does not own.
      numberNotFound: null,
      later: '0123456100',
      withoutAnswer: '0123456710',
      lost: '0123456711',
      pending: '0123456005',
      failingFirst: '0123456712',
      throttledFirst: '0123456713',
    },
    ways: { checkType: 'bank_account', mismatch: 'account_mismatch', results: 'later' },
    fail: async (reference) => void fake.concludeCheck(`${reference}@${CUSTOMER_DOMAIN}`, '006'),
    callbacksAbout: (reference, count) =>
      eventually('the messages arrive', () => {
        const found = receiver.received.filter(({ raw }) => raw.toString().includes(reference));
        return found.length >= count ? found : undefined;
      }),
    stored: null,
    close: () => started.close(),
  };
});
