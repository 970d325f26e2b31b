import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptTransfer } from '../../../src/capabilities/transfers/mutations.js';
import { createTransfers } from '../../../src/capabilities/transfers/store.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { createApiKeys } from '../../../src/platform/api-keys/store.js';
import { lagosDay } from '../../../src/core/ledger/wallet.js';
import { beginVerification } from '../../../src/core/ledger/verifications.js';
import { createProviderFaults } from '../../../src/core/providers/faults.js';
import { idOf } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import { createTenants } from '../../../src/platform/tenants/store.js';
import { bursar as runBursar } from '../../support/cli.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../../support/transfers.js';

const PEPPER = 'a pepper that only the tests use, long enough';
const DAY_MS = 24 * 60 * 60 * 1000;
let database: TestDatabase;
let tenantId: string;
beforeAll(async () => {
  database = await openTestDatabase();
  const tenants = createTenants({ db: database.db, environment: 'sandbox' });
  ({ id: tenantId } = await tenants.create({ name: 'Ada', plan: 'sandbox' }));
});
afterAll(() => database.close());

/** Runs one command as an operator would. */
async function bursar(line: string): Promise<{ code: number; out: string }> {
  const { code, out, error } = await runBursar(line, {
    MONGODB_URI: database.uri,
    BURSAR_DATABASE: database.name,
    BURSAR_KEY_PEPPER: PEPPER,
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
  });
  return { code: code === 0 ? 0 : 1, out: out || error };
}

async function json(line: string) {
  const { code, out } = await bursar(`${line} --json`);
  expect([line, code, out]).toEqual([line, 0, expect.anything()]);
  return JSON.parse(out);
}

function service() {
  const { db } = database;
  const log = createLog({ level: 'silent', name: 'test' });
  const tenants = createTenants({ db, environment: 'sandbox' });
  return createApiKeys({
    db,
    peppers: [{ id: 'unnamed', secret: PEPPER }],
    environment: 'sandbox',
    tenants,
    log,
  });
}

test('providers list and show name each provider with its faults, and resume ends them', async () => {
  const faults = createProviderFaults({
    db: database.db,
    log: createLog({ level: 'silent', name: 'test' }),
  });
  await faults.report('sandbox-bank', 'float', 5_000n);
  await faults.report('sandbox-bank', 'float', 3_000n);
  expect(await json('providers list')).toMatchObject([
    { provider: 'sandbox-bank', faults: 'float' },
  ]);
  const before = await bursar('--json providers list');
  expect(JSON.parse(before.out)).toEqual(await json('providers list'));
  expect(await json('providers resume sandbox-bank')).toMatchObject({ ended: ['float'] });
  expect((await bursar('providers resume sandbox-bank')).code).toBe(1);
  expect(await json('providers show sandbox-bank')).toMatchObject({
    faults: '',
    history: [{ name: 'float', needed_minor: 3_000, ended_at: expect.any(String) }],
    card_decisions: {
      deadline_ms: expect.any(Number),
      without_answer: 'decline',
      asks_again: true,
    },
  });
});

test('keys create sets label, addresses and expiry, and the key is accepted accordingly', async () => {
  const { id, key } = await json(
    `keys create --tenant ${tenantId} --level read --label shop --allow-ip 10.0.0.0/8 --allow-ip 2001:db8::1 --expires-in-days 30`,
  );
  const keys = service();
  expect(await keys.authenticate(key, '2001:db8::1')).toMatchObject({ id, level: 'read' });
  await expect(keys.authenticate(key, '192.0.2.1')).rejects.toMatchObject({
    code: 'ip_not_allowed',
  });
  await keys.idle();
  const [listed] = await json(`keys list --tenant ${tenantId}`);
  expect(listed).toMatchObject({
    id,
    kind: 'secret',
    label: 'shop',
    allowed_ips: ['10.0.0.0/8', '2001:db8::1/128'],
    rotation_due: false,
  });
  const livesMs = Date.parse(listed.expires_at) - Date.parse(listed.created_at);
  expect(Math.round(livesMs / DAY_MS)).toBe(30);
});

