import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../src/shared/ids.js';
import { bursar } from '../support/cli.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const HOUR_MS = 3_600_000;
/** Equal in all statements, as the time of a payment is. */
const AT = new Date().toISOString();
const OPENING_MINOR = 90_000_000;
const MAPPING = {
  columns: {
    reference: 'Ref',
    date: 'Date',
    amount: 'Amount',
    balance: 'Balance',
    type: 'Kind',
  },
  own_types: ['TOPUP'],
  minor_units: true,
};

let service: Service;
let tenant: TestTenant;
let folder: string;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
  folder = mkdtempSync(join(tmpdir(), 'bursar-statements-'));
  writeFileSync(join(folder, 'mapping.json'), JSON.stringify(MAPPING));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

type Line = { reference: string; amount: number; kind: string; balance: number };

/** The bank's statement of these payouts. */
async function linesOf(ids: readonly string[]): Promise<Line[]> {
  let balance = OPENING_MINOR;
  const lines: Line[] = [];
  for (const reference of ids) {
    const [entry] = await service.bank.journal(reference);
    const paid = entry?.amount_minor ?? 0;
    lines.push({ reference, amount: -paid, kind: 'PAYMENT', balance: (balance -= paid) });
  }
  lines.push({ reference: '', amount: 500_000, kind: 'TOPUP', balance: (balance += 500_000) });
  return lines;
}

type Imported = {
  code: number;
  id: string;
  rows: number;
  complete: boolean | null;
  balance: boolean | null;
  agreement: boolean | null;
  difference_minor: number | null;
};

async function importLines(name: string, lines: readonly Line[]): Promise<Imported> {
  const rows = lines.map(({ reference, amount, kind, balance }) =>
    [AT, reference, kind, amount, balance].join(','),
  );
  const file = join(folder, name);
  writeFileSync(file, ['Date,Ref,Kind,Amount,Balance', ...rows].join('\n'));
  const time = (ms: number) => new Date(Date.parse(AT) + ms).toISOString();
  const period = `--from ${time(-3 * HOUR_MS)} --to ${time(3 * HOUR_MS)}`;
  const given = `--provider sandbox-bank --mapping ${join(folder, 'mapping.json')} ${period}`;
  const { code, out, error } = await bursar(
    `statements import ${file} ${given} --json`,
    service.env,
  );
  if (out === '') throw new Error(error);
  return { code, ...(JSON.parse(out) as Omit<Imported, 'code'>) };
}

async function openBreaks() {
  const { out } = await bursar('breaks list --json', service.env);
  const found = JSON.parse(out) as { kind: string; reference: string; amount_minor: number }[];
  return found.map(({ kind, reference, amount_minor: amount }) => `${kind} ${reference} ${amount}`);
}

test('a statement is proven against the ledger; what it lacks, adds and changes is a break, and a complete one closes what it lacked', async () => {
  const ids: string[] = [];
  for (let sent = 0; sent < 4; sent += 1) ids.push(await tenant.send('000'));
  for (const id of ids) await tenant.waitFor(id, 'completed');
  const lines = await linesOf(ids);
  const [first, second, third, ...rest] = lines as [Line, Line, Line, ...Line[]];

  const lacking = await importLines('lacking.csv', [first, second, ...rest]);
  expect(lacking).toMatchObject({
    code: 1,
    complete: false,
    balance: true,
    agreement: false,
    rows: 4,
  });
  expect(new Set(await openBreaks())).toEqual(
    new Set([
      `missing_there ${third.reference} ${-third.amount}`,
      `gap ${lacking.id}/000000003 ${-third.amount}`,
    ]),
  );

  const whole = await importLines('whole.csv', lines);
  expect(whole).toMatchObject({
    code: 0,
    complete: true,
    balance: true,
    agreement: true,
    difference_minor: 0,
  });
  expect(await openBreaks()).toEqual([]);

  const stranger = newId('transfer');
  const last = lines.at(-1)?.balance ?? 0;
  const more = { kind: 'PAYMENT', amount: -700, balance: last - 700 };
  const added = await importLines('added.csv', [...lines, { ...more, reference: stranger }]);
  expect(added).toMatchObject({ code: 1, complete: true, balance: false, difference_minor: -700 });
  expect(await openBreaks()).toEqual([`missing_here ${stranger} 700`]);
});

test('the same file is one statement, and one that cannot be read names its row', async () => {
  const lines = await linesOf([await tenant.send('000')]);
  const once = await importLines('once.csv', lines);
  const listed = async () => {
    const { out } = await bursar('statements list --json', service.env);
    return (JSON.parse(out) as { id: string }[]).map(({ id }) => id);
  };
  const before = await listed();
  expect(before).toContain(once.id);
  const again = await bursar(`statements match ${once.id} --json`, service.env);
  expect(JSON.parse(again.out)).toMatchObject({ id: once.id, rows: once.rows });
  expect(await listed()).toEqual(before);
  const file = join(folder, 'wrong.csv');
  writeFileSync(file, 'Date,Ref,Kind,Amount,Balance\n2026-11-20,trf_1,PAYMENT,1.005,0\n');
  const mapping = join(folder, 'mapping.json');
  const line = `statements import ${file} --provider sandbox-bank --mapping ${mapping}`;
  expect(await bursar(line, service.env)).toMatchObject({
    code: 1,
    error: expect.stringContaining("row 1: amount can't be read"),
  });
});

test.each([
  ['ends in less than an hour before now', -30, -0.5],
  ['ends before it begins', -2, -3],
])('a pull of a period that %s is refused, with the name of the field', async (_, from, to) => {
  const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
  const period = `--from ${at(from)} --to ${at(to)}`;
  expect(
    await bursar(`statements pull --provider sandbox-bank ${period}`, service.env),
  ).toMatchObject({ code: 1, error: expect.stringContaining('(to)') });
});

test('a statement whose last rows are missing is not compared, and the import that ends it is', async () => {
  const id = await tenant.send('000');
  await tenant.waitFor(id, 'completed');
  const { statements } = service.deps;
  const { _id } = await statements.begin({
    provider: 'sandbox-bank',
    name: 'half.csv',
    digest: 'half',
    order: 'oldest_first',
    from: null,
    to: null,
    slackMs: HOUR_MS,
  });
  const rows = (await linesOf([id])).map(({ reference, amount, balance, kind }, i) => ({
    line: i + 1,
    reference: reference === '' ? null : reference,
    amountMinor: BigInt(amount),
    feeMinor: null,
    balanceMinor: BigInt(balance),
    at: new Date(AT),
    own: kind === 'TOPUP',
  }));
  await statements.add(_id, rows.slice(0, 1), { isLast: false });
  const before = await openBreaks();
  expect(await bursar(`statements match ${_id}`, service.env)).toMatchObject({
    code: 1,
    error: expect.stringContaining('repeat its import'),
  });
  expect(await openBreaks()).toEqual(before);
  await statements.add(_id, rows, { isLast: true });
  const { out } = await bursar(`statements match ${_id} --json`, service.env);
  expect(JSON.parse(out)).toMatchObject({ rows: 2, complete: true });
});
