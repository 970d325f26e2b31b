import { eventually } from '../../../support/eventually.js';
import { newCard } from '../../../support/cards.js';
import type { Workload } from '../workload.js';
import { createRequests, type SentRequest } from '../requests.js';
import type { Random } from '../random.js';
import { createStateReader } from '../readers.js';
import type { ChaosCluster, ChaosTenant } from '../cluster.js';
import { checkCards, type NamedBody } from './card-checks.js';
import { createPayers } from './card-payments.js';
import { chooseOf, pickRecent, untilDone } from './choosing.js';
import { makeFirstPayments } from './first-payments.js';
import { createIssuerLocks } from './issuer-locks.js';

export type ChaosCard = { of: ChaosTenant; id: string };

/** Outcomes by the ends of names; see docs/guide/test-values.md. A fifth leaves the outcome unknown. */
const ISSUES = ['789', '789', '789', '789', '001', '002', '004'] as const;
const FUNDINGS = ['789', '789', '789', '789', '789', '001', '002', '008'] as const;
const DOUBTFUL_FUNDINGS = ['004', '007', '009', '010', '012', '022'] as const;
const UNLOADS = ['789', '789', '001', '004', '007', '009', '010'] as const;
const CONTROLS = ['789', '789', '789', '789', '002', '004', '005', '007'] as const;

/** The money of a new card. */
const FUNDED_MINOR = 100_000;
const MOST_CARDS = 40;
/** Cards that are requested before the run, so that at least one is issued. */
const AT_FIRST = 6;
/** Share of the load on the first card, which is never closed. */
const HOT_LOAD = 0.25;

/** `failed` may follow `completed`, because an issuer can reverse an operation. */
const OPERATION_TRANSITIONS = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['failed'],
  failed: [],
};
const CARD_TRANSITIONS = {
  pending: ['active', 'failed'],
  active: ['locked', 'closed', 'expired'],
  locked: ['active', 'closed', 'expired'],
  failed: [],
  closed: [],
  expired: [],
};

