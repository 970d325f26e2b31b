import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Transfer as TransferView } from '../../client/src/index.js';
import type { Deps } from '../../src/composition/deps.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import type { NewTenant } from '../../src/platform/tenants/store.js';
import { eventually } from './eventually.js';

export type { TransferView };

/** An answer of the API. */
export type Reply = {
  status: number;
  headers: Headers;
  /** The exact bytes, for comparing answers. */
  text: string;
  /** The envelope; `success` decides whether it has `data` or `error`. */
  body: {
    success: boolean;
    data: TransferView;
    error: {
      code: string;
      message: string;
      status: number;
      field?: string;
      details?: { id?: string; issues?: { field: string }[]; available?: number };
    };
  };
};

/** Longer than any answer may take: a call that exceeds it has found a hang. */
const HANG_MS = 25_000;

/** Options of one call. */
export type CallOptions = {
  headers?: Record<string, string>;
  /** The idempotency key, sent as a header. */
  key?: string;
};

/**
 * A client of one API process with one key: `client` is the typed client, and `call` sends requests that it would not
 * send. Neither retries, so that a test sees the result of the first attempt.
 */
export function apiClient(url: string, key: string) {
  async function call(
    method: string,
    path: string,
    body: string | Buffer | undefined,
    options: CallOptions = {},
  ): Promise<Reply> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      signal: AbortSignal.timeout(HANG_MS),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const parsed = JSON.parse(text) as Reply['body'];
    return { status: response.status, headers: response.headers, text, body: parsed };
  }
  const client = createClient({ baseUrl: url, key, timeoutMs: HANG_MS, maxRetries: 0 });
  return {
    client,
    call,
    transfer: (body: Record<string, unknown>, options?: CallOptions) =>
      call('POST', '/transfers', JSON.stringify(body), options),
    get: async (id: string): Promise<TransferView> => (await client.getTransfer({ id })).data,
  };
}

/** Tries of a request that a busy machine answers with 503. */
const TRIES = 6;

/**
 * Sends a request under one key, again after a 503 and the time that it names, as a correct client does. Returns the last answer. For
 * the requests of a set-up, and of clients whose requests may not fail: a busy machine must not end the tests that follow.
 */
export async function untilTaken<R extends { status: number; headers: Headers }>(
  send: (options: CallOptions) => Promise<R>,
  key: string = randomUUID(),
): Promise<R> {
  for (let tries = 1; ; tries += 1) {
    const reply = await send({ key });
    if (reply.status !== 503 || tries === TRIES) return reply;
    await sleep(1_000 * Math.max(tries, Number(reply.headers.get('retry-after'))));
  }
}

/**
 * The same for a request whose key does not matter. One that has a key, there or in its body, is sent once: its test sees each
 * answer.
 */
export const unlessKeyed = <R extends { status: number; headers: Headers }>(
  send: (options: CallOptions) => Promise<R>,
  options: CallOptions = {},
  body: { idempotency_key?: unknown } = {},
): Promise<R> =>
  options.key === undefined && body.idempotency_key === undefined
    ? untilTaken((under) => send({ ...options, ...under }))
    : send(options);

/** A client of one API process. */
export type ApiClient = ReturnType<typeof apiClient>;

let bodies = 0;

/** The body of a valid transfer to an account with this suffix. Its reference is unique. */
export function transferBody(suffix = '789', changes: Record<string, unknown> = {}) {
  bodies += 1;
  return {
    amount_minor: 150_000,
    recipient_account: `0123456${suffix}`,
    recipient_bank_code: '058',
    narration: 'Rent for May',
    reference: `order-${process.pid}-${bodies}`,
    ...changes,
  };
}

/** The total of a transfer of `transferBody()`: the amount and its fee. */
export const ORDER_TOTAL_MINOR = 151_000;

/** The properties of a test's tenant. */
export type NewTestTenant = {
  balanceMinor?: number;
  dailyLimitMinor?: bigint;
  /** In live every feature is off unless it is named here. */
  features?: NewTenant['features'];
  apiUrl: string;
};

/** Creates a tenant with a funded wallet, an admin key, and limits that no test reaches by accident. */
export async function createTenant(
  deps: Deps,
  {
    balanceMinor = 100_000_000,
    dailyLimitMinor = 9_000_000_000_000n,
    features = {},
    apiUrl,
  }: NewTestTenant,
) {
  const tenant = await deps.tenants.create({
    name: 'A tenant of the tests',
    plan: 'enterprise',
    ratePerMinute: 1_000_000,
    dailyLimitMinor,
    features,
  });
  const { key } = await deps.apiKeys.create({
    tenantId: tenant.id,
    level: 'admin',
    kind: 'secret',
  });
  if (balanceMinor > 0) {
    const reference = randomUUID();
    const amountMinor = BigInt(balanceMinor);
    await creditWallet(deps.groupCommit, { tenantId: tenant.id, amountMinor, reference });
  }
  const client = apiClient(apiUrl, key);
  const stored = async (id: string) => {
    const transfer = await deps.transfers.store.get(tenant.id, id);
    if (!transfer) throw new Error(`there is no ${id}`);
    return transfer;
  };

  return {
    ...client,
    id: tenant.id,
    key,
    /** The same tenant at another API process. */
    at: (url: string) => apiClient(url, key),
    /** The stored record with its timeline. */
    stored,
    /** Creates a transfer that must be accepted, and returns its id. */
    async send(suffix?: string, changes?: Record<string, unknown>): Promise<string> {
      const wanted = transferBody(suffix, changes);
      const { status, text, body } = await untilTaken((own) => client.transfer(wanted, own));
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      return body.data.id;
    },
    /** Waits until a transfer has this status, or satisfies the function. */
    async waitFor(id: string, wanted: string | ((transfer: TransferView) => boolean)) {
      const fits = typeof wanted === 'string' ? (t: TransferView) => t.status === wanted : wanted;
      try {
        return await eventually(`${id} is ${String(wanted)}`, async () => {
          const transfer = await client.get(id);
          return fits(transfer) ? transfer : undefined;
        });
      } catch (error) {
        const { status, attention, timeline } = await stored(id);
        const found = JSON.stringify({ status, attention, timeline }, null, 1);
        throw new Error(`not as wanted, but ${found}`, { cause: error });
      }
    },
    /** The balances according to the wallet's postings. */
    async balance(): Promise<{ available: number; held: number }> {
      const sums = await deps.database.db
        .collection('postings')
        .aggregate<{ _id: string; sum: bigint }>([
          { $match: { tenant_id: tenant.id } },
          { $unwind: '$legs' },
          { $group: { _id: '$legs.account', sum: { $sum: '$legs.amount_minor' } } },
        ])
        .toArray();
      const of = (part: string) =>
        Number(sums.find(({ _id }) => _id === `wallet:${tenant.id}:${part}`)?.sum ?? 0n);
      return { available: of('available'), held: of('held') };
    },
  };
}

/** A tenant of a test. */
export type TestTenant = Awaited<ReturnType<typeof createTenant>>;
