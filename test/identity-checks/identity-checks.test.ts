import { createIdentityCheckCreation } from '../../src/capabilities/identity-checks/create.js';
import { allAtOnce, eachAtOnce } from '../support/at-once.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  checkBody,
  identityClient,
  newCustomerId,
  newNumber,
  type CheckView,
  type IdentityClient,
} from '../support/identity.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

let service: Service;
let tenant: TestTenant;
let identity: IdentityClient;
let receiver: Receiver;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.earlyAttention);
  tenant = await service.tenant();
  identity = identityClient(tenant);
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** Starts a check of a new customer. The ending of its number selects what the sandbox bank does. */
async function started(ending: string, type: 'bvn' | 'nin' | 'bank_account' = 'bvn') {
  const body = checkBody(type, newNumber(ending));
  const { status, body: answer, text } = await identity.verify(newCustomerId(), { type, body });
  if (status !== 201) throw new Error(`not accepted: ${text}`);
  return answer.data;
}

const effectsOf = async (id: string) =>
  (await service.bank.journal()).filter(({ reference }) => reference === id);
const stored = async ({ id }: Pick<CheckView, 'id'>) => {
  const found = await service.deps.identityChecks.store.find(id);
  if (!found) throw new Error(`there is no ${id}`);
  return found;
};
const isOver = ({ status }: CheckView) => status !== 'pending';
const eventsOf = (id: string) =>
  receiver.events().filter(({ data, event }) => event === 'kyc.completed' && data['id'] === id);

describe('a check', () => {
  eachAtOnce<['bvn' | 'nin' | 'bank_account']>([['bvn'], ['nin'], ['bank_account']])(
    'of a %s is verified, tells the tenant, shows at the customer, and keeps only the last digits',
    async (type) => {
      const customer = newCustomerId();
      const number = newNumber();
      const { status, headers, body } = await identity.verify(customer, {
        type,
        body: checkBody(type, number),
      });
      expect(status).toBe(201);
      const check = body.data;
      expect(headers.get('location')).toBe(
        `/api/v1/identity/customers/${customer}/kyc/${check.id}`,
      );
      expect(check).toMatchObject({
        customer_id: customer,
        check_type: type,
        status: 'pending',
        last4: number.slice(-4),
        failure: null,
        completed_at: null,
      });
      const ended = await identity.waitFor(check, 'verified');
      expect(ended.completed_at).not.toBeNull();
      expect((await identity.customer(customer)).kyc).toMatchObject({ [type]: 'verified' });
      expect(await identity.checks(customer)).toEqual([ended]);
      expect(await stored(check)).toMatchObject({ sealed: null, next_check_at: null });
      const [event] = await eventually('the event arrives', () =>
        eventsOf(check.id).length > 0 ? eventsOf(check.id) : undefined,
      );
      expect(event?.data).toEqual(ended);
      expect((await effectsOf(check.id)).map(({ kind }) => kind)).toEqual(['checked']);
    },
  );

  eachAtOnce([
    ['002', 'name_mismatch'],
    ['003', 'number_not_found'],
  ])('of a number that ends in %s is rejected with %s', async (ending, code) => {
    const check = await identity.waitFor(await started(ending), isOver);
    expect(check).toMatchObject({ status: 'rejected', failure: { code } });
    expect(await stored(check)).toMatchObject({ sealed: null });
    const told = await eventually('the event arrives', () =>
      eventsOf(check.id).length > 0 ? eventsOf(check.id) : undefined,
    );
    expect(told.map(({ data }) => data)).toEqual([check]);
  });

  allAtOnce((test) => {
    test('of an account whose BVN is another person’s is rejected with account_mismatch', async () => {
      const body = { ...checkBody('bank_account'), bvn: newNumber('002') };
      const { body: answer } = await identity.verify(newCustomerId(), {
        type: 'bank_account',
        body,
      });
      expect(await identity.waitFor(answer.data, isOver)).toMatchObject({
        status: 'rejected',
        failure: { code: 'account_mismatch' },
      });
    });

    test('that could not be done is failed, not rejected, and may be started again', async () => {
      const check = await started('006');
      await eventually('the provider has it', async () =>
        (await service.bank.setCheckOutcome(check.id, 'failed')) === 200 ? true : undefined,
      );
      const failed = await identity.waitFor(check, isOver);
      expect(failed).toMatchObject({ status: 'failed', failure: { code: 'not_checked' } });
      expect((await identity.customer(check.customer_id)).kyc.bvn).toBe('failed');
      const again = await identity.verify(check.customer_id);
      expect(again.status).toBe(201);
      await identity.waitFor(again.body.data, 'verified');
      expect((await identity.customer(check.customer_id)).kyc.bvn).toBe('verified');
      const { body } = await identity.customers(
        `?customer_id=${check.customer_id}&kyc_status=verified`,
      );
      expect(body.data).toHaveLength(1);
    });

    test('with silence stays pending and calls an operator: silence is no rejection', async () => {
      const check = await started('005');
      const waiting = await identity.waitFor(check, ({ attention }) => attention !== null);
      expect(waiting).toMatchObject({ status: 'pending', failure: null, completed_at: null });
      expect(eventsOf(check.id)).toEqual([]);
      expect((await stored(check)).sealed).not.toBeNull();
    });
  });

  eachAtOnce([
    ['001', 'that is reported later, by a message alone'],
    ['004', 'whose answer never comes, found by a look-up'],
    ['007', 'after three errors'],
    ['010', 'after a throttle'],
  ])('of a number that ends in %s is verified once: one %s', async (ending) => {
    const check = await identity.waitFor(await started(ending), isOver);
    expect(check).toMatchObject({ status: 'verified', attention: null });
    expect(await effectsOf(check.id)).toHaveLength(1);
  });
});

