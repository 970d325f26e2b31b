import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cardClient } from '../../support/cards.js';
import { eventually } from '../../support/eventually.js';
import { issuerClient, type Decision, type Payment } from '../../support/issuer.js';
import { activeToken, paymentClient } from '../../support/payments.js';
import { startReceiver } from '../../support/receiver.js';
import { startService, type Service } from '../../support/service.js';
import { untilTaken, type Reply } from '../../support/tenant.js';
import { runningWorkflows } from '../support/nothing-lost.js';

/** The process that dies. */
export type Who = 'api' | 'worker';
export type Death = { who: Who; point: string };
/** A request of the tenant. A repeat has the same key. */
export type TenantRequest = { path: string; body: Record<string, unknown>; key: string };
export type Cluster = Awaited<ReturnType<typeof openCluster>>;

const RICH_MINOR = 100_000_000_000;
/** Attempts to reach the situation of a case. A slow machine needs a few; more than this is a failure. */
export const TRIES = 8;

/**
 * A separate service at a bank that executes a repeated request twice: one API, one worker, a tenant with cards, tokens,
 * a paid charge and a webhook receiver. One record is in flight at a time, so each fired point belongs to that record. Each
 * process commits for itself, so that it is known which one passes a point.
 * `env`: settings that differ, such as those of the bank.
 */
