import { createFindOwner } from '../../../src/capabilities/cards/provider-events.js';
import { reconciledFundings } from '../../../src/capabilities/card-fundings/comparison.js';
import { reconciledAuthorizations } from '../../../src/capabilities/card-authorizations/comparison.js';
import {
  newAuthorization,
  type CardAuthorization,
} from '../../../src/capabilities/card-authorizations/record.js';
import { createCardStore } from '../../../src/capabilities/cards/store.js';
import { createStateRechecks } from '../../../src/capabilities/card-states/store.js';
import { createTokens } from '../../../src/capabilities/payment-tokens/store.js';
import { createVirtualAccounts } from '../../../src/capabilities/virtual-accounts/store.js';
import { migrations } from '../../../src/composition/migrations.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import type { CardIssuer } from '../../../src/core/providers/card-issuer.js';
import { ProviderNotConfigured } from '../../../src/core/providers/not-configured.js';
import { emptyReport } from '../../../src/core/reconciliation/comparison.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { pendingFunding } from '../../support/fundings.js';
import { withEmptyParts } from '../../support/parts.js';
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
  return found.map(
    ({ planSummary: plan, hasSortStage }) =>
      `${plan}${hasSortStage === true ? ', and a sort' : ''}`,
  );
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
      'of a payment token by the id of its page at the provider',
      'payment_tokens',
      'setup.handle',
      () =>
        createTokens(database, createGroupCommit(database), times, sealing).withSetup(
          'paystack',
          'ref_of_the_provider',
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
          new Date(),
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

test('the fundings of a tenant that a reconciliation compares are read from their index, in its order', async () => {
  const { db } = database;
  const at = new Date();
  const fundings = Array.from({ length: 3 }, (_, i) =>
    pendingFunding({ _id: `cop_${i}`, created_at: at, status: 'completed' }),
  );
  await db.collection('card_operations').insertMany(fundings as object[]);
  const reconciled = reconciledFundings({
    database,
    groupCommit: createGroupCommit(database),
    cards: withEmptyParts({}),
    providers: { issuers: [], issuer: notConfigured },
  });
  const report = emptyReport();
  const breaks = { note: async () => undefined };
  const run = { apply: false, takeTurn: async () => undefined, report, breaks };
  const scope = { since: at, tenants: ['ten_a'] };
  const from = { tenant: 'ten_a', after: null, until: new Date(at.getTime() + 1).toISOString() };
  const plans = await plansOf('card_operations', () => reconciled.reconcilePage(run, scope, from));
  expect(report).toMatchObject({ asked: fundings.length, unanswered: fundings.length });
  const ofIndex = 'IXSCAN { tenant_id: 1, type: 1, created_at: 1, _id: 1 }';
  expect(plans).toHaveLength(1);
  expect(new Set(plans[0]?.match(/[A-Z]+ \{[^}]*\}/g))).toEqual(new Set([ofIndex]));
});

test('a comparison of card payments reads an index in its order, from the time of a hold before, and each payment is on one page, also those of one moment', async () => {
  const { db } = database;
  const at = (ms: number) => new Date(1_700_000_000_000 + ms);
  const payment = (id: number, createdAt: Date, status: CardAuthorization['status']) => {
    const key = { tenantId: 'ten_a', id: `aut_${id}`, card: 'crd_a', provider: 'p', token: '' };
    return { ...newAuthorization({ ...key, token: `${id}` }, null, createdAt), status };
  };
  const moments = [0, 1, 1, 1, 2, 3, 4];
  const statuses = ['cleared', 'declined', 'cleared', 'expired', 'reversed'] as const;
  const payments = moments.map((ms, id) =>
    payment(id, at(ms), statuses[id % statuses.length] ?? 'cleared'),
  );
  await db.collection<CardAuthorization>('card_authorizations').insertMany(payments);
  const asked: string[] = [];
  const holdMs = 3;
  const reconciled = reconciledAuthorizations({
    config: { cards: { authorizationTerms: { holdMs } } },
    database,
    cardAuthorizations: withEmptyParts({}),
    providers: {
      issuer: () =>
        withEmptyParts<CardIssuer>({
          async findAuthorization(token: string) {
            asked.push(token);
            return { kind: 'not_found', providerRequestId: null };
          },
        }),
    },
  });
  const report = emptyReport();
  const breaks = { note: async () => undefined };
  const run = { apply: false, takeTurn: async () => undefined, report, breaks };
  const scope = { since: at(holdMs), tenants: ['ten_0', 'ten_a'], limit: 2 };
  const compare = async () => {
    let position = await reconciled.reconcilePage(run, scope, null);
    while (position !== null) position = await reconciled.reconcilePage(run, scope, position);
  };
  const plans = await plansOf('card_authorizations', compare);
  expect(asked.toSorted()).toEqual(payments.map(({ token }) => token));
  const ofIndex = 'IXSCAN { tenant_id: 1, created_at: -1, status: 1, _id: -1 }';
  expect(new Set(plans)).toEqual(new Set([ofIndex]));
  // A tenant that is not listed any more hides no payment of those after it.
  asked.length = 0;
  const after = { id: 'aut_9', createdAt: at(3).toISOString() };
  const gone = { tenant: 'ten_1', after, until: at(9).toISOString() };
  await reconciled.reconcilePage(run, { ...scope, tenants: ['ten_0', 'ten_a'] }, gone);
  expect(asked[0]).toBe(payments[0]?.token);
});

function notConfigured(name: string): never {
  throw new ProviderNotConfigured(name, 'cards');
}