describe('a request for a check', () => {
  const codeOf = async (body: object, type = 'bvn', customer = newCustomerId()) => {
    const path = `/identity/customers/${encodeURIComponent(customer)}/kyc/${type}/verify`;
    const { status, body: answer } = await identity.call('POST', path, body);
    return [status, answer.error?.code, answer.error?.field];
  };

  test('of an unknown type is a validation_error of check_type', async () => {
    for (const body of [checkBody(), {}, { passport: 'A1' }]) {
      expect(await codeOf(body, 'passport')).toEqual([400, 'validation_error', 'check_type']);
    }
  });

  test.each(['a'.repeat(101), ' person', 'person\u0007', 'person\u202e'])(
    'of the customer %j is a validation_error of customer_id, and not a missing resource',
    async (customer) => {
      expect(await codeOf({}, 'bvn', customer)).toEqual([400, 'validation_error', 'customer_id']);
      const path = `/identity/customers/${encodeURIComponent(customer)}/kyc`;
      expect((await identity.call('GET', path)).status).toBe(404);
    },
  );

  test.each([
    ['bvn', { number: '2221234567' }, 'number'],
    ['bvn', { number: 22_212_345_678 }, 'number'],
    ['bvn', { number: '2221234567O' }, 'number'],
    ['bvn', { number: '222 1234567' }, 'number'],
    ['bvn', { number: ' 22212345678' }, 'number'],
    ['nin', { number: '٢٢٢١٢٣٤٥٦٧٨' }, 'number'],
    ['nin', { number: '22212345678\n' }, 'number'],
    ['bank_account', { account_number: '012345678O' }, 'account_number'],
    ['bank_account', { account_number: '٠١٢٣٤٥٦٧٨٩' }, 'account_number'],
    ['bank_account', { account_number: '0123456789\n' }, 'account_number'],
    ['bank_account', { bvn: '2221234567\n' }, 'bvn'],
    ['nin', { number: undefined }, 'number'],
    ['nin', { bank_code: '058' }, 'bank_code'],
    ['bvn', { bvn: '22212345678' }, 'bvn'],
    ['bvn', { first_name: undefined }, 'first_name'],
    ['bvn', { last_name: '' }, 'last_name'],
    ['bvn', { date_of_birth: '1990-02-30' }, 'date_of_birth'],
    ['bvn', { middle_name: 'Ngozi' }, 'middle_name'],
    ['bank_account', { account_number: '123' }, 'account_number'],
    ['bank_account', { bank_code: undefined }, 'bank_code'],
    ['bank_account', { bvn: '123' }, 'bvn'],
    ['bank_account', { number: '22212345678' }, 'number'],
    ['bank_account', { date_of_birth: '1990-02-03' }, 'date_of_birth'],
  ] as const)('of a %s with %j is a validation_error of %s', async (type, change, field) => {
    expect(await codeOf({ ...checkBody(type), ...change }, type)).toEqual([
      400,
      'validation_error',
      field,
    ]);
  });

  test('needs a key of level admin', async () => {
    const { key } = await service.deps.apiKeys.create({
      tenantId: tenant.id,
      level: 'write',
      kind: 'secret',
    });
    const writer = identityClient(apiClient(service.api.url, key));
    const { status, body } = await writer.verify(newCustomerId());
    expect([status, body.error.code]).toEqual([403, 'forbidden']);
  });

  test('is refused while a check of the type is under way, and once it is verified', async () => {
    const waiting = await started('006');
    const second = await identity.verify(waiting.customer_id);
    expect([second.status, second.body.error]).toEqual([
      422,
      expect.objectContaining({ code: 'invalid_state', details: { status: 'pending' } }),
    ]);
    const nin = await identity.verify(waiting.customer_id, { type: 'nin' });
    expect(nin.status).toBe(201);
    await identity.waitFor(nin.body.data, 'verified');
    const repeated = await identity.verify(waiting.customer_id, { type: 'nin' });
    expect(repeated.body.error).toMatchObject({
      code: 'invalid_state',
      details: { status: 'verified' },
    });
  });

  test('is refused after five in a minute for one customer, and for no other', async () => {
    const customer = newCustomerId();
    const codes: number[] = [];
    // A request whose count takes too long passes uncounted, and a minute may end meanwhile.
    while (codes.at(-1) !== 429 && codes.length < 40) {
      codes.push((await identity.verify(customer)).status);
    }
    expect(codes.at(-1)).toBe(429);
    const before = codes.slice(0, -1);
    expect(before.length).toBeGreaterThanOrEqual(5);
    // Two windows, and a few that passed uncounted.
    expect(before.length).toBeLessThanOrEqual(15);
    expect(before).toEqual([201, ...before.slice(1).map(() => 422)]);
    expect((await identity.verify(newCustomerId())).status).toBe(201);
  });

  test('repeated with its key gets the same bytes; with another number the key is used up', async () => {
    const customer = newCustomerId();
    const body = checkBody();
    const first = await identity.verify(customer, { body }, { key: 'one key' });
    const again = await identity.verify(customer, { body }, { key: 'one key' });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await identity.verify(customer, { body: checkBody() }, { key: 'one key' });
    expect(other.body.error.code).toBe('idempotency_key_reused');
  });

  test('repeated with its key gets its answer however often, while new keys are refused', async () => {
    const customer = newCustomerId();
    const body = checkBody();
    const first = await identity.verify(customer, { body }, { key: 'known key' });
    let last = first.status;
    for (let i = 0; last !== 429 && i < 40; i += 1) {
      ({ status: last } = await identity.verify(customer, {}, { key: `new key ${i}` }));
    }
    expect(last).toBe(429);
    const again = await identity.verify(customer, { body }, { key: 'known key' });
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  test('with Prefer: wait is answered with the result', async () => {
    const wait = { headers: { prefer: 'wait=10' } };
    const { status, body } = await inTries(
      3,
      () => identity.verify(newCustomerId(), {}, wait),
      (answer) => answer.body.data.status === 'verified',
    );
    expect([status, body.data.status]).toEqual([201, 'verified']);
  });

  test('of a type that the provider lacks is feature_not_enabled', async () => {
    const { deps } = service;
    const real = deps.providers.forIdentity();
    const identityOfAccounts = { ...real.identity, checks: ['bank_account'] } as const;
    const provider = () => ({ ...real, identity: identityOfAccounts });
    const create = createIdentityCheckCreation({
      ...deps,
      provider,
      starter: deps.identityChecks.starter,
    });
    const subject = { firstName: 'A', lastName: 'B', dateOfBirth: null, number: newNumber() };
    const request = { tenantId: tenant.id, customerId: 'x', checkType: 'bvn', subject } as const;
    await expect(create(request, null)).rejects.toMatchObject({ code: 'feature_not_enabled' });
  });
});

describe('an operator', () => {
  const command = async (kind: string, id: string) =>
    bursar(`identity-checks ${kind} ${id} --reason asked`, service.env);
  const failByForce = async (id: string) =>
    bursarApproved(`identity-checks fail ${id} --reason asked --force`, service.env);

  allAtOnce((test) => {
    test('fails a silent check by force: it is failed, its number is erased, and nothing is rejected', async () => {
      const check = await started('005');
      await eventually('it was submitted', async () =>
        (await stored(check)).submissions > 0 ? true : undefined,
      );
      expect((await command('fail', check.id)).code).toBe(1);
      // A submission after the request changes the target, so its approval is refused and another request is needed.
      await eventually('an approval was used', async () =>
        (await failByForce(check.id)).code === 0 ? true : undefined,
      );
      expect(await identity.get(check.customer_id, check.id)).toMatchObject({
        status: 'failed',
        failure: { code: 'operator' },
      });
      expect((await stored(check)).sealed).toBeNull();
    });

    test('who failed a check by force is called when the provider verifies it after all, and may complete it', async () => {
      const check = await started('006');
      await eventually('the provider has it', async () =>
        (await stored(check)).acknowledged_at ? true : undefined,
      );
      expect((await failByForce(check.id)).code).toBe(0);
      expect(await service.bank.setCheckOutcome(check.id, 'verified')).toBe(200);
      await identity.waitFor(check, ({ attention }) => attention !== null);
      expect((await identity.get(check.customer_id, check.id)).status).toBe('failed');
      expect((await command('complete', check.id)).code).toBe(0);
      const verified = await identity.get(check.customer_id, check.id);
      expect(verified).toMatchObject({ status: 'verified', failure: null, attention: null });
      expect((await identity.customer(check.customer_id)).kyc.bvn).toBe('verified');
    });
  });

  test('may not complete a check that the provider has not verified', async () => {
    const check = await started('006');
    await eventually('the provider has it', async () =>
      (await stored(check)).acknowledged_at ? true : undefined,
    );
    expect((await command('complete', check.id)).code).toBe(1);
    expect((await command('verify', check.id)).code).toBe(0);
    expect((await identity.get(check.customer_id, check.id)).status).toBe('pending');
  });
});

test('at the end the audit finds no check that keeps its number', async () => {
  expect(await service.problems()).toEqual([]);
});
