import { isOpen } from '../../src/core/instructions/instruction.js';
import { cardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';

/** An idempotent issuer, which states no time after which it no longer executes a request. */
let service: Service;

beforeAll(async () => {
  service = await startService({ oneProcess: true, env: { BURSAR_JIT_DEADLINE_MS: '2000' } });
});
afterAll(() => service?.close());

test('a just-in-time funding that an idempotent issuer executes 20 seconds after its deadline keeps its hold until it is reversed', async () => {
  const tenant = await service.tenant();
  const cards = cardClient(tenant);
  const before = await tenant.balance();
  const { id: card } = await cards.issue();
  const transaction_reference = 'late-execution-022';
  const made = await cards.act(card, 'jit-fund', { amount_minor: 5_000, transaction_reference });
  const { id, failure } = made.body.data;
  expect(failure?.code).toBe('deadline_exceeded');
  const { operations } = service.deps.cards;
  const journal = async () => (await service.bank.journal(id)).map(({ kind }) => kind);
  const ended = await eventually('the reversal has ended', async () => {
    const reversal = await operations.get(tenant.id, `${id}-reversal`);
    return reversal && !isOpen(reversal) ? reversal : undefined;
  });
  expect(ended).toMatchObject({ status: 'failed', attention: null, in_suspense: false });
  expect(await journal()).toEqual(['funded', 'funding_reversed']);
  expect(await tenant.balance()).toEqual(before);
  expect((await cards.balance(card)).available_minor).toBe(0);
  expect(await service.problems()).toEqual([]);
});