export function createCards(cluster: ChaosCluster, random: Random): Workload {
  const problems: string[] = [];
  const issues = createRequests<ReturnType<typeof newCard>>(cluster, random, problems);
  const operationRequests = createRequests<NamedBody>(cluster, random, problems);
  // A repeat of these requests returns the operation's present state, so its answers may differ.
  const inTime = createRequests<NamedBody>(cluster, random, []);
  const cards: ChaosCard[] = [];
  /** Cards that were requested and not yet read as issued. */
  const unissued: ChaosCard[] = [];
  const payers = createPayers(cluster, random, problems);
  const issuerLocks = createIssuerLocks(cluster, random, problems);
  const reader = createReader(cluster, random, problems, () => [
    ...operationRequests.sent,
    ...inTime.sent,
  ]);
  let named = 0;
  let reloads = 0;

  const name = (suffix: string) => `chaos-${process.pid}-${(named += 1)}-${suffix}`;
  const anyCard = () => (random.chance(HOT_LOAD) ? cards[0] : random.pick(cards)) as ChaosCard;

  async function issue(): Promise<void> {
    const of =
      cards.length === 0 ? random.pick(cluster.tenants.slice(1)) : cluster.anyTenant(random);
    const suffix = cards.length === 0 ? '789' : random.pick(ISSUES);
    const body = newCard(suffix, { funding: random.chance(0.7) ? 'prepaid' : 'jit' });
    const key = `chaos ${body.customer_id}`;
    const { id } = await issues.send({ of, path: '/cards', body, key });
    if (id !== null) unissued.push({ of, id });
  }

  /** Checks whether a card has been issued, and funds it. */
  async function receive(): Promise<void> {
    const [card] = unissued.splice(Math.floor(random.next() * unissued.length), 1);
    if (!card) return;
    const cardStatus = await reader.issued(card);
    if (cardStatus === null) return void unissued.push(card);
    // Some requests use a card that was not issued, to exercise the refusal.
    if (cardStatus !== 'active' && random.chance(0.8)) return;
    cards.push(card);
    await requestFor(card, 'fund', '789', funding('789', FUNDED_MINOR));
  }

  /** A request about a card, with a reference that its issuer also receives. */
  async function requestFor(
    { of, id }: ChaosCard,
    action: string,
    suffix: string,
    more: object = {},
  ): Promise<void> {
    const request_id = name(suffix);
    const path = `/cards/${id}/${action}`;
    const requests = action === 'jit-fund' ? inTime : operationRequests;
    await requests.send({ of, path, body: { request_id, ...more }, key: `chaos ${request_id}` });
  }

  const funding = (suffix: string, amount_minor: number) => ({
    amount_minor,
    transaction_reference: name(suffix),
  });

  async function fund(action: 'fund' | 'jit-fund'): Promise<void> {
    const suffix = random.pick(random.chance(0.2) ? DOUBTFUL_FUNDINGS : FUNDINGS);
    const amountMinor = Math.round(random.between(2_000, 30_000));
    await requestFor(anyCard(), action, suffix, funding(suffix, amountMinor));
  }

  async function close(): Promise<void> {
    if (cards.length < 2) return;
    const transaction_reference = name(random.pick(UNLOADS));
    const more = { transaction_reference };
    await requestFor(random.pick(cards.slice(1)), 'close', random.pick(CONTROLS), more);
  }

  /** The issuer never locks the first card, so that something can be paid at any time. */
  async function lockByIssuer(): Promise<void> {
    if (cards.length >= 2) await issuerLocks.act(random.pick(cards.slice(1)).id);
  }

  /** A PUT is idempotent, so it is repeated without a key. */
  async function reload(): Promise<void> {
    const { of, id } = anyCard();
    const settings = { threshold_minor: 5_000, amount_minor: 20_000, daily_cap_minor: 5_000_000 };
    const body = JSON.stringify({ enabled: random.chance(0.9), ...settings });
    const put = await untilDone(cluster, random, async () => {
      const api = of.tenant.at(random.pick(cluster.service.apis).url);
      const reply = await api.call('PUT', `/cards/${id}/auto-reload`, body);
      return reply.status >= 500 || reply.status === 429 ? null : reply;
    });
    if (put?.status === 200) reloads += 1;
  }

  const acts: readonly (readonly [number, () => Promise<void>])[] = [
    [8, issue],
    [12, receive],
    [25, () => fund('fund')],
    [8, () => fund('jit-fund')],
    [8, () => requestFor(anyCard(), 'lock', random.pick(CONTROLS))],
    [20, () => requestFor(anyCard(), 'unlock', random.pick(CONTROLS))],
    [1, close],
    [45, () => payers.pay(anyCard().id)],
    [4, reload],
    [2, lockByIssuer],
  ];

  return {
    name: 'cards',
    weight: 4,
    /** Cards with money, and payments: a short random-fault run on a slow machine would be over before the first ones. */
    async prepare() {
      await eventually('cards before the random-fault run', async () => {
        await (cards.length + unissued.length < AT_FIRST ? issue : receive)();
        return cards.length >= AT_FIRST ? true : undefined;
      });
      await makeFirstPayments(cluster, (cards[0] as ChaosCard).id, FUNDED_MINOR);
    },
    async act() {
      const isFull = cards.length + unissued.length >= (cards.length === 0 ? AT_FIRST : MOST_CARDS);
      const chosen = cards.length === 0 ? issue : chooseOf(random, acts);
      if (chosen !== issue || !isFull) await chosen();
      else await (unissued.length > 0 ? receive : payers.end)();
    },
    look: async () => (random.chance(0.5) ? reader.operation() : reader.anyCard(cards)),
    async settle() {
      await issuerLocks.settle();
      await payers.settle();
    },
    repeat: async () => (await issues.repeat()) + (await operationRequests.repeat()),
    check: (received) =>
      checkCards(
        cluster,
        received,
        issues.sent,
        [...operationRequests.sent, ...inTime.sent],
        issuerLocks.changed,
      ),
    figures: () => ({
      cards: cards.length,
      on_their_way: unissued.length,
      operationRequests: operationRequests.sent.length + inTime.sent.length,
      accepted: [...operationRequests.sent, ...inTime.sent].filter(
        (one) => one.answer?.status === 201,
      ).length,
      reloads_set: reloads,
      ...payers.figures(),
      ...issuerLocks.figures(),
      reads: reader.reads(),
    }),
    problems,
  };
}

function createReader(
  cluster: ChaosCluster,
  random: Random,
  problems: string[],
  sent: () => SentRequest<NamedBody>[],
) {
  const operations = createStateReader(cluster, random, OPERATION_TRANSITIONS, problems);
  const cardStatuses = createStateReader(cluster, random, CARD_TRANSITIONS, problems);

  const card = ({ of, id }: ChaosCard) => cardStatuses.look({ of, path: `/cards/${id}`, id });

  return {
    reads: () => operations.reads() + cardStatuses.reads(),
    /** The card's status after its issuer has answered; null before. */
    async issued(target: ChaosCard): Promise<string | null> {
      const status = await card(target);
      return status === 'pending' ? null : status;
    },
    async operation(): Promise<void> {
      const known = sent().filter(({ answer }) => answer?.id);
      if (known.length === 0) return;
      const { of, path, answer } = pickRecent(random, known);
      const id = String(answer?.id);
      const at = path.slice(0, path.lastIndexOf('/'));
      await operations.look({ of, path: `${at}/operations/${id}`, id });
    },
    async anyCard(cards: readonly ChaosCard[]): Promise<void> {
      if (cards.length > 0) await card(random.pick(cards));
    },
  };
}
