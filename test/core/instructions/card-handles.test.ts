import { createCardFundingActivities } from '../../../activities/card-fundings.js';
import { createCardUnloadActivities } from '../../../activities/card-unloads.js';
import {
  createCardDisputeActivities,
  type CardDisputeActivityDeps,
} from '../../../activities/card-disputes.js';
import { createCardIssuanceActivities } from '../../../activities/cards.js';
import { aboutFunding } from '../../../src/capabilities/card-fundings/provider-calls.js';
import { expire } from '../../../src/capabilities/card-fundings/transitions.js';
import type { CardDispute } from '../../../src/capabilities/card-disputes/record.js';
import {
  newOperation,
  type CardOperation,
} from '../../../src/capabilities/cards/card-operation.js';
import { createCardOperationStore } from '../../../src/capabilities/cards/store.js';
import { createIdentityCheckCalls } from '../../../src/capabilities/identity-checks/provider-calls.js';
import { newIdentityCheck } from '../../../src/capabilities/identity-checks/record.js';
import type { CardIssuer, FundAnswer } from '../../../src/core/providers/card-issuer.js';
import type { IdentityProvider } from '../../../src/core/providers/identity-provider.js';
import type { About } from '../../../src/core/providers/port.js';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import { asActivity } from '../../support/activity-context.js';
import { openCard } from '../../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { pendingFunding } from '../../support/fundings.js';
import { withEmptyParts } from '../../support/parts.js';
import { NOW } from '../../support/transfers.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const never = new AbortController().signal;
const trace = { providerRequestId: null };
const HANDLE = 'funding-7';
const PENDING = { kind: 'pending', handle: HANDLE, ...trace } as const;
const FUNDED = { kind: 'funded', amountMinor: 300n, handle: HANDLE, ...trace } as const;
const STILL = { kind: 'pending', ...trace } as const;

/** The activities of cards at an issuer that answers so, with the questions that it gets. */
function cardsAt(answer: FundAnswer) {
  const asked: [call: string, about: About][] = [];
  const noting =
    <Answer>(call: string, said: Answer) =>
    (about: About) => {
      asked.push([call, about]);
      return Promise.resolve(said);
    };
  const issuer = withEmptyParts<CardIssuer>({
    name: 'sandbox-bank',
    cards: { resendSafety: { kind: 'never' }, balances: 'issuer' } as CardIssuer['cards'],
    issue: () => Promise.resolve(PENDING),
    fund: () => Promise.resolve(answer),
    unload: () => Promise.resolve(PENDING),
    submitDispute: () => Promise.resolve(PENDING),
    findCard: noting('findCard', STILL),
    findFunding: noting('findFunding', answer.kind === 'funded' ? FUNDED : STILL),
    reverseFunding: noting('reverseFunding', { kind: 'reversed', ...trace } as const),
    findUnload: noting('findUnload', STILL),
    findDispute: noting('findDispute', { kind: 'not_found', ...trace } as const),
    withdrawDispute: noting('withdrawDispute', { kind: 'withdrawn', ...trace } as const),
  });
  const operations = createCardOperationStore(database, 2_000);
  const disputes = new Map<string, CardDispute>();
  const get = async (_tenant: string, id: string) => disputes.get(id) ?? null;
  const card = openCard({ tenant_id: newId('tenant') });
  const deps = withEmptyParts<CardDisputeActivityDeps>({
    log: createLog({ level: 'silent', name: 'test' }),
    cards: {
      operations,
      store: withEmptyParts<CardDisputeActivityDeps['cards']['store']>({
        get: () => Promise.resolve(card),
      }),
    },
    cardDisputes: {
      store: withEmptyParts<CardDisputeActivityDeps['cardDisputes']['store']>({ get }),
    },
    providers: { issuer: () => issuer },
  });
  const insert = async <Operation extends CardOperation>(operation: Operation) => {
    await database.db.collection<CardOperation>('card_operations').insertOne(operation);
    return operation;
  };
  return { asked, deps, operations, disputes, card, insert };
}

const first = ({ tenant_id: tenantId, _id: id }: CardOperation) => ({
  tenantId,
  id,
  submissions: 0,
});
const later = ({ tenant_id: tenantId, _id: id }: CardOperation) => ({
  tenantId,
  id,
  nextPollMs: 1_000,
});

