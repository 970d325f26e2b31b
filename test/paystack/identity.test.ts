import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckRequest, IdentityProvider } from '../../src/core/providers/identity-provider.js';
import { isHolder } from '../../src/core/providers/paystack/check-calls.js';
import { createPaystackIdentity } from '../../src/core/providers/paystack/identity-adapter.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import {
  banksFor,
  CUSTOMER_DOMAIN,
  ENDINGS,
  never,
  settingsFor,
  startCounter,
  startFakeWithReceiver,
} from './support.js';

function adapterFor(url: string, timeoutMs?: number, clock?: () => Date): IdentityProvider {
  const settings = { ...settingsFor(url, timeoutMs), customerDomain: CUSTOMER_DOMAIN };
  return createPaystackIdentity(settings, banksFor(settings), clock);
}

const BVN = '22212345678';
/** A check of an account. The ending of its number selects what the fake does. */
const order = (digits: string, changes: object = {}): CheckRequest => ({
  reference: newId('identityCheck'),
  customer: newId('customer'),
  checkType: 'bank_account',
  subject: {
    firstName: 'Ada',
    lastName: 'Obi',
    dateOfBirth: null,
    accountNumber: `0123456${digits}`,
    bankCode: '058',
    bvn: BVN,
    ...changes,
  },
  requestedAt: new Date(),
});

