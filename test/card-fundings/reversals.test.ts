import type { CardActivityDeps } from '../../activities/cards.js';
import { createCardFundingActivities } from '../../activities/card-fundings.js';
import { fundReversalLabels } from '../../src/capabilities/card-fundings/workflow-contract.js';
import { expire } from '../../src/capabilities/card-fundings/transitions.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { createCardOperationStore } from '../../src/capabilities/cards/store.js';
import type { ProviderCallResult } from '../../src/core/instructions/workflow-contract.js';
import type {
  CardIssuer,
  FindFundingAnswer,
  ReverseAnswer,
} from '../../src/core/providers/card-issuer.js';
import type { ResendSafety } from '../../src/core/providers/port.js';
import { initialProgress, nextStep, type Step } from '../../workflows/instruction/progress.js';
import { asActivity } from '../support/activity-context.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { pendingFunding } from '../support/fundings.js';
import { withEmptyParts } from '../support/parts.js';
import { NOW } from '../support/transfers.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const IDEMPOTENT: ResendSafety = { kind: 'idempotent', forMs: null };
const rules = {
  policy: { attentionAfterMs: 86_400_000, pollMaxMs: 600_000, maxSubmissions: 4, maxErrors: 12 },
  labels: fundReversalLabels,
};
const untraced = { providerRequestId: null };
const ABSENT = { ...untraced, kind: 'not_found' } as const;
const FUNDED = { ...untraced, kind: 'funded', amountMinor: 300n } as const;

/** The issuer of a funding that was submitted once and missed its deadline; its answers are set by a test. */
async function lateFunding() {
  const operations = createCardOperationStore(database, 2_000);
  const late = pendingFunding({
    type: 'jit_fund',
    status: 'processing',
    deadline_at: NOW,
    submissions: 1,
    first_submitted_at: NOW,
  });
  const reversal = expire(late, NOW)?.fundReversal;
  if (!reversal) throw new Error('there is no reversal');
  await database.db.collection<CardOperation>('card_operations').insertOne(reversal);
  const answers: { found: FindFundingAnswer; reversed: ReverseAnswer } = {
    found: ABSENT,
    reversed: ABSENT,
  };
  const issuer = withEmptyParts<CardIssuer>({
    name: 'sandbox-bank',
    cards: { resendSafety: IDEMPOTENT, balances: 'issuer' } as CardIssuer['cards'],
    findFunding: () => Promise.resolve(answers.found),
    reverseFunding: () => Promise.resolve(answers.reversed),
  });
  const { verifyCardFunding } = createCardFundingActivities(
    withEmptyParts<CardActivityDeps>({
      cards: withEmptyParts<CardActivityDeps['cards']>({ operations }),
      providers: { issuer: () => issuer },
    }),
  );
  const verify = (): Promise<ProviderCallResult> =>
    asActivity(() =>
      verifyCardFunding({ tenantId: reversal.tenant_id, id: reversal._id, nextPollMs: 1_000 }),
    );
  return { answers, verify };
}

/** The steps after the answers to questions at these times. */
async function stepsAt(timesMs: number[], verify: () => Promise<ProviderCallResult>) {
  const steps: Step[] = [];
  let progress = initialProgress();
  for (const at of timesMs) {
    const [next, step] = nextStep(progress, await verify(), rules, {
      askedMs: at,
      answeredMs: at,
    });
    progress = next;
    steps.push(step);
  }
  return steps;
}

test('an idempotent issuer that does not know a late funding may still execute it: its hold stays for a minute', async () => {
  const { verify } = await lateFunding();
  const steps = await stepsAt([2_000, 7_000, 22_000, 61_000, 62_000], verify);
  expect(steps.map((step) => step.do)).toEqual(['verify', 'verify', 'verify', 'verify', 'submit']);
});

test.each([
  ['its reversal is not found by a copy that lags', ABSENT],
  ['its reversal is not answered', { ...untraced, kind: 'unknown', reason: 'timeout' }],
  ['its reversal is put off', { ...untraced, kind: 'throttled', retryAfterMs: 1_000 }],
] as const)(
  'a late funding that was found is never taken for absent, if %s',
  async (_, reversed) => {
    const { answers, verify } = await lateFunding();
    Object.assign(answers, { found: FUNDED, reversed });
    expect((await verify()).kind).toBe('unknown');
    answers.found = ABSENT;
    const steps = await stepsAt([2_000, 64_000, 126_000], verify);
    const stuck = { do: 'verify', stuck: expect.stringContaining('had acknowledged') as string };
    expect(steps).toEqual(steps.map(() => expect.objectContaining(stuck)));
  },
);
