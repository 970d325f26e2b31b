import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { cardClient } from '../support/cards.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { issuerClient, type IssuerClient } from '../support/issuer.js';
import { shareService, type Service } from '../support/service.js';

let service: Service;
let issuer: IssuerClient;

beforeAll(async () => {
  service = await shareService();
  issuer = issuerClient(service);
});
afterAll(async () => {
  const problems = await service.problems();
  await service.close();
  expect(problems).toEqual([]);
});

/** The differences of a comparison of card payments, without those of other files in this service. */
async function reconcile(ids: readonly string[], flags = '') {
  const line = `reconcile --only card-authorizations --per-second 1000 --json ${flags}`.trim();
  const { out } = await bursar(line, service.env);
  const { differences } = JSON.parse(out) as { differences: { id: string }[] };
  return differences
    .filter(({ id }) => ids.includes(id))
    .toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

test('reports about ended payments that no message told are found, and are booked only with --apply', async () => {
  const tenant = await service.tenant({ balanceMinor: 100_000 });
  const { id: card } = await cardClient(tenant).issue({ funding: 'jit' });
  const payments = service.deps.database.db.collection<CardAuthorization>('card_authorizations');
  /** A payment of 5,000 of which 4,200 were cleared. */
  async function cleared(): Promise<{ token: string; id: string }> {
    const { token } = await issuer.pay(card);
    await issuer.end(token, 'cleared', 4_200);
    const { _id: id } = await eventually('the payment is cleared', async () => {
      const found = await payments.findOne({ token, status: 'cleared' });
      return found ?? undefined;
    });
    return { token, id };
  }
  const [agreed, refunded, more] = [await cleared(), await cleared(), await cleared()];
  await issuer.end(refunded.token, 'refunded', 1_200, { report: false });
  await issuer.end(more.token, 'cleared', 300, { report: false });
  const ids = [agreed.id, refunded.id, more.id];
  // A hold of seven days has kept this one out of the days that are compared.
  const created = new Date(Date.now() - 8 * DAY_MS);
  await payments.updateOne({ _id: refunded.id }, { $set: { created_at: created } });
  const before = { available: 87_400, held: 0 };

  const difference = 'cleared with us, with reports at the issuer that are missing here';
  const found = [
    { id: refunded.id, amount_minor: 1_200, difference },
    { id: more.id, amount_minor: 300, difference },
  ];
  expect(await reconcile(ids)).toMatchObject(found);
  expect(await tenant.balance()).toEqual(before);
  const applied = found.map((each) => ({ ...each, outcome: 'applied' }));
  expect(await reconcile(ids, '--apply')).toMatchObject(applied);
  expect(await tenant.balance()).toEqual({ available: 88_300, held: 0 });
  expect(await reconcile(ids)).toEqual([]);
});

test('an operator has the issuer asked about one payment: missing reports are booked once, and show names who paid', async () => {
  const tenant = await service.tenant({ balanceMinor: 100_000 });
  const { id: card } = await cardClient(tenant).issue({ funding: 'jit' });
  const payments = service.deps.database.db.collection<CardAuthorization>('card_authorizations');
  const paid = async () => {
    const { token } = await issuer.pay(card);
    const { _id: id } = await eventually('the payment is held', async () => {
      const found = await payments.findOne({ token, status: 'approved' });
      return found ?? undefined;
    });
    return { token, id };
  };
  const run = async (line: string) => {
    const { out, error } = await bursar(`card-authorizations ${line} --json`, service.env);
    return error === '' ? (JSON.parse(out) as Record<string, unknown>) : error;
  };
  const verify = (id: string) => run(`verify ${id} --reason desk`);
  const { token, id } = await paid();
  await issuer.end(token, 'cleared', 4_200, { report: false });
  await issuer.end(token, 'refunded', 1_200, { report: false });
  const difference = 'with reports at the issuer that are missing here';
  expect(await verify(id)).toMatchObject({
    id,
    status: 'cleared',
    issuer: `approved with us, ${difference}: applied`,
  });
  expect(await verify(id)).toMatchObject({ id, issuer: 'agrees with us' });
  expect(await tenant.balance()).toEqual({ available: 97_000, held: 0 });
  expect(await run(`show ${id}`)).toMatchObject({
    token,
    messages: [{ kind: 'authorization', amount_minor: 5_000, approved: true }],
    facts: [{ fact: 'approved' }, { fact: 'cleared' }, { fact: 'refunded', amount_minor: 1_200 }],
    payers: [{ from: 'wallet', amount_minor: 3_000 }],
  });
});