describe('identity checks by Paystack', () => {
  let started: Awaited<ReturnType<typeof startFakeWithReceiver>>;
  let fake: typeof started.fake;
  let receiver: typeof started.receiver;
  let provider: IdentityProvider;

  beforeAll(async () => {
    started = await startFakeWithReceiver();
    ({ fake, receiver } = started);
    provider = adapterFor(fake.url);
  });
  afterAll(async () => {
    await started?.close();
  });

  const start = (request: CheckRequest) => provider.startCheck(request, never);
  const verify = ({ reference, requestedAt: acceptedAt }: CheckRequest) =>
    provider.verifyCheck({ reference, handle: null, acceptedAt }, never);
  const verifyUnaccepted = ({ reference }: CheckRequest) =>
    provider.verifyCheck({ reference, handle: null, acceptedAt: null }, never);
  const resultOf = ({ reference }: CheckRequest) =>
    eventually('the result is told', () => {
      const found = receiver.received.find(({ raw }) => raw.toString().includes(reference));
      return found && provider.readMessage(found.raw, found.headers, new Date());
    });

  describe('with a BVN', () => {
    test('an account is verified later: by a message that names the check, and by a look-up', async () => {
      const request = order('789');
      expect(await start(request)).toMatchObject({ kind: 'pending' });
      const { reference } = request;
      expect(await resultOf(request)).toMatchObject({
        kind: 'event',
        event: { reference, state: { kind: 'verified' } },
      });
      expect(await verify(request)).toMatchObject({ kind: 'verified' });
    });

    test('data that do not match are rejected, and another failure is no rejection of the data', async () => {
      for (const [digits, code] of [
        ['002', 'account_mismatch'],
        ['006', 'not_checked'],
      ] as const) {
        const request = order(digits);
        expect(await start(request)).toMatchObject({ kind: 'pending' });
        expect(await resultOf(request)).toMatchObject({
          event: { state: { kind: 'rejected', code } },
        });
        expect(await verify(request)).toMatchObject({ kind: 'pending' });
      }
    });

    test('a result that nobody tells is found by a look-up', async () => {
      const request = order('004');
      await start(request);
      await eventually('it is verified', async () =>
        (await verify(request)).kind === 'verified' ? true : undefined,
      );
    });

    test('silence is pending, and after a day a check that could not be done', async () => {
      const request = order('005');
      expect(await start(request)).toMatchObject({ kind: 'pending' });
      expect(await verify(request)).toMatchObject({ kind: 'pending' });
      const later = adapterFor(fake.url, 2_000, () => new Date(Date.now() + 25 * 3_600_000));
      const about = { reference: request.reference, handle: null, acceptedAt: new Date() };
      expect(await later.verifyCheck(about, never)).toMatchObject({
        kind: 'rejected',
        code: 'not_checked',
      });
    });

    test('a BVN that Paystack does not accept ends this request', async () => {
      expect(await start(order('789', { bvn: '00000000000' }))).toMatchObject({
        kind: 'rejected',
        code: 'invalid_bvn',
        scope: 'request',
      });
    });

    test('a lost answer is unknown; the repeat of a check that has ended is a conflict, and found', async () => {
      const request = order('789');
      fake.plan('identify', 'drop_after');
      expect(await start(request)).toMatchObject({ kind: 'unknown' });
      await eventually('it is verified', async () =>
        (await verify(request)).kind === 'verified' ? true : undefined,
      );
      expect(await start(request)).toMatchObject({ kind: 'unknown', reason: 'conflict' });
    });

    test('a request that never left is not found though its customer was made, and is sent again', async () => {
      const request = order('789');
      fake.plan('identify', 'drop_before');
      expect(await start(request)).toMatchObject({ kind: 'unknown' });
      expect(fake.customers().some(({ email }) => email.startsWith(request.reference))).toBe(true);
      expect(await verifyUnaccepted(request)).toMatchObject({ kind: 'not_found' });
      expect(await start(request)).toMatchObject({ kind: 'pending' });
      await eventually('it is verified', async () =>
        (await verifyUnaccepted(request)).kind === 'verified' ? true : undefined,
      );
    });

    test('two checks of one person are two customers at Paystack, without an address of the person', async () => {
      const requests = [order('005'), order('005')];
      for (const request of requests) await start(request);
      for (const { reference } of requests) {
        const own = fake.customers().filter(({ email }) => email.startsWith(reference));
        expect(own).toMatchObject([{ email: `${reference}@${CUSTOMER_DOMAIN}`, phone: null }]);
      }
    });
  });

  describe('without a BVN', () => {
    const holder = { bvn: null, firstName: 'Adaeze', lastName: 'Holder 789' };

    test('the names are compared with the holder’s, at once', async () => {
      expect(await start(order('789', holder))).toMatchObject({ kind: 'verified' });
      const other = { ...holder, firstName: 'Chidi' };
      expect(await start(order('789', other))).toMatchObject({
        kind: 'rejected',
        code: 'account_mismatch',
      });
      expect(await start(order('003', holder))).toMatchObject({
        kind: 'rejected',
        code: 'number_not_found',
      });
    });

    test.each([
      ['Ada', 'Obi', 'OBI ADA NGOZI', true],
      ['ada', 'Obi', 'Obi, Ada', true],
      ['Adé', 'Okafor-Eze', 'OKAFOR EZE ADE', true],
      ['Ada Ngozi', 'Obi', 'OBI ADA', false],
      ['Ada', 'Obi', 'ADAEZE OBI', false],
      ['Ada', 'Obi', 'OBI', false],
      ['-', 'Obi', 'OBI', false],
    ])('%s %s holds an account of %s: %s', (firstName, lastName, name, expected) => {
      expect(isHolder({ firstName, lastName }, name)).toBe(expected);
    });

    test('a name that is not resolved is unknown, and no rejection', async () => {
      fake.plan('resolve', 'system_malfunction');
      expect(await start(order('789', holder))).toMatchObject({ kind: 'unknown' });
    });
  });

  test('other types and unknown banks could not be checked, which rejects no data', async () => {
    const bvn = { ...order('789'), checkType: 'bvn' as const };
    expect(await start(bvn)).toMatchObject({ kind: 'rejected', code: 'not_offered' });
    expect(provider.identity.checks).toEqual(['bank_account']);
    expect(await start(order('789', { bankCode: '999' }))).toMatchObject({
      kind: 'rejected',
      code: 'no_such_bank',
    });
  });

  test('a check that was never started is not found', async () => {
    expect(await verify(order('789'))).toMatchObject({ kind: 'not_found' });
  });

  test('an answer holds no number, no name and no text of Paystack’s', async () => {
    const answers = [await start(order('002')), await start(order('789', { bvn: null }))];
    const text = JSON.stringify([...answers, await verify(order('002'))]);
    for (const secret of [BVN, '0123456789', 'Ada', 'Obi', 'Holder']) {
      expect(text).not.toContain(secret);
    }
  });

  test.each(ENDINGS)('a question is one request, also after %s', async (_how, end, timeoutMs) => {
    const counter = await startCounter(end);
    const about = { reference: newId('identityCheck'), handle: null, acceptedAt: null };
    expect(await adapterFor(counter.url, timeoutMs).verifyCheck(about, never)).toMatchObject({
      kind: 'unknown',
    });
    await sleep(50);
    expect(counter.requests()).toBe(1);
    counter.close();
  });
});
