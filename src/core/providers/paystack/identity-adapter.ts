import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { CheckRequest, IdentityProvider } from '../identity-provider.js';
import type { PaystackBanks } from './banks.js';
import { accountIn, identificationBody, isHolder, readCheck } from './check-calls.js';
import { createPaystackClient, withoutAbsence, type PaystackClient } from './client.js';
import { createPaystackCustomers, type CustomerSettings } from './customers.js';
import { createIdentityReader } from './identity-events.js';
import { at } from './lists.js';
import { SAFE_FIELDS } from './messages.js';
import { sharedRate } from './rates.js';
import { askHolder } from './transfer-calls.js';

/** Two requests for one check are never processed at once. */
const PAUSE_MS = 60_000;

type Settings = PaystackSettings & CustomerSettings;
type Subject = NonNullable<ReturnType<typeof accountIn>>;

const notOffered = { kind: 'rejected', code: 'not_offered', providerRequestId: null } as const;
const noSuchBank = { kind: 'rejected', code: 'no_such_bank', providerRequestId: null } as const;

/**
 * Creates Paystack's adapter of the identity port. It compares bank accounts alone: with a BVN by Paystack's validation of
 * customers, whose result comes later, and without one by the name of the account's holder, at once.
 */
export function createPaystackIdentity(
  settings: Settings,
  banks: Pick<PaystackBanks, 'find'>,
  clock: () => Date = () => new Date(),
): IdentityProvider {
  const client = createPaystackClient(settings);
  const customers = createPaystackCustomers(client, settings);

  async function validate(
    { reference }: CheckRequest,
    subject: Subject & { bvn: string },
    bankCode: string,
    signal: AbortSignal,
  ) {
    const { firstName, lastName } = subject;
    const person = { firstName, lastName, phone: null };
    const customer = await customers.prepare(reference, person, signal);
    if (customer.kind !== 'customer') return withoutAbsence(customer);
    const path = `${at('/customer', customer.code)}/identification`;
    const body = identificationBody(subject, bankCode);
    const request = { call: 'identify', method: 'POST', path, body } as const;
    return client.submit(request, signal, () => ({ kind: 'pending' as const }));
  }

  return {
    name: 'paystack',
    identity: traitsOf(settings),
    async startCheck(request, signal) {
      const subject = accountIn(request);
      if (subject === null) return notOffered;
      const bank = await banks.find(subject.bankCode, signal);
      if (bank === null) return noSuchBank;
      if ('kind' in bank) return bank;
      const { bvn } = subject;
      if (bvn === null) return compareHolder(client, subject, bank.code, signal);
      return validate(request, { ...subject, bvn }, bank.code, signal);
    },
    async verifyCheck(about, signal) {
      return customers.ask(about.reference, signal, (found) =>
        readCheck(found, about, settings, clock()),
      );
    },
    ...createIdentityReader(settings),
    safeFields: SAFE_FIELDS,
  };
}

/** Compares the names with that of the account's holder. */
async function compareHolder(
  client: PaystackClient,
  subject: Subject,
  bankCode: string,
  signal: AbortSignal,
) {
  const answer = await askHolder(client, { account: subject.accountNumber, bankCode }, signal);
  const { providerRequestId } = answer;
  if (answer.kind === 'unknown') return answer;
  if (answer.kind === 'not_found') {
    return { kind: 'rejected', code: 'number_not_found', providerRequestId } as const;
  }
  return isHolder(subject, answer.name)
    ? ({ kind: 'verified', providerRequestId } as const)
    : ({ kind: 'rejected', code: 'account_mismatch', providerRequestId } as const);
}

const traitsOf = (settings: Settings): IdentityProvider['identity'] => ({
  checks: ['bank_account'],
  // A check has a customer of its own at Paystack, so a repeat checks the same data again.
  resendSafety: { kind: 'idempotent', forMs: null, pauseMs: PAUSE_MS },
  onePerCustomer: false,
  ...sharedRate(settings),
});