test('keys create narrows a key to its scopes, and a rotated key keeps them', async () => {
  const made = await json(
    `keys create --tenant ${tenantId} --level write --scope payments --scope webhooks`,
  );
  const keys = service();
  const scopes = ['payments', 'webhooks'];
  expect(await keys.authenticate(made.key, '192.0.2.1')).toMatchObject({ scopes });
  const rotated = await json(`keys rotate ${made.id}`);
  expect(await keys.authenticate(rotated.key, '192.0.2.1')).toMatchObject({ scopes });
  await keys.idle();
  expect(await json(`keys list --tenant ${tenantId}`)).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: rotated.id, scopes })]),
  );
  for (const rest of ['--scope everything', '--public --scope payments']) {
    const { code } = await bursar(`keys create --tenant ${tenantId} --level write ${rest}`);
    expect([rest, code]).toEqual([rest, 1]);
  }
});

test('keys create refuses an invalid address or number of days with the reason, and creates no key', async () => {
  const create = (rest: string) => bursar(`keys create --level write ${rest}`);
  const count = () => database.db.collection('api_keys').countDocuments();
  const before = await count();
  await Promise.all(
    [
      [`--tenant ${tenantId} --allow-ip office`, 'neither an address nor a CIDR range'],
      [`--tenant ${tenantId} --expires-in-days 1.5`, 'a whole number from 1'],
    ].map(async ([rest = '', reason = '']) =>
      expect(await create(rest)).toEqual({ code: 1, out: expect.stringContaining(reason) }),
    ),
  );
  expect(await count()).toBe(before);
});

test('keys list names a key that should be rotated; keys rotate and keys revoke end it', async () => {
  const old = await json(`keys create --tenant ${tenantId} --level admin`);
  await database.db
    .collection<{ _id: string }>('api_keys')
    .updateOne({ _id: old.id }, { $set: { created_at: new Date(Date.now() - 91 * DAY_MS) } });
  const { out } = await bursar(`keys list --tenant ${tenantId}`);
  for (const text of [out, (await bursar('keys list')).out]) {
    expect(text.split('\n').at(-1)).toBe(`older than 90 days, to be rotated: ${old.id}`);
  }
  const inUse = async (): Promise<{ id: string; tenant: string }[]> => json('keys list');
  expect(await inUse()).toContainEqual(
    expect.objectContaining({ id: old.id, tenant: tenantId, rotation_due: true }),
  );
  const expired = await json(`keys create --tenant ${tenantId} --level read`);
  await database.db
    .collection<{ _id: string }>('api_keys')
    .updateOne({ _id: expired.id }, { $set: { expires_at: new Date(Date.now() - 1) } });
  expect((await inUse()).map(({ id }) => id)).not.toContain(expired.id);

  const made = await json(`keys rotate ${old.id} --overlap-hours 2`);
  expect(Date.parse(made.old_expires_at) - Date.now()).toBeLessThanOrEqual(2 * 60 * 60 * 1000);
  const keys = service();
  for (const { key } of [old, made]) {
    expect(await keys.authenticate(key, '192.0.2.1')).toMatchObject({ level: 'admin' });
  }
  expect((await keys.list(tenantId)).filter((key) => key.rotationDue)).toEqual([]);
  expect(await bursar(`keys rotate ${old.id}`)).toEqual({
    code: 1,
    out: expect.stringContaining('there is no key'),
  });
  await json(`keys revoke ${old.id}`);
  expect((await inUse()).map(({ id }) => id)).not.toContain(old.id);
  const later = service();
  await expect(later.authenticate(old.key, '192.0.2.1')).rejects.toMatchObject({
    code: 'expired_key',
  });
  await Promise.all([keys.idle(), later.idle()]);
});