/** A late just-in-time funding and its reversal, which begins before the answer to the funding. */
async function reversedFunding(answer: FundAnswer) {
  const { asked, deps, operations, card, insert } = cardsAt(answer);
  const { submitCardFunding, verifyCardFunding } = createCardFundingActivities(deps);
  const deadline = new Date(Date.now() + 60_000);
  const funding = await insert(
    pendingFunding({ tenant_id: card.tenant_id, type: 'jit_fund', deadline_at: deadline }),
  );
  const reversal = expire({ ...funding, submissions: 1, status: 'processing' }, deadline);
  if (!reversal?.fundReversal) throw new Error('there is no reversal');
  await insert(reversal.fundReversal);
  await asActivity(() => submitCardFunding(first(funding)));
  return { asked, operations, funding, reversal: reversal.fundReversal, verifyCardFunding };
}

test('a funding is looked up by the id of its acknowledgement', async () => {
  const { asked, funding, verifyCardFunding } = await reversedFunding(PENDING);
  await asActivity(() => verifyCardFunding(later(funding)));
  expect(asked).toEqual([['findFunding', { reference: funding._id, handle: HANDLE }]]);
});

test('a reversal asks about its funding by the id that the answer to the funding has named since, also a final one', async () => {
  const { asked, operations, funding, reversal, verifyCardFunding } = await reversedFunding(FUNDED);
  await asActivity(() => verifyCardFunding(later(reversal)));
  const about = { reference: funding._id, handle: HANDLE };
  expect(asked).toEqual([
    ['findFunding', about],
    ['reverseFunding', about],
  ]);
  expect(await aboutFunding(operations, reversal)).toEqual(about);
});

test('an unloading and the issuance of a card are looked up by the ids of their acknowledgements', async () => {
  const { asked, deps, card, insert } = cardsAt(PENDING);
  const of = { tenant_id: card.tenant_id, card_id: card._id, provider: 'sandbox-bank' };
  const { submitCardUnload, verifyCardUnload } = createCardUnloadActivities(deps);
  const unload = await insert(
    newOperation({ ...of, type: 'unload', amount_minor: 300n }, NOW, 'a test'),
  );
  await asActivity(() => submitCardUnload(first(unload)));
  await asActivity(() => verifyCardUnload(later(unload)));
  const { submitCardIssuance, verifyCardIssuance } = createCardIssuanceActivities(deps);
  const issue = await insert(newOperation({ ...of, type: 'issue' }, NOW, 'a test'));
  await asActivity(() => submitCardIssuance(first(issue)));
  await asActivity(() => verifyCardIssuance(later(issue)));
  expect(asked).toEqual([
    ['findUnload', { reference: unload._id, handle: HANDLE }],
    // Its reference at the issuer is the card.
    ['findCard', { reference: card._id, handle: HANDLE }],
  ]);
});

test('a dispute is looked up and withdrawn by the id of its submission', async () => {
  const { asked, deps, card, disputes, insert } = cardsAt(PENDING);
  const activities = createCardDisputeActivities(deps);
  const id = newId('cardDispute');
  const of = {
    tenant_id: card.tenant_id,
    card_id: card._id,
    provider: 'sandbox-bank',
    dispute_id: id,
  };
  const submission = await insert(newOperation({ ...of, type: 'dispute' }, NOW, 'a test'));
  disputes.set(
    id,
    withEmptyParts<CardDispute>({
      _id: id,
      tenant_id: card.tenant_id,
      card_id: card._id,
      operation_id: submission._id,
      amount_minor: 300n,
    }),
  );
  await asActivity(() => activities.submitCardDispute(first(submission)));
  await asActivity(() => activities.verifyCardDispute(later(submission)));
  const withdrawal = await insert(
    newOperation({ ...of, type: 'dispute_withdrawal' }, NOW, 'a test'),
  );
  await asActivity(() => activities.submitCardDispute(first(withdrawal)));
  const about = { reference: submission._id, handle: HANDLE };
  expect(asked).toEqual([
    ['findDispute', about],
    ['withdrawDispute', about],
  ]);
});

test('an identity check is looked up by the id that its record has', async () => {
  const check = newIdentityCheck(
    {
      _id: newId('identityCheck'),
      tenant_id: newId('tenant'),
      customer_id: 'customer-1',
      customer: 'cus_1',
      check_type: 'bvn',
      provider: 'registry',
      sealed: null,
      last4: '6789',
      number_index: 'index',
    },
    NOW,
  );
  const asked: About[] = [];
  const provider = withEmptyParts<IdentityProvider>({
    verifyCheck(about) {
      asked.push(about);
      return Promise.resolve(STILL);
    },
  });
  const calls = createIdentityCheckCalls({
    providers: { identity: () => provider },
    sealing: { open: () => null },
  });
  await calls.verify({ ...check, handle: 'check-3' }, never);
  expect(asked).toEqual([{ reference: check._id, handle: 'check-3', acceptedAt: null }]);
});