export async function openCluster(env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-points-'));
  const file = join(folder, 'point');
  const receiver = await startReceiver();
  const service = await startService({
    bank: { deduplicate: false, conclusiveAfterMs: 1_500 },
    env: {
      BURSAR_FAILPOINT: `@${file}`,
      // Shorter than the pause before the first verification, so that a slow funding is past its deadline.
      BURSAR_JIT_DEADLINE_MS: '2500',
      // A busy machine must not be late: a dead API ends its connections at once, so no case waits for this.
      BURSAR_AUTHORIZATION_DEADLINE_MS: '8000',
      SANDBOX_BANK_ANSWER_WITHIN_MS: '9000',
      BURSAR_POLL_MAX_MS: '1000',
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1,1',
      BURSAR_WEBHOOK_TIMEOUT_MS: '1000',
      SANDBOX_BANK_TIMEOUT_MS: '2000',
      ...env,
    },
  });
  const { api, worker } = service;
  const processes = { api, worker };
  const tenant = await service.tenant({ balanceMinor: RICH_MINOR });
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  const [cards, payments] = [cardClient(tenant), paymentClient(tenant)];
  const [card, jitCard, good, declined] = await Promise.all([
    cards.issue(),
    cards.issue({ funding: 'jit' }),
    activeToken(payments),
    activeToken(payments, 'later_declined'),
  ]);
  const paid = await payments.paid({ amount_minor: 1_000_000 });
  await isQuiet(service);
  const fired = new Set<string>();
  /** Event names that the receiver must have got by the end of this case, by resource. */
  const wanted = new Map<string, readonly string[]>();

  function eventNames(resource: string): string[] {
    const all = receiver.events().filter(({ data: { id, reference, payment_token_id: token } }) =>
      // Charges name their token too.
      [id, reference, id === undefined && reference === undefined && token].includes(resource),
    );
    return [...new Map(all.map(({ id, event }) => [id, event])).values()].toSorted();
  }

  /** Arms a failpoint. The returned function waits until the process has died there, and starts it again. */
  async function arm({ who, point }: Death): Promise<() => Promise<void>> {
    const process = processes[who];
    const before = process.output().length;
    const printed = () => process.output().slice(before);
    writeFileSync(file, point);
    process.signal('SIGUSR2');
    await eventually('it is armed', () =>
      printed().includes('failpoint armed') ? true : undefined,
    );
    return async () => {
      await eventually(`the ${who} is dead at ${point}`, () =>
        process.isRunning() ? undefined : true,
      );
      const [name = ''] = point.slice(point.indexOf('>') + 1).split(':');
      expect(printed()).toContain(`failpoint ${name}\n`);
      fired.add(name);
      await process.start();
    };
  }

  const issuer = issuerClient(service);

  return {
    service,
    receiver,
    tenant,
    cards,
    card: card.id,
    jitCard: jitCard.id,
    payments,
    paidCharge: paid.reference,
    fired,
    tokens: { good, declined },
    issuer,

    /** Makes a payment that is approved. On a slow machine the issuer declines one without an answer in time. */
    async approved(payment: Payment = {}): Promise<Decision> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const decision = await issuer.pay(jitCard.id, payment);
        if (decision.approved) return decision;
        await isQuiet(service);
      }
      throw new Error(`made ${TRIES} payments, and none was approved`);
    },

    post: ({ path, body, key }: TenantRequest): Promise<Reply> =>
      untilTaken((under) => tenant.call('POST', path, JSON.stringify(body), under), key),

    /** Kills a process at a point to which `act` leads, and starts it again; several deaths happen one after the other. */
    async dies<Result>(deaths: readonly Death[], act: () => Promise<Result>): Promise<Result> {
      const comeBack: (() => Promise<void>)[] = [];
      for (const death of deaths) comeBack.push(await arm(death));
      const result = await act();
      // A rejected request leads to no failpoint, so this fails at once instead of after a long wait.
      if (isRejected(result)) throw new Error(`rejected: ${result.status} ${result.text}`);
      for (const each of comeBack) await each();
      return result;
    },

    /** Waits until the receiver has got each of these events once, for a resource by id, or by reference if it has none. */
    async isNotified(resource: string, names: readonly string[]): Promise<void> {
      await eventually(`${resource} has its events: ${names.join(', ')}`, () =>
        names.every((name) => eventNames(resource).includes(name)) ? true : undefined,
      );
      expect(eventNames(resource)).toEqual(names.toSorted());
      wanted.set(resource, names);
    },

    /** Kinds of the bank's journal entries for this reference. */
    async effects(reference: string): Promise<string[]> {
      return (await service.bank.journal(reference)).map(({ kind }) => kind);
    },

    /** Waits until no work is open, then checks that no event was delivered that no case expects. */
    async isQuiet(): Promise<void> {
      await isQuiet(service);
      for (const [resource, names] of wanted)
        expect(eventNames(resource)).toEqual(names.toSorted());
      wanted.clear();
    },

    async close(): Promise<void> {
      await service.close();
      await receiver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until every record is terminal and no work is open; then the ledger must match the bank's journal. */
async function isQuiet(service: Service): Promise<void> {
  await eventually('nothing is under way', async () =>
    (await underWay(service)) === 0 ? true : undefined,
  );
  expect(await service.problems()).toEqual([]);
}

const isRejected = (result: unknown): result is Reply =>
  typeof result === 'object' &&
  result !== null &&
  'text' in result &&
  'status' in result &&
  typeof result.status === 'number' &&
  result.status >= 400;

const DUE = { next_check_at: { $type: 'date' } };
const LEFT = {
  transfers: DUE,
  bulk_transfers: DUE,
  card_operations: DUE,
  charges: DUE,
  refunds: DUE,
  payment_tokens: DUE,
  recurring_charges: DUE,
  identity_checks: DUE,
  bill_payments: DUE,
  virtual_accounts: DUE,
  deposits: DUE,
  card_authorizations: DUE,
  provider_events: DUE,
  provider_event_replays: DUE,
  webhook_deliveries: { status: { $ne: 'delivered' } },
};

/** Number of records that still have work to do, plus running workflows. */
async function underWay({ deps }: Service): Promise<number> {
  const counts = Object.entries(LEFT).map(([name, filter]) =>
    deps.database.db.collection(name).countDocuments(filter),
  );
  const workflows = await runningWorkflows(deps);
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, workflows);
}
