import { createFindOwner } from '../../../src/capabilities/cards/provider-events.js';
import { createCardStore } from '../../../src/capabilities/cards/store.js';
import { createStateRechecks } from '../../../src/capabilities/card-states/store.js';
import { createTokens } from '../../../src/capabilities/payment-tokens/store.js';
import { createVirtualAccounts } from '../../../src/capabilities/virtual-accounts/store.js';
import { migrations } from '../../../src/composition/migrations.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase(migrations);
});
afterAll(() => database.close());

/** The plans of the queries of one collection that an action makes, as MongoDB has executed them. */
async function plansOf(collection: string, act: () => Promise<unknown>): Promise<string[]> {
  const { db } = database;
  await db.setProfilingLevel('all');
  await act();
  await db.setProfilingLevel('off');
  const found = await db
    .collection('system.profile')
    .find({ ns: `${database.name}.${collection}`, op: 'query' })
    .toArray();
  await db.dropCollection('system.profile');
  return found.map(({ planSummary: plan }) => String(plan));
}

const sealing = createSealing([{ id: 'test', secret: Buffer.alloc(32, 's') }]);
const times = { stallTimeoutMs: 1_000, attentionAfterMs: 1_000 };
const message = { subject: 'card', reference: null, issuer_card: 'card-of-the-issuer', state: {} };

describe('a look-up over all tenants reads an index', () => {
  test.each<[what: string, collection: string, field: string, act: () => Promise<unknown>]>([
    [
      'of a payment token by its authorization',
      'payment_tokens',
      'authorization_index',
      () =>
        createTokens(database, createGroupCommit(database), times, sealing).isInUse(
          'authorization',
        ),
    ],
    [
      'of a virtual account by its number',
      'virtual_accounts',
      'account_number',
      () =>
        createVirtualAccounts(database, createGroupCommit(database), 1_000).withNumber(
          'sandbox-bank',
          '0123456789',
        ),
    ],
    [
      'of a card by its id at the issuer',
      'cards',
      'issued.issuer_card_id',
      () => createCardStore(database).findIssued('sandbox-bank', 'card-of-the-issuer'),
    ],
    [
      'of the owner of an issuer’s message',
      'cards',
      'issued.issuer_card_id',
      () => createFindOwner(database)('sandbox-bank', message as never),
    ],
    [
      'of cards whose state is in doubt',
      'cards',
      'state_control.doubted_at',
      () =>
        createStateRechecks({
          ...database,
          groupCommit: createGroupCommit(database),
          recheckMs: 1,
        })(10),
    ],
  ])('%s', async (_what, collection, field, act) => {
    const plans = await plansOf(collection, act);
    expect(plans).toHaveLength(1);
    expect(plans[0]).toMatch(/^IXSCAN/);
    expect(plans[0]).toContain(`${field}: 1`);
  });
});
