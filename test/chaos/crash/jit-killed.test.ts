import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import { isOpen } from '../../../src/core/instructions/instruction.js';
import { cardClient, type CardClient } from '../../support/cards.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/**
 * kill -9 of API and worker around the deadline of just-in-time fundings, at an issuer that funds a repeated order
 * again. The dead worker's calls are given up by Temporal after their time-out of 20 s, so all of it happens in one run.
 */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;

/** Funded in time, without an answer, not at all, late, late and for good. */
const WAYS = ['789', '004', '005', '012', '013'];
/** How old they are when everything dies: unsent, under way, at the deadline, and while they are unwound. */
const AGES_MS = [2_600, 2_000, 1_000, 50];
const AMOUNT = 5_000;

beforeAll(async () => {
  // The worker waits for the issuer's answer longer than it has to live.
  const env = { SANDBOX_BANK_TIMEOUT_MS: '10000' };
  service = await startService({ bank: { deduplicate: false, conclusiveAfterMs: 3_000 }, env });
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service?.close());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const operationsOf = () =>
  service.deps.database.db
    .collection<CardOperation>('card_operations')
    .find({ tenant_id: tenant.id, type: { $in: ['jit_fund', 'fund_reversal'] } })
    .toArray();

test('killed around the deadline: every funding ends, and its money is in one place', async () => {
  const issued = await Promise.all(
    AGES_MS.flatMap(() => WAYS.map(async (way) => ({ way, id: (await cards.issue()).id }))),
  );
  const oldest = Math.max(...AGES_MS);
  const answers = AGES_MS.map(async (age, i) => {
    await sleep(oldest - age);
    const own = issued.slice(i * WAYS.length, (i + 1) * WAYS.length);
    return Promise.allSettled(
      own.map(({ id, way }) =>
        cards.act(id, 'jit-fund', {
          amount_minor: AMOUNT,
          transaction_reference: `jit-${i}-${way}`,
        }),
      ),
    );
  });
  await sleep(oldest);
  await Promise.all([service.api.kill(), service.worker.kill()]);
  const answered = (await Promise.all(answers)).flat();
  const left = (await operationsOf()).map(({ type, status }) => `${type} ${status}`);
  expect(left).toEqual(expect.arrayContaining([expect.stringMatching(/pending|processing/)]));
  await Promise.all([service.api.start(), service.worker.start()]);

  await eventually('everything has ended', async () =>
    (await operationsOf()).some(isOpen) ? undefined : true,
  );
  const operations = await operationsOf();
  const byCard = new Map(operations.map((one) => [`${one.type} ${one.card_id}`, one]));
  for (const [i, { id, way }] of issued.entries()) {
    const funding = byCard.get(`jit_fund ${id}`);
    const fundReversal = byCard.get(`fund_reversal ${id}`);
    const reply = answered[i];
    // Who was told its end was told the truth.
    if (reply?.status === 'fulfilled') {
      expect(reply.value.body.data.status).toBe(funding?.status);
    }
    const { status } = fundReversal ?? funding ?? {};
    const { available_minor: available } = await cards.balance(id);
    expect([way, available]).toEqual([way, status === 'completed' ? AMOUNT : 0]);
    // The money is there although the funding has failed: somebody has to know.
    if (fundReversal?.status === 'completed') expect(funding?.attention).not.toBeNull();
  }
  expect(await service.problems()).toEqual([]);
}, 200_000);
