import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { CardFundingInput } from '../../src/capabilities/card-fundings/workflow-contract.js';
import { sharedEngines } from '../support/engines.js';
import { installQuietRuntime } from '../support/quiet-runtime.js';

installQuietRuntime();

const { temporalAddress: address, bundle: codePath } = sharedEngines();
const namespace = 'bursar-sandbox';
const DEADLINE_MS = 1_000;

let connection: Connection;
let native: NativeConnection;

beforeAll(async () => {
  connection = await Connection.connect({ address });
  native = await NativeConnection.connect({ address });
});
afterAll(async () => {
  await native.close();
  await connection.close();
});

/**
 * Activities with chosen durations. They answer like ours for a funding that its issuer confirms at its deadline, while
 * the store's clock is behind and finds the deadline too early at first.
 */
function timedCalls(sent: EventTarget, { applyMs, expireMs }: Times) {
  let expiryCalls = 0;
  return {
    submitCardFundingLocally: async () => ({ kind: 'not_attempted' }),
    async submitCardFunding() {
      sent.dispatchEvent(new Event('sent'));
      await sleep(DEADLINE_MS);
      return {
        kind: 'succeeded',
        amountMinor: null,
        providerRequestId: null,
        via: 'provider_answer',
      };
    },
    async expireCardFunding() {
      await sleep(expireMs);
      expiryCalls += 1;
      return { closed: expiryCalls > 1, fundReversalId: null };
    },
    async applyCardFundingOutcome() {
      await sleep(applyMs);
      return { status: 'completed', attention: null, monitored: true };
    },
    verifyCardFunding: async () => ({ kind: 'closed', attention: null }),
    readInstructionStatus: async () => ({ status: 'completed', attention: null }),
  };
}

type Times = { applyMs: number; expireMs: number };

test.each([
  ['the deadline', { applyMs: 100, expireMs: 600 }],
  ['the answer', { applyMs: 600, expireMs: 100 }],
])(
  'a run replays after a deadline and an answer that arrive together, if %s takes longer',
  async (_, times) => {
    const taskQueue = `overlap-${randomUUID()}`;
    const queue = `${taskQueue}-issuer`;
    const sent = new EventTarget();
    const activities = timedCalls(sent, times);
    const common = { connection: native, namespace, activities };
    const ours = () => Worker.create({ ...common, taskQueue, workflowBundle: { codePath } });

    const issuer = await Worker.create({ ...common, taskQueue: queue });
    const first = await ours();
    const running = [issuer.run(), first.run()];
    const isSent = once(sent, 'sent');
    const input: CardFundingInput = {
      id: 'cop_overlap',
      tenantId: 'ten_overlap',
      rateLimitKey: 'issuer',
      taskQueue: queue,
      acceptedAtMs: Date.now(),
      policy: { attentionAfterMs: 3_600_000, pollMaxMs: 3_000, maxSubmissions: 4, maxErrors: 12 },
      deadlineAtMs: Date.now() + DEADLINE_MS,
    };
    const handle = await new Client({ connection, namespace }).workflow.start('cardFunding', {
      workflowId: `card-funding/${randomUUID()}`,
      taskQueue,
      args: [input],
    });
    // Both arrive while no worker runs.
    await isSent;
    first.shutdown();
    await running[1];
    await sleep(2 * DEADLINE_MS);
    const second = await ours();
    await second.runUntil(handle.result());
    issuer.shutdown();
    await running[0];

    const history = await handle.fetchHistory();
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, history, handle.workflowId);
  },
);