test('tenants update changes plan, rate, features and safeguards by name and shows them', async () => {
  const changed = await json(
    `tenants update ${tenantId} --plan enterprise --rate-per-minute 70 --feature cards=off --feature billpay=off --safeguard kyc=2 --min-amount-minor 200 --max-amount-minor 900`,
  );
  expect(changed).toMatchObject({
    plan: 'enterprise',
    rate_per_minute: 70,
    burst_per_minute: 105,
    min_amount_minor: 200,
    max_amount_minor: 900,
    cards: false,
    billpay: false,
    identity: true,
    safeguards: { kyc: 2, card_fund: 30, card_events: 60, name_enquiry: 300 },
  });
  const shown = await json(`tenants update ${tenantId} --plan-rate --plan growth`);
  expect(shown).toEqual({
    ...changed,
    plan: 'growth',
    rate_per_minute: 5_000,
    burst_per_minute: 7_500,
  });
  expect(await json(`tenants show ${tenantId}`)).toEqual(shown);
  await Promise.all(
    [
      [`${tenantId} --feature cards=maybe`, 'on or off'],
      [`${tenantId} --min-amount-minor 901`, 'above the highest'],
      [`${tenantId} --rate-per-minute 9999999999`, 'a whole number from 1'],
      ['ten_nobody --plan scale', 'there is no tenant'],
    ].map(async ([line, reason = '']) =>
      expect(await bursar(`tenants update ${line}`)).toEqual({
        code: 1,
        out: expect.stringContaining(reason),
      }),
    ),
  );
});

test('ledger close closes the days that are over, and ledger verify continues an interrupted verification', async () => {
  const postings = database.db.collection<{ _id: string }>('postings');
  await json(`wallets credit --tenant ${tenantId} --amount-minor 700 --reference closing`);
  await postings.updateMany({ tenant_id: tenantId }, [
    { $set: { at: { $subtract: ['$at', 3 * DAY_MS] } } },
  ]);
  const before = await json(`wallets show --tenant ${tenantId}`);
  expect(await json('ledger close')).toEqual({ ok: true, closed: 1, refused: [] });
  expect(await json(`wallets show --tenant ${tenantId}`)).toEqual(before);
  expect(await json('ledger verify')).toMatchObject({ ok: true, closed_days: 1, problems: [] });
  expect((await bursar('ledger verify --resume')).out).toContain('no interrupted verification');

  await beginVerification(database.db, { tenantId });
  expect(await json('ledger verify --resume')).toMatchObject({ ok: true, closed_days: 1 });
  await postings.updateOne({ _id: `credit/${tenantId}/closing` }, [
    { $set: { at: { $add: ['$at', 1] } } },
  ]);
  const changed = await bursar(`ledger verify --tenant ${tenantId} --json`);
  expect([changed.code, JSON.parse(changed.out)]).toMatchObject([1, { problems_found: 1 }]);
  expect((await bursar('ledger verify --from 2026-13-01')).out).toContain('must be a day');
});

test('ledger archive moves old closed days into files, and the tenant is verified without them', async () => {
  const postings = database.db.collection<{ _id: string }>('postings');
  const { id } = await createTenants({ db: database.db, environment: 'sandbox' }).create({
    name: 'Old',
    plan: 'sandbox',
  });
  await json(`wallets credit --tenant ${id} --amount-minor 700 --reference old`);
  await postings.updateMany({ tenant_id: id }, [
    { $set: { at: { $subtract: ['$at', 40 * DAY_MS] } } },
  ]);
  await json('ledger close');
  const folder = mkdtempSync(join(tmpdir(), 'bursar-archive-'));
  const archive = `ledger archive --to ${folder} --tenant ${id} --older-than-days`;
  expect((await bursar(`${archive} 29`)).out).toContain('from 30 to');
  expect(await json(`${archive} 39`)).toMatchObject({
    ok: true,
    archived_days: 1,
    removed: { postings: 1 },
  });
  expect(readdirSync(join(folder, id))).toHaveLength(1);
  expect(await postings.countDocuments({ tenant_id: id })).toBe(0);
  expect(await json(`${archive} 39`)).toMatchObject({ archived_days: 0, removed: {} });
  expect(await json(`wallets show --tenant ${id}`)).toMatchObject({ available_minor: 700 });
  expect(await json(`ledger verify --tenant ${id}`)).toMatchObject({ ok: true, postings: 1 });
  rmSync(folder, { recursive: true });
});

