import { MockActivityEnvironment } from '@temporalio/testing';
import { createCardFundingActivities } from '../../../activities/card-fundings.js';
import { createCardStateActivities } from '../../../activities/card-states.js';
import { createCardIssuanceActivities } from '../../../activities/cards.js';
import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import { noLocalSubmissions } from '../../../src/core/instructions/local-submission-limiter.js';
import type { SubmitInput } from '../../../src/core/instructions/workflow-contract.js';
import { cardClient, newCard, type CardClient } from '../../support/cards.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await startService({ workers: 0 });
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service?.close());

const operationOf = async (id: string) =>
  (await service.deps.cards.operations.find(id)) as CardOperation;

/** The activities of cards, as a worker runs them. `reads: false`: no card can be read. */
function activities({ reads }: { reads: boolean }) {
  const { store, operations } = service.deps.cards;
  const away = () => Promise.reject(new Error('the database is away'));
  const deps = {
    ...service.deps,
    localSubmissions: noLocalSubmissions,
    cards: { operations, store: reads ? store : { ...store, get: away } },
  };
  return {
    issue: createCardIssuanceActivities(deps).submitCardIssuance,
    lock: createCardStateActivities(deps).submitCardState,
    fund: createCardFundingActivities(deps).submitCardFunding,
  };
}

const run = (submit: (input: SubmitInput) => Promise<unknown>, id: string, submissions: number) =>
  new MockActivityEnvironment().run(submit, { tenantId: tenant.id, id, submissions });

test('a permit whose submission cannot be made, because our own database fails after it, is returned, and the next one submits once', async () => {
  const { body } = await cards.create(newCard('789'));
  const card = body.data.id;

  async function submitsOnce(kind: 'issue' | 'lock' | 'fund', id: string): Promise<void> {
    const journal = async () =>
      [...(await service.bank.journal(card)), ...(await service.bank.journal(id))].length;
    const before = await journal();
    expect(await run(activities({ reads: false })[kind], id, 0)).toMatchObject({
      kind: 'unsent',
      submissions: 1,
      possibleSubmissions: 0,
    });
    expect(await operationOf(id)).toMatchObject({ submissions: 1, rejected_submissions: 1 });
    expect(await journal()).toBe(before);
    expect(await run(activities({ reads: true })[kind], id, 1)).toMatchObject({
      kind: 'succeeded',
    });
  }

  const issue = await service.deps.cards.operations.issueOf({ _id: card, tenant_id: tenant.id });
  await submitsOnce('issue', String(issue?._id));
  expect((await cards.get(card)).status).toBe('active');
  await submitsOnce('fund', (await cards.act(card, 'fund', { amount_minor: 1_000 })).body.data.id);
  await submitsOnce('lock', (await cards.act(card, 'lock')).body.data.id);
});
