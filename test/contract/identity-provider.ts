import { newId } from '../../src/shared/ids.js';
import type {
  CheckRequest,
  CheckState,
  IdentityEvent,
  IdentityProvider,
} from '../../src/core/providers/identity-provider.js';

type Delivered = { raw: Buffer; headers: Record<string, string | undefined> };

/** Scenarios that a number selects. A provider's own test values are mapped to these. */
type Scenario =
  | 'verified'
  | 'nameMismatch'
  | 'numberNotFound'
  | 'later'
  | 'withoutAnswer'
  | 'lost'
  | 'pending'
  | 'failingFirst'
  | 'throttledFirst';

export type IdentityHarness = {
  /** With a time limit of a second or less for each call. */
  provider: IdentityProvider;
  /** The same provider at an address without a server. */
  unreachable: IdentityProvider;
  numbers: Record<Scenario, string>;
  /** Ends a pending check without a result. */
  fail(reference: string): Promise<void>;
  /** The first callbacks about a check, as they came in over HTTP. */
  callbacksAbout(reference: string, count: number): Promise<Delivered[]>;
  /** Everything that the provider has stored. */
  stored(): string;
  close(): Promise<void>;
};

const never = new AbortController().signal;

/** The contract of every identity provider. Runs against the real provider, or its sandbox, over HTTP. */
export function describeIdentityProvider(
  name: string,
  setup: () => Promise<IdentityHarness>,
): void {
  describe(`identity provider ${name}`, () => {
    let harness: IdentityHarness;
    let provider: IdentityProvider;
    beforeAll(async () => {
      harness = await setup();
      ({ provider } = harness);
    });
    afterAll(() => harness.close());

    const order = (scenario: Scenario): CheckRequest => ({
      reference: newId('identityCheck'),
      customer: newId('customer'),
      checkType: 'bvn',
      subject: {
        firstName: 'Ada',
        lastName: 'Obi',
        dateOfBirth: null,
        number: harness.numbers[scenario],
      },
      requestedAt: new Date(),
    });
    const renewed = (request: CheckRequest) => ({ ...request, requestedAt: new Date() });
    const start = (request: CheckRequest) => provider.startCheck(request, never);
    const verify = ({ reference }: Pick<CheckRequest, 'reference'>) =>
      provider.verifyCheck({ reference, handle: null }, never);
    const eventOf = ({ raw, headers }: Delivered): IdentityEvent => {
      const reading = provider.readMessage(raw, headers, new Date());
      if (reading.kind !== 'event') throw new Error(`the callback is ${reading.kind}`);
      return reading.event;
    };

    test.each<[Scenario, CheckState]>([
      ['verified', { kind: 'verified' }],
      ['nameMismatch', { kind: 'rejected', code: 'name_mismatch' }],
      ['numberNotFound', { kind: 'rejected', code: 'number_not_found' }],
      ['pending', { kind: 'pending' }],
    ])('a check is %s, and is found as such by its reference', async (scenario, state) => {
      const request = order(scenario);
      const trace = { providerRequestId: expect.any(String) as string };
      expect(await start(request)).toEqual({ ...trace, ...state });
      expect(await verify(request)).toEqual({ ...trace, ...state });
    });

    test('a check that ends without a result is rejected with no code for data that do not match', async () => {
      const request = order('pending');
      await start(request);
      await harness.fail(request.reference);
      expect(await verify(request)).toMatchObject({ kind: 'rejected', code: 'not_checked' });
    });

    test('a check without an answer is unknown, and its reference shows if it was made', async () => {
      for (const [scenario, kind] of [
        ['withoutAnswer', 'verified'],
        ['lost', 'not_found'],
      ] as const) {
        const request = order(scenario);
        expect(await start(request)).toMatchObject({ kind: 'unknown', reason: 'timeout' });
        expect((await verify(request)).kind).toBe(kind);
      }
    });

    test('a check with an error or a throttle was not made, and is when it is submitted again', async () => {
      for (const [scenario, kinds] of [
        ['failingFirst', ['unknown', 'unknown', 'unknown']],
        ['throttledFirst', ['throttled']],
      ] as const) {
        const request = order(scenario);
        for (const kind of kinds) {
          expect((await start(renewed(request))).kind).toBe(kind);
          expect((await verify(request)).kind).toBe('not_found');
        }
        expect((await start(renewed(request))).kind).toBe('verified');
      }
    });

    test('a repeat at a provider that de-duplicates gets the first result; of another number it is unknown', async () => {
      if (provider.identity.resendSafety.kind !== 'idempotent') return;
      const request = order('nameMismatch');
      await start(request);
      expect(await start(renewed(request))).toMatchObject({ code: 'name_mismatch' });
      const other = { ...renewed(request), subject: order('verified').subject };
      expect((await start(other)).kind).toBe('unknown');
    });

    test('a result that comes later is reported by a message, which names our reference and no number', async () => {
      const request = order('later');
      expect((await start(request)).kind).toBe('pending');
      const [delivered] = await harness.callbacksAbout(request.reference, 1);
      if (!delivered) throw new Error('no callback');
      expect(eventOf(delivered)).toMatchObject({
        reference: request.reference,
        state: { kind: 'verified' },
      });
      expect(delivered.raw.toString()).not.toContain(harness.numbers.later);
      const { raw, headers } = delivered;
      const changed = Buffer.from(raw);
      changed[0] = (changed[0] ?? 0) ^ 1;
      expect(provider.readMessage(changed, headers, new Date())).toEqual({ kind: 'bad_signature' });
    });

    test('a reference that was never used is not found', async () => {
      expect((await verify(order('verified'))).kind).toBe('not_found');
    });

    test('a call to an unreachable identity provider is unknown, never an error and never a rejection', async () => {
      const request = order('nameMismatch');
      const away = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const about = { reference: request.reference, handle: null };
      expect(await harness.unreachable.startCheck(request, never)).toEqual(away);
      expect(await harness.unreachable.verifyCheck(about, never)).toEqual(away);
    });

    test('an identity check that was aborted before it was sent is never sent', async () => {
      const request = order('verified');
      expect((await provider.startCheck(request, AbortSignal.abort())).kind).toBe('unknown');
      expect((await verify(request)).kind).toBe('not_found');
    });

    test('the sandbox keeps no number and no name of a customer', () => {
      const stored = harness.stored();
      expect(stored.length).toBeGreaterThan(0);
      for (const planted of [...Object.values(harness.numbers), 'Ada', 'Obi']) {
        expect(stored).not.toContain(planted);
      }
    });
  });
}
