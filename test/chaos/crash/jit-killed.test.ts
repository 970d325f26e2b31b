import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import { isOpen } from '../../../src/core/instructions/instruction.js';
import { cardClient, type CardClient } from '../../support/cards.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/**
 * kill -9 of API and worker around the deadline of just-in-time fundings, at an issuer that executes a repeated request
 * twice. Temporal times a dead worker's activities out after 20 s, so one test has all cases.
 */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;

/** Suffixes of fundings: in time, without an answer, never, late, and late without a reversal. */
const WAYS = ['789', '004', '005', '012', '013'];
/** Ages of the fundings at the crash: during the reversal, at the deadline, in flight, and not submitted. */
const AGES_MS = [2_600, 2_000, 1_000, 50];
const AMOUNT = 5_000;

beforeAll(async () => {
  // The worker waits for the issuer's answer until it is killed.
  const env = { SANDBOX_BANK_TIMEOUT_MS: '10000', BURSAR_JIT_DEADLINE_MS: '2000' };
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

test('every just-in-time funding becomes terminal after a crash around its deadline, and its money is in one place', async () => {
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
    // A client with a final answer got the true one.
    if (reply?.status === 'fulfilled' && reply.value.status !== 503) {
      expect(reply.value.body.data.status).toBe(funding?.status);
    }
    const { status } = fundReversal ?? funding ?? {};
    const { available_minor: available } = await cards.balance(id);
    expect([way, available]).toEqual([way, status === 'completed' ? AMOUNT : 0]);
    // The card keeps the money of a failed funding, which requires an operator's attention.
    if (fundReversal?.status === 'completed') expect(funding?.attention).not.toBeNull();
  }
  expect(await service.problems()).toEqual([]);
});
