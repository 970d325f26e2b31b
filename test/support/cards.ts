import type { z } from 'zod';
import type {
  balanceResource,
  cardOperationResource,
  cardResource,
} from '../../src/capabilities/cards/schema.js';
import { commitIssuanceFact } from '../../src/capabilities/cards/mutations.js';
import type { Deps } from '../../src/composition/deps.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import { unlessKeyed, type CallOptions, type Reply, type TestTenant } from './tenant.js';

/** A card in an answer. */
export type CardView = z.infer<typeof cardResource>;
/** A card operation in an answer. */
export type OperationView = z.infer<typeof cardOperationResource>;
/** A card's balance in an answer. */
export type BalanceView = z.infer<typeof balanceResource>;
/** An answer whose data is not a transfer. */
export type CardReply<Data> = Omit<Reply, 'body'> & {
  body: Omit<Reply['body'], 'data'> & {
    data: Data;
    pagination?: { page: number; limit: number; total: number; pages: number; has_more: boolean };
  };
};

let made = 0;

/** A valid body of POST /cards. The suffix of the customer's id selects what the issuer does. */
export function newCard(suffix = '789', changes: Record<string, unknown> = {}) {
  made += 1;
  return { customer_id: `customer-${process.pid}-${made}-${suffix}`, type: 'virtual', ...changes };
}

/** Issues a card by applying an issuer's answer directly, without a call to the issuer. Returns the card's id. */
export async function issueDirectly(
  { cards, groupCommit }: Pick<Deps, 'cards' | 'groupCommit'>,
  id: string,
): Promise<string> {
  const card = await cards.store.find(id);
  const operation = card && (await cards.operations.issueOf(card));
  if (!operation) throw new Error(`nothing issues ${id}`);
  const face = { card: `card-${id}`, brand: 'verve', last4: '0001', needsActivation: false };
  const fact = { kind: 'issued', ...face, expiryMonth: 11, expiryYear: 2029 } as const;
  const source = { via: 'webhook', actor: null, providerRequestId: null, note: null } as const;
  await commitIssuanceFact(groupCommit, operation, { ...fact, ...source });
  return id;
}

/** A client of the card routes for one tenant. */
export function cardClient(tenant: Pick<TestTenant, 'call'>) {
  const call = async <Data>(
    method: string,
    path: string,
    body?: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<CardReply<Data>> => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return (await tenant.call(method, path, sent, options)) as unknown as CardReply<Data>;
  };
  const get = async (id: string): Promise<CardView> =>
    (await call<CardView>('GET', `/cards/${id}`)).body.data;

  /** Waits until a card has this status, or satisfies the function. */
  async function waitFor(id: string, wanted: string | ((card: CardView) => boolean)) {
    const fits = typeof wanted === 'string' ? (card: CardView) => card.status === wanted : wanted;
    return eventually(`${id} is ${String(wanted)}`, async () => {
      const card = await get(id);
      return fits(card) ? card : undefined;
    });
  }

  const create = (body: Record<string, unknown> = newCard(), options?: CallOptions) =>
    unlessKeyed((given) => call<CardView>('POST', '/cards', body, given), options, body);

  return {
    call,
    get,
    waitFor,
    create,
    /** Creates a card and waits until it is active. */
    async issue(changes: Record<string, unknown> = {}): Promise<CardView> {
      const headers = { prefer: 'wait=10' };
      const { status, text, body } = await create(newCard('789', changes), { headers });
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      return body.data.status === 'active' ? body.data : waitFor(body.data.id, 'active');
    },
    list: (query = '') => call<CardView[]>('GET', `/cards${query}`),
    balance: async (id: string) =>
      (await call<BalanceView>('GET', `/cards/${id}/balance`)).body.data,
    /** A POST on a card, such as `fund` or `lock`, which answers an operation. */
    act: (id: string, action: string, body: Record<string, unknown> = {}, options?: CallOptions) =>
      unlessKeyed(
        (given) => call<OperationView>('POST', `/cards/${id}/${action}`, body, given),
        options,
        body,
      ),
    operation: async (id: string, operation: string) =>
      (await call<OperationView>('GET', `/cards/${id}/operations/${operation}`)).body.data,
    /** Waits until an operation has this status, or satisfies the function. */
    async waitForOperation(
      id: string,
      operation: string,
      wanted: string | ((operation: OperationView) => boolean),
    ): Promise<OperationView> {
      const fits = typeof wanted === 'string' ? (o: OperationView) => o.status === wanted : wanted;
      return eventually(`${operation} is ${String(wanted)}`, async () => {
        const path = `/cards/${id}/operations/${operation}`;
        const { data } = (await call<OperationView>('GET', path)).body;
        return fits(data) ? data : undefined;
      });
    },
  };
}

/** A client of the card routes. */
export type CardClient = ReturnType<typeof cardClient>;

/** The state changes of a card that took place at the issuer. */
export const changesOf = async (service: Service, card: string) =>
  (await service.bank.journal(card))
    .map(({ kind }) => kind)
    .filter((kind) => kind.startsWith('card_'));
