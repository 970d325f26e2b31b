import { setTimeout as sleep } from 'node:timers/promises';
import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import { createPaystackIdentity } from '../../src/core/providers/paystack/identity-adapter.js';
import { newId } from '../../src/shared/ids.js';
import { eachAtOnce } from '../support/at-once.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import {
  banksFor,
  CUSTOMER_DOMAIN,
  ENDINGS,
  never,
  settingsFor,
  startCounter,
  startFake,
} from './support.js';

const requestedAt = new Date();
const account = { account: '0123456100', bankCode: '058' };
const transfer = () => ({
  reference: newId('transfer'),
  clientReference: 'INV-118',
  amountMinor: 1_250_000n,
  currency: 'NGN' as const,
  recipient: { ...account, name: 'Invented Payee' },
  narration: 'Invoice 118',
  requestedAt,
});
const charge = () => ({
  reference: `${newId('charge')}-1`,
  clientReference: 'INV-118',
  amountMinor: 500_000n,
  currency: 'NGN' as const,
  customer: { id: 'customer-1', email: 'payer@example.com', name: 'Invented Payer' },
  returnUrl: null,
  requestedAt,
});

const wished = () => ({
  reference: newId('virtualAccount'),
  holder: { id: 'customer-1', name: 'Invented Holder', email: null, phone: '+2348012345678' },
  accountName: 'Invented Holder',
  bankCode: null,
  currency: 'NGN' as const,
  requestedAt,
});
const check = () => ({
  reference: newId('identityCheck'),
  customer: 'customer-1',
  checkType: 'bank_account' as const,
  subject: {
    firstName: 'Invented',
    lastName: 'Holder',
    dateOfBirth: null,
    accountNumber: '0123456789',
    bankCode: '058',
    bvn: '22212345678',
  },
  requestedAt,
});

/** The customer of a record, whom an adapter looks for before it uses the permit. */
function customerAt(line: string): object | undefined {
  const [, email] = /^GET \/customer\/(\S+) /.exec(line) ?? [];
  if (email === undefined) return undefined;
  return {
    id: 1,
    customer_code: 'CUS_invented',
    email: decodeURIComponent(email),
    domain: 'test',
    identified: false,
  };
}

/** The requests of the adapters that may have an effect. */
const callsOf = (
  transfers: ReturnType<typeof createPaystackTransfers>,
  payments: ReturnType<typeof createPaystackPayments>,
  accounts: ReturnType<typeof createPaystackAccounts>,
  identity: ReturnType<typeof createPaystackIdentity>,
) => ({
  prepare: () => transfers.prepare?.(transfer(), never),
  submit: () => transfers.submit({ ...transfer(), handle: 'RCP_invented' }, never),
  openPage: () => payments.openPage({ ...charge(), channel: { type: 'card' } }, never),
  confirmCharge: () =>
    payments.confirmCharge({ ...charge(), method: 'AUTH_invented', handle: null }, never),
  setUp: () =>
    payments.setUp?.({ ...charge(), channel: { type: 'bank_account', ...account } }, never),
  refund: () => {
    const about = { reference: `${newId('charge')}-1`, handle: null };
    return payments.refund({ ...charge(), charge: about, marker: newId('refund') }, never);
  },
  resumeRefund: () => payments.resumeRefund?.({ id: '4410229', account }, never),
  revokeMethod: () => payments.revokeMethod({ code: 'AUTH_invented' }, never),
  assign: () => accounts.assign(wished(), never),
  startCheck: () => identity.startCheck(check(), never),
});

describe.each(['a new', 'a kept'])('one submission is one request on %s connection', (kind) => {
  eachAtOnce(ENDINGS)('after %s nothing is sent again', async (_what, end) => {
    // The banks are known already, so each request is the submission itself.
    const fake = await startFake();
    const banks = banksFor(settingsFor(fake.url));
    await banks.find('058', never);
    await fake.close();
    const counter = await startCounter(end, customerAt);
    const settings = settingsFor(counter.url, 5_000);
    const withCustomers = { ...settings, customerDomain: CUSTOMER_DOMAIN };
    const calls = callsOf(
      createPaystackTransfers(settings, banks),
      createPaystackPayments(settings, banks),
      createPaystackAccounts(withCustomers, banks),
      createPaystackIdentity(withCustomers, banks),
    );
    const makeAll = () => Promise.all(Object.values(calls).map(async (call) => call()));
    const all = Object.keys(calls);
    if (kind === 'a kept') {
      counter.throttle(all.length);
      await makeAll();
    }
    expect((await makeAll()).map((answer) => answer?.kind)).toEqual(all.map(() => 'unknown'));
    await sleep(200);
    expect(counter.requests()).toBe(all.length);
    counter.close();
  });
});
