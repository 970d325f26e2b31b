import { isOpen } from '../../src/core/instructions/instruction.js';
import { cardClient, type CardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

/** The issuer finds cards, fundings, unloadings and disputes by its own ids alone. */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await startService({ oneProcess: true, env: { SANDBOX_BANK_CARD_LOOKUP: 'id' } });
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service.close());

const stored = async (id: string) => {
  const operation = await service.deps.cards.operations.get(tenant.id, id);
  if (!operation) throw new Error(`there is no ${id}`);
  return operation;
};

let names = 0;
const funding = (suffix: string) => ({
  amount_minor: 5_000,
  transaction_reference: `top-up-${(names += 1)}-${suffix}`,
});

test('a card is issued and funded, and a closed one gives its balance back', async () => {
  const { id } = await cards.issue();
  for (const suffix of ['789', '001']) {
    const { body } = await cards.act(id, 'fund', funding(suffix));
    await cards.waitForOperation(id, body.data.id, 'completed');
    expect((await stored(body.data.id)).handle).toMatch(/^funding-/);
  }
  await cards.act(id, 'close');
  await eventually('the balance is back in the wallet', async () =>
    (await cards.balance(id)).available_minor === 0 ? true : undefined,
  );
});

test('a just-in-time funding that is pending at its deadline is found by the id of its answer, and reversed', async () => {
  const { id: card } = await cards.issue();
  const { id } = await inTries(
    5,
    async () => (await cards.act(card, 'jit-fund', funding('006'))).body.data,
    async (operation) => (await stored(operation.id)).submissions > 0,
  );
  await eventually('the funding is reversed', async () => {
    const reversal = await stored(`${id}-reversal`).catch(() => null);
    return reversal && !isOpen(reversal) ? true : undefined;
  });
  expect(await stored(`${id}-reversal`)).toMatchObject({ status: 'failed', attention: null });
  expect((await service.bank.journal(id)).map(({ kind }) => kind)).toEqual([]);
});

test('the books and the journal of the issuer agree', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