test('an archived transfer is shown and listed as before, and the verification has the same result', async () => {
  const { db } = database;
  const { id: tenant } = await createTenants({ db, environment: 'sandbox' }).create({
    name: 'Archived',
    plan: 'sandbox',
  });
  await json(`wallets credit --tenant ${tenant} --amount-minor 5000000 --reference for-archives`);
  const groupCommit = createGroupCommit(database);
  const transfers = createTransfers(database, groupCommit, 1_000);
  const at = new Date(Date.now() - 40 * DAY_MS);
  const ids: string[] = [];
  for (const kind of ['succeeded', 'rejected'] as const) {
    const transfer = pendingTransfer({
      _id: idMadeAt(at),
      tenant_id: tenant,
      created_at: at,
      next_check_at: at,
    });
    await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
    const about = { amountMinor: null, sessionId: 's', code: 'account_closed' };
    await transfers.applyFact(tenant, transfer._id, { ...byProvider, ...about, kind });
    ids.push(transfer._id);
  }
  const postings = db.collection<{ _id: string }>('postings');
  await postings.updateMany({ tenant_id: tenant }, [
    { $set: { at: { $subtract: ['$at', 40 * DAY_MS] } } },
  ]);
  await json('ledger close');
  const shown = () => Promise.all(ids.map((id) => json(`transfers show ${id}`)));
  const rows = async (): Promise<{ tenant: string }[]> => json('transfers list');
  const before = await shown();
  const listed = (await rows()).filter((row) => row.tenant === tenant);
  const verified = await json(`ledger verify --tenant ${tenant}`);
  expect([before.length, listed.length, verified.ok]).toEqual([2, 2, true]);

  const folder = mkdtempSync(join(tmpdir(), 'bursar-archive-'));
  await json(`ledger archive --to ${folder} --tenant ${tenant} --older-than-days 39`);
  expect((await bursar(`transfers show ${ids[0]}`)).code).toBe(1);
  const from = `--from ${folder} --tenant ${tenant}`;
  const archived = await Promise.all(ids.map((id) => json(`ledger archived show ${id} ${from}`)));
  expect(archived).toEqual(before);
  const month = lagosDay(at).slice(0, 7);
  const inMonth = await json(`ledger archived list ${from} --month ${month}`);
  expect(inMonth).toEqual(listed);
  expect(await json(`ledger archived list ${from} --month 2020-02`)).toEqual([]);
  const after = await json(`ledger verify --tenant ${tenant}`);
  expect(after).toMatchObject({ ok: true, postings: verified.postings, problems: [] });

  // A file that was changed proves nothing.
  const [file = ''] = readdirSync(join(folder, tenant));
  writeFileSync(join(folder, tenant, file), 'changed');
  expect((await bursar(`ledger archived show ${ids[0]} ${from}`)).code).toBe(1);
  rmSync(folder, { recursive: true });
});

/** An id of a transfer that was made at this time. */
function idMadeAt(at: Date): string {
  const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
  bytes.writeUIntBE(at.getTime(), 0, 6);
  return idOf('transfer', bytes);
}

test('restored is in the audit log, although nobody can sign in yet', async () => {
  const before = (await json('audit list')).length;
  expect(await json('restored --yes')).toMatchObject({
    presumed_submitted: { transfers: expect.any(Number) },
  });
  const entries = await json('audit list');
  expect(entries).toHaveLength(before + 1);
  expect(entries).toContainEqual(
    expect.objectContaining({
      action: 'database.restored',
      operator: null,
      name: 'restored database',
    }),
  );
  expect(await json('audit verify')).toMatchObject({ ok: true });
});
