import { newId } from '../../src/shared/ids.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import type {
  ListAnswer,
  TransferProvider,
  TransferRequest,
} from '../../src/core/providers/transfer-provider.js';
import { eventually } from '../support/eventually.js';
import { banksFor, never, settingsFor, startCounter, startFakeWithReceiver } from './support.js';

function adapterFor(url: string, timeoutMs?: number) {
  const settings = settingsFor(url, timeoutMs);
  return createPaystackTransfers(settings, banksFor(settings));
}

const order = (suffix: string, changes: Partial<TransferRequest> = {}): TransferRequest => ({
  reference: newId('transfer'),
  clientReference: 'INV-118',
  amountMinor: 1_250_000n,
  currency: 'NGN',
  recipient: { account: `0123456${suffix}`, bankCode: '058', name: 'Invented Payee' },
  narration: 'Invoice 118',
  requestedAt: new Date(),
  ...changes,
});

describe('transfers by Paystack', () => {
  let started: Awaited<ReturnType<typeof startFakeWithReceiver>>;
  let fake: typeof started.fake;
  let receiver: typeof started.receiver;
  let provider: TransferProvider;

  beforeAll(async () => {
    started = await startFakeWithReceiver();
    ({ fake, receiver } = started);
    provider = adapterFor(fake.url);
  });
  afterAll(async () => {
    await started?.close();
  });

  async function prepare(request: TransferRequest): Promise<string | null> {
    const ready = await provider.prepare?.(request, never);
    if (ready?.kind !== 'ready') throw new Error(`not prepared: ${ready?.kind}`);
    return ready.handle;
  }
  const submit = async (request: TransferRequest) =>
    provider.submit({ ...request, handle: await prepare(request) }, never);
  const verifyUntil = (reference: string, kind: string) =>
    eventually(`the transfer is ${kind}`, async () => {
      const answer = await provider.verify({ reference, handle: null }, never);
      return answer.kind === kind ? answer : undefined;
    });
  const paidOut = (reference: string) =>
    fake.journal().filter((entry) => entry.reference === reference && entry.kind === 'paid_out');

  test('an accepted transfer is pending, and then paid once, with its session and its fee', async () => {
    const request = order('100');
    expect(await submit(request)).toMatchObject({ kind: 'pending', awaits: 'provider' });
    expect(await verifyUntil(request.reference, 'succeeded')).toMatchObject({
      amountMinor: 1_250_000n,
      feeMinor: 1_000n,
      sessionId: expect.stringMatching(/^[0-9]{17,30}$/) as string,
    });
    expect(paidOut(request.reference)).toHaveLength(1);
  });

  test('a recipient is made once for an account, also under the interbank code of its bank', async () => {
    const request = order('101');
    const first = await prepare(request);
    const before = fake.requests.length;
    expect(await prepare(order('101'))).toBe(first);
    expect(fake.requests).toHaveLength(before);
    const byNip = order('101', { recipient: { ...request.recipient, bankCode: '000013' } });
    expect(await prepare(byNip)).toBe(first);
    expect(fake.requests.at(-1)?.body).toMatchObject({ bank_code: '058' });
  });

  test('a recipient that was void for another process is made anew, also if this process remembers it', async () => {
    const other = adapterFor(fake.url);
    const recipient = { account: '0123457014', bankCode: '058', name: 'Invented Payee' };
    const request = order('014', { recipient });
    const void_ = await prepare(request);
    await other.prepare?.(request, never);
    const answer = await provider.submit({ ...request, handle: void_ }, never);
    expect(answer).toMatchObject({ kind: 'rejected_temporarily', reason: 'stale_handle' });
    const again = await other.prepare?.({ ...request, hadVoidHandle: true }, never);
    expect(again).toMatchObject({
      kind: 'ready',
      handle: expect.not.stringMatching(void_ ?? '') as string,
    });
    const sent = await other.submit(
      { ...request, handle: again?.kind === 'ready' ? again.handle : null },
      never,
    );
    expect(sent).toMatchObject({ kind: 'pending' });
  });

  test('an account that Paystack does not take is rejected, and an unknown bank too', async () => {
    const recipient = { account: '0123456100', bankCode: '999', name: null };
    const rejected = { kind: 'rejected', code: 'invalid_account', scope: 'request' };
    expect(await provider.prepare?.(order('100', { recipient }), never)).toMatchObject(rejected);
  });

  test('a transfer whose answer is lost is unknown, not found for a time, and then paid once', async () => {
    const request = order('004');
    expect(await submit(request)).toMatchObject({ kind: 'unknown', reason: 'connection' });
    expect(
      await provider.verify({ reference: request.reference, handle: null }, never),
    ).toMatchObject({ kind: 'not_found' });
    await verifyUntil(request.reference, 'succeeded');
    expect(paidOut(request.reference)).toHaveLength(1);
  });

  test.each(['009', '010'])(
    'a duplicate reference is a conflict, under 400 and 404 (%s)',
    async (suffix) => {
      const request = order(suffix);
      expect(await submit(request)).toMatchObject({ kind: 'unknown', reason: 'connection' });
      expect(await submit(request)).toMatchObject({ kind: 'unknown', reason: 'conflict' });
      await verifyUntil(request.reference, 'succeeded');
      expect(paidOut(request.reference)).toHaveLength(1);
    },
  );

  test('a transfer that Paystack never accepted is not found, and paid once by a repeat', async () => {
    const request = order('005');
    expect(await submit(request)).toMatchObject({ kind: 'unknown', reason: 'connection' });
    expect(
      await provider.verify({ reference: request.reference, handle: null }, never),
    ).toMatchObject({ kind: 'not_found' });
    expect(await submit(request)).toMatchObject({ kind: 'pending' });
    await verifyUntil(request.reference, 'succeeded');
  });

  test('a code that Paystack wants is a fault of the set-up, and the transfer is never confirmed', async () => {
    const request = order('007');
    expect(await submit(request)).toMatchObject({
      kind: 'pending',
      awaits: 'operator',
      fault: 'otp_required',
    });
    expect(await verifyUntil(request.reference, 'rejected')).toMatchObject({
      code: 'not_confirmed',
      scope: 'instruction',
    });
  });

  test('a float that is too small is no rejection: the transfer may be sent again', async () => {
    const request = order('013');
    for (const amountMinor of [1_250_000n, 1_250_001n]) {
      expect(await submit({ ...request, amountMinor })).toMatchObject({
        kind: 'rejected_temporarily',
        reason: 'float',
        fault: 'float',
      });
    }
    expect(await submit(request)).toMatchObject({ kind: 'pending' });
  });

  test('a recipient that is gone is made again', async () => {
    const request = order('014');
    const first = await prepare(request);
    expect(await submit(request)).toMatchObject({
      kind: 'rejected_temporarily',
      reason: 'stale_handle',
    });
    expect(await prepare(request)).not.toBe(first);
    expect(await submit(request)).toMatchObject({ kind: 'pending' });
  });

  test.each(['throttle_seconds', 'throttle_time_stamp'] as const)(
    'a 429 (%s) is throttled, with the pause that it names',
    async (fault) => {
      const request = order('100');
      const handle = await prepare(request);
      fake.plan('submit', fault);
      const answer = await provider.submit({ ...request, handle }, never);
      expect(answer.kind).toBe('throttled');
      expect(answer.kind === 'throttled' && answer.retryAfterMs).toBeGreaterThanOrEqual(1_000);
      expect(answer.kind === 'throttled' && answer.retryAfterMs).toBeLessThanOrEqual(3_000);
      expect(fake.transfer(request.reference)).toBeUndefined();
      fake.plan('verify_transfer', fault);
      expect(
        await provider.verify({ reference: request.reference, handle: null }, never),
      ).toMatchObject({
        kind: 'unknown',
        reason: 'throttled',
      });
    },
  );

  test.each([
    ['error_500', { kind: 'unknown', reason: 'server_error' }],
    ['error_500_after', { kind: 'unknown', reason: 'server_error' }],
    ['html', { kind: 'unknown', reason: 'unreadable' }],
    ['drop_before', { kind: 'unknown', reason: 'connection' }],
    ['drop_after', { kind: 'unknown', reason: 'connection' }],
    ['hang', { kind: 'unknown', reason: 'timeout' }],
    ['system_malfunction', { kind: 'unknown', reason: 'unrecognized' }],
    ['new_code', { kind: 'unknown', reason: 'unrecognized', word: 'quite_new' }],
    ['starter_business', { kind: 'rejected_temporarily', reason: 'suspended', fault: 'suspended' }],
    ['invalid_key', { kind: 'rejected_temporarily', reason: 'suspended', fault: 'credentials' }],
  ] as const)('%s is what it proves, and no more', async (fault, expected) => {
    const request = order('100');
    const handle = await prepare(request);
    fake.plan('submit', fault);
    expect(await provider.submit({ ...request, handle }, never)).toMatchObject(expected);
  });

  test('each text of a refusal without a code has a word of its own, which does not depend on figures', async () => {
    const words: (string | undefined)[] = [];
    for (const fault of ['new_text_1', 'new_text_2', 'other_text'] as const) {
      const request = order('100');
      const handle = await prepare(request);
      fake.plan('submit', fault);
      const answer = await provider.submit({ ...request, handle }, never);
      words.push(answer.kind === 'unknown' ? answer.word : answer.kind);
    }
    expect(words[0]).toMatch(/^text_[0-9a-f]{8}$/);
    expect(words[1]).toBe(words[0]);
    expect(words[2]).not.toBe(words[0]);
  });

  test('a key whose list of addresses has not ours is a fault of the credentials', async () => {
    const request = order('100');
    const handle = await prepare(request);
    fake.plan('submit', 'wrong_address');
    expect(await provider.submit({ ...request, handle }, never)).toMatchObject({
      kind: 'rejected_temporarily',
      fault: 'credentials',
    });
  });

  test('a look-up that is refused proves nothing', async () => {
    fake.plan('verify_transfer', 'invalid_key');
    expect(
      await provider.verify({ reference: newId('transfer'), handle: null }, never),
    ).toMatchObject({
      kind: 'unknown',
      reason: 'unrecognized',
      fault: 'credentials',
    });
  });

  test.each([
    ['015', { kind: 'unknown', reason: 'unrecognized', word: 'parked' }],
    ['016', { kind: 'unknown', reason: 'mismatch', fault: 'environment' }],
  ])('a word or an environment that is not ours is unknown (%s)', async (suffix, expected) => {
    expect(await submit(order(suffix))).toMatchObject(expected);
  });

  test.each([
    ['002', 'rejected', { code: 'provider_declined' }],
    ['006', 'reversed', { amountMinor: 1_250_000n }],
    ['017', 'rejected', { code: 'approval_missed' }],
    ['018', 'rejected', { code: 'approval_rejected' }],
  ])('the end of a transfer is read (%s: %s)', async (suffix, kind, expected) => {
    const request = order(suffix);
    await submit(request);
    expect(await verifyUntil(request.reference, kind)).toMatchObject(expected);
  });

  test('a transfer that failed and was paid all the same is reported by both messages', async () => {
    const request = order('008');
    await submit(request);
    await verifyUntil(request.reference, 'succeeded');
    const kinds = await eventually('both messages have arrived', () => {
      const states = receiver.received.flatMap(({ raw, headers }) => {
        const reading = provider.readMessage(raw, headers, new Date());
        const isOurs = reading.kind === 'event' && reading.event.reference === request.reference;
        return isOurs ? [reading.event.state.kind] : [];
      });
      return Promise.resolve(states.length >= 2 ? states : undefined);
    });
    expect(kinds).toEqual(['rejected', 'succeeded']);
  });

  test('the list has every transfer, page by page', async () => {
    const wanted = Array.from({ length: 3 }, () => order('001'));
    for (const each of wanted) await submit(each);
    const found: string[] = [];
    const window = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 60_000) };
    for (let cursor: string | null = ''; cursor !== null;) {
      const answer: ListAnswer | undefined = await provider.list?.({ ...window, cursor }, never);
      if (answer?.kind !== 'page') throw new Error('no page');
      found.push(...answer.items.map(({ reference }) => reference));
      cursor = answer.next;
    }
    expect(found).toEqual(expect.arrayContaining(wanted.map(({ reference }) => reference)));
  });

  test('banks that take no transfers are left out, and a missing interbank code comes from our table', async () => {
    const answer = await provider.listBanks(never);
    if (answer.kind !== 'banks') throw new Error('no banks');
    expect(answer.banks.map(({ code, nipCode }) => [code, nipCode])).toEqual([
      ['058', '000013'],
      ['044', '000014'],
      ['50211', '090267'],
      ['999992', '100004'],
      ['057', '000015'],
    ]);
  });

  test('the holder of an account is found, with the name of the bank', async () => {
    const account = { account: '0123456100', bankCode: '044' };
    expect(await provider.resolveAccount(account, never)).toEqual({
      kind: 'found',
      name: 'Adaeze Holder 100',
      bankName: 'Access Bank',
    });
    const none = { ...account, account: '0123456003' };
    expect(await provider.resolveAccount(none, never)).toEqual({ kind: 'not_found' });
    fake.plan('resolve', 'error_500');
    expect(await provider.resolveAccount(account, never)).toEqual({
      kind: 'no_answer',
      reason: 'server_error',
    });
  });

  test('the balance is that of our currency', async () => {
    expect(await provider.balance?.(never)).toMatchObject({
      kind: 'balance',
      currency: 'NGN',
      availableMinor: BigInt(fake.balance()),
    });
  });
});

describe('one submission is one request', () => {
  test('nothing is sent after its caller has given up', async () => {
    const counter = await startCounter(() => undefined);
    const provider = adapterFor(counter.url);
    const given = { ...order('100'), handle: 'RCP_invented' };
    expect(await provider.submit(given, AbortSignal.abort())).toMatchObject({ kind: 'unknown' });
    expect(counter.requests()).toBe(0);
    counter.close();
  });
});
