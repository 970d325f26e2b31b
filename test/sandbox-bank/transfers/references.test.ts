import { setTimeout as sleep } from 'node:timers/promises';
import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import {
  bankClient,
  eventually,
  removeFolder,
  SECRET,
  temporaryFolder,
  type BankClient,
} from '../support.js';

const CONCLUSIVE_AFTER_MS = 2_000;
const FORGETS_AFTER_MS = 3_000;

let folder: string;
let banks: RunningSandboxBank[];
let strict: BankClient;
let careless: BankClient;
let forgetful: BankClient;

beforeAll(async () => {
  folder = temporaryFolder();
  const shared = { secret: SECRET, conclusiveAfterMs: CONCLUSIVE_AFTER_MS };
  banks = [
    await startSandboxBank({ ...shared, dataDir: `${folder}/strict` }),
    await startSandboxBank({ ...shared, dataDir: `${folder}/careless`, deduplicate: false }),
    await startSandboxBank({
      ...shared,
      dataDir: `${folder}/forgetful`,
      deduplicateForMs: FORGETS_AFTER_MS,
    }),
  ];
  strict = bankClient(banks[0]?.url ?? '');
  careless = bankClient(banks[1]?.url ?? '');
  forgetful = bankClient(banks[2]?.url ?? '');
});

afterAll(async () => {
  for (const bank of banks) await bank.close();
  removeFolder(folder);
});

describe('with de-duplication', () => {
  test('fifty submits of one reference at the same moment pay once and get the same answer', async () => {
    const request = strict.transferRequest('789');
    const answers = await Promise.all(Array.from({ length: 50 }, () => strict.submit(request)));
    expect(new Set(answers.map(({ body }) => body.session_id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect(await strict.journal(request.reference)).toHaveLength(1);
  });

  test('a reference with another amount, account or bank is a conflict, and pays nothing', async () => {
    const request = strict.transferRequest('789');
    await strict.submit(request);
    const others = [{ amount_minor: 1 }, { account: '0123456788' }, { bank_code: '044' }];
    for (const change of others) {
      const { status, body } = await strict.submit({ ...request, ...change });
      expect([status, body.error?.code]).toEqual([409, 'reference_conflict']);
    }
    expect((await strict.submit({ ...request, bank_code: '000013' })).status).toBe(200);
    expect(await strict.journal(request.reference)).toHaveLength(1);
  });

  test('the age of a request does not matter', async () => {
    const requested_at = new Date(Date.now() - 3_600_000).toISOString();
    expect((await strict.submit(strict.transferRequest('789', { requested_at }))).status).toBe(201);
  });

  test('that has an end, a repeat after it is executed again, and an old request never', async () => {
    const request = forgetful.transferRequest('789');
    await forgetful.submit(request);
    expect((await forgetful.submit(request)).status).toBe(200);
    await sleep(FORGETS_AFTER_MS);
    const again = { ...request, requested_at: new Date().toISOString() };
    expect((await forgetful.submit(again)).status).toBe(201);
    expect(await forgetful.journal(request.reference)).toHaveLength(2);
    await sleep(FORGETS_AFTER_MS);
    const requested_at = new Date(Date.now() - CONCLUSIVE_AFTER_MS).toISOString();
    const old = await forgetful.submit({ ...request, requested_at });
    expect([old.status, old.body.error?.code]).toEqual([422, 'too_old']);
  });
});

describe('without de-duplication', () => {
  test('every accepted submit pays again, and the journal shows it', async () => {
    const request = careless.transferRequest('789');
    const first = await careless.submit(request);
    const second = await careless.submit(request);
    expect([first.body.status, second.body.status]).toEqual(['paid', 'paid']);
    const entries = await careless.journal(request.reference);
    expect(entries.map((entry) => entry.kind)).toEqual(['paid', 'paid']);
    expect((await careless.lookup(request.reference)).body.session_id).toBe(entries[1]?.session_id);
  });

  test('a late or future request is refused explicitly and executes nothing', async () => {
    for (const [offsetMs, code] of [
      [-CONCLUSIVE_AFTER_MS, 'too_old'],
      [60_000, 'too_early'],
    ] as const) {
      const requested_at = new Date(Date.now() + offsetMs).toISOString();
      const request = careless.transferRequest('789', { requested_at });
      const { status, body } = await careless.submit(request);
      expect([status, body.error?.code]).toEqual([422, code]);
      expect((await careless.lookup(request.reference)).status).toBe(404);
      expect(await careless.journal(request.reference)).toEqual([]);
    }
  });

  test('the refusal of a late request does not touch what an earlier one has paid', async () => {
    const request = careless.transferRequest('789');
    await careless.submit(request);
    const requested_at = new Date(Date.now() - CONCLUSIVE_AFTER_MS).toISOString();
    expect((await careless.submit({ ...request, requested_at })).status).toBe(422);
    expect((await careless.lookup(request.reference)).body.status).toBe('paid');
    expect(await careless.journal(request.reference)).toHaveLength(1);
  });
});

test('without anyone to call, 001 shows as paid when its time has come', async () => {
  const request = strict.transferRequest('001');
  expect((await strict.submit(request)).body.status).toBe('pending');
  await eventually(async () =>
    (await strict.lookup(request.reference)).body.status === 'paid' ? true : undefined,
  );
  expect(await strict.journal(request.reference)).toHaveLength(1);
});

describe('after a fail-over to a lagging copy', () => {
  test('look-ups do not find the named transfers for a time, and a repeat is executed again', async () => {
    const [named, other] = [careless.transferRequest('006'), careless.transferRequest('006')];
    await careless.submit(named);
    await careless.submit(other);
    const lookup = async ({ reference }: { reference: string }) =>
      (await careless.call(`/v1/transfers/${reference}`)).status;
    await careless.post('/_sandbox/failover', { references: [named.reference], for_ms: 3_000 });
    expect([await lookup(named), await lookup(other)]).toEqual([404, 200]);
    const again = { ...named, requested_at: new Date().toISOString() };
    expect((await careless.submit(again)).status).toBe(201);
    await eventually(async () => ((await lookup(named)) === 200 ? true : undefined));
  });
});
