import {
  CHECK_TYPES,
  type CheckRequest,
  type CheckSubject,
  type CheckState,
  type CheckType,
  type IdentityEvent,
  type IdentityProvider,
} from '../../src/core/providers/identity-provider.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';

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
  /** The numbers of the checks: of a person, or of a bank account whose owner has a BVN. Null: never a result of such a check. */
  numbers: Record<Exclude<Scenario, 'numberNotFound'>, string> & { numberNotFound: string | null };
  /** Properties in which good providers differ. */
  ways: {
    checkType: CheckType;
    /** The code of data that do not match. */
    mismatch: 'name_mismatch' | 'account_mismatch';
    /** `later`: a check is accepted as pending. Its result follows in a message, and a look-up alone shows that it is verified. */
    results: 'at_once' | 'later';
  };
  /** Ends a pending check without a result. */
  fail(reference: string): Promise<void>;
  /** The first callbacks about a check, as they came in over HTTP. */
  callbacksAbout(reference: string, count: number): Promise<Delivered[]>;
  /** Everything that the provider has stored; null for one that keeps the data. */
  stored: (() => string) | null;
  close(): Promise<void>;
};

const never = new AbortController().signal;
const BVN = '22212345678';

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
      checkType: harness.ways.checkType,
      subject: subjectOf(harness.numbers[scenario] ?? ''),
      requestedAt: new Date(),
    });
    function subjectOf(number: string): CheckSubject {
      const person = { firstName: 'Ada', lastName: 'Obi', dateOfBirth: null };
      if (harness.ways.checkType !== 'bank_account') return { ...person, number };
      return { ...person, accountNumber: number, bankCode: '058', bvn: BVN };
    }
    const renewed = (request: CheckRequest) => ({ ...request, requestedAt: new Date() });
    const start = (request: CheckRequest) => provider.startCheck(request, never);
    const verify = ({ reference }: Pick<CheckRequest, 'reference'>) =>
      provider.verifyCheck({ reference, handle: null, acceptedAt: new Date() }, never);
    /** The look-up of a check that the provider has not said to have. */
    const find = ({ reference }: Pick<CheckRequest, 'reference'>) =>
      provider.verifyCheck({ reference, handle: null, acceptedAt: null }, never);
    /** The answer to a request that is carried out. */
    const answered = (kind: CheckState['kind']) =>
      harness.ways.results === 'at_once' ? kind : 'pending';
    const verifiedOnce = (request: CheckRequest) =>
      eventually('it is verified', async () =>
        (await find(request)).kind === 'verified' ? true : undefined,
      );
    /** The result of a check: of its look-up, or of the message in which alone it is told. */
    async function resultOf(request: CheckRequest): Promise<unknown> {
      if (harness.ways.results === 'at_once') return verify(request);
      const [delivered] = await harness.callbacksAbout(request.reference, 1);
      if (!delivered) throw new Error('no callback');
      expect((await verify(request)).kind).toMatch(/^(pending|verified)$/);
      return eventOf(delivered).state;
    }
    const eventOf = ({ raw, headers }: Delivered): IdentityEvent => {
      const reading = provider.readMessage(raw, headers, new Date());
      if (reading.kind !== 'event') throw new Error(`the callback is ${reading.kind}`);
      return reading.event;
    };

    test.each<[Scenario, () => CheckState]>([
      ['verified', () => ({ kind: 'verified' })],
      ['nameMismatch', () => ({ kind: 'rejected', code: harness.ways.mismatch })],
      ['numberNotFound', () => ({ kind: 'rejected', code: 'number_not_found' })],
    ])('a check is %s, and its result is found under its reference', async (scenario, stateOf) => {
      if (harness.numbers[scenario] === null) return;
      const request = order(scenario);
      const state = stateOf();
      const { providerRequestId, kind } = await start(request);
      expect([providerRequestId, kind]).toEqual([expect.any(String), answered(state.kind)]);
      expect(await resultOf(request)).toMatchObject(state);
    });

    test('a check without a result is pending', async () => {
      const request = order('pending');
      expect(await start(request)).toMatchObject({ kind: 'pending' });
      expect(await verify(request)).toMatchObject({ kind: 'pending' });
    });

    test('a check that ends without a result is rejected with no code for data that do not match', async () => {
      const request = order('pending');
      await start(request);
      await harness.fail(request.reference);
      expect(await resultOf(request)).toMatchObject({ kind: 'rejected', code: 'not_checked' });
    });

    test('a check without an answer is unknown, and its reference shows if it was made', async () => {
      const silence = { kind: 'unknown', reason: 'timeout' };
      const made = order('withoutAnswer');
      expect(await start(made)).toMatchObject(silence);
      await verifiedOnce(made);
      const lost = order('lost');
      expect(await start(lost)).toMatchObject(silence);
      expect((await find(lost)).kind).toBe('not_found');
    });

    test('a check with an error or a throttle was not made, and is when it is submitted again', async () => {
      for (const [scenario, kinds] of [
        ['failingFirst', ['unknown', 'unknown', 'unknown']],
        ['throttledFirst', ['throttled']],
      ] as const) {
        const request = order(scenario);
        for (const kind of kinds) {
          expect((await start(renewed(request))).kind).toBe(kind);
          expect((await find(request)).kind).toBe('not_found');
        }
        expect((await start(renewed(request))).kind).toBe(answered('verified'));
      }
    });

    test('a repeat at a provider that de-duplicates has the first result', async () => {
      if (provider.identity.resendSafety.kind !== 'idempotent') return;
      const request = order('nameMismatch');
      await start(request);
      expect((await start(renewed(request))).kind).toBe(answered('rejected'));
      expect(await resultOf(request)).toMatchObject({ code: harness.ways.mismatch });
      // A provider whose results follow checks again what it is sent.
      if (harness.ways.results === 'later') return;
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

    test('the traits name types of checks, a rate, and a proof that the port can give', () => {
      const { checks, callsPerSecond, resendSafety } = provider.identity;
      expect(checks.length).toBeGreaterThan(0);
      expect(CHECK_TYPES).toEqual(expect.arrayContaining([...checks]));
      expect(callsPerSecond).toBeGreaterThan(0);
      // The port has no cancellation that could decide.
      expect(resendSafety.kind).not.toBe('fence');
    });

    test('a reference that was never used is not found', async () => {
      expect((await verify(order('verified'))).kind).toBe('not_found');
    });

    test('a call to an unreachable identity provider is unknown, never an error and never a rejection', async () => {
      const request = order('nameMismatch');
      const away = { kind: 'unknown', reason: 'connection', providerRequestId: null };
      const about = { reference: request.reference, handle: null, acceptedAt: null };
      expect(await harness.unreachable.startCheck(request, never)).toEqual(away);
      expect(await harness.unreachable.verifyCheck(about, never)).toEqual(away);
    });

    test('an identity check that was aborted before it was sent is never sent', async () => {
      const request = order('verified');
      expect((await provider.startCheck(request, AbortSignal.abort())).kind).toBe('unknown');
      expect((await verify(request)).kind).toBe('not_found');
    });

    test('the sandbox keeps no number and no name of a customer', () => {
      if (harness.stored === null) return;
      const stored = harness.stored();
      expect(stored.length).toBeGreaterThan(0);
      for (const planted of [...Object.values(harness.numbers), BVN, 'Ada', 'Obi']) {
        if (planted === null) continue;
        expect(stored).not.toContain(planted);
      }
    });
  });
}
