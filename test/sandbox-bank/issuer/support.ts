import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, newReference, type BankClient } from '../support.js';

export type CardDelivery = {
  raw: Buffer;
  headers: Record<string, string | undefined>;
  body: {
    id: string;
    event: string;
    occurred_at: string;
    data: { reference: string; card: string; amount_minor?: number } & Record<string, unknown>;
  };
};

/** The service's reaction to a request: a status and a body, or null for no answer. */
export type Reaction = { status: number; body?: unknown } | null;

/** Stands in for the service's card webhook: accepts every callback, and decides authorizations by `react`. */
export async function startCardService(
  react: (delivery: CardDelivery) => Reaction | Promise<Reaction> = approve,
) {
  const received: CardDelivery[] = [];
  async function respond(delivery: CardDelivery, res: ServerResponse): Promise<void> {
    const isRequest = delivery.body.event === 'card.authorization_requested';
    const reaction = isRequest ? await react(delivery) : { status: 200, body: {} };
    if (reaction) res.writeHead(reaction.status).end(JSON.stringify(reaction.body ?? {}));
  }
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const raw = Buffer.concat(chunks);
      const body = JSON.parse(raw.toString()) as CardDelivery['body'];
      const delivery = { raw, headers: req.headers as CardDelivery['headers'], body };
      received.push(delivery);
      void respond(delivery, res);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const about = (reference: string) =>
    received.filter(({ body }) => body.data.reference === reference);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/cards`,
    received: received as readonly CardDelivery[],
    about,
    /** The first `count` deliveries about a reference. */
    wait: (reference: string, count: number) =>
      eventually(() => (about(reference).length >= count ? about(reference) : undefined)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function approve(): Reaction {
  return { status: 200, body: { approved: true, code: 'approved' } };
}

export type CardBody = {
  reference: string;
  status: string;
  code: string | null;
  card: string;
  state: string;
  version: number;
  error?: { code: string; field?: string };
};

export type FundingBody = {
  reference: string;
  status: string;
  amount_minor: number;
  code: string | null;
  error?: { code: string; field?: string };
};

export type CardEffect = {
  seq: number;
  kind: string;
  reference: string;
  client_reference: string;
  card: string;
  amount_minor: number | null;
};

type Init = Parameters<BankClient['call']>[1];

/** A plain HTTP client of the bank's card issuer. */
export function cardClient(bank: BankClient) {
  const now = () => new Date().toISOString();
  const client = {
    cardRequest: (suffix: string, changes: Record<string, unknown> = {}) => ({
      reference: newReference(),
      client_reference: `customer-${suffix}`,
      type: 'virtual',
      name: null,
      requested_at: now(),
      ...changes,
    }),
    issue: (request: Record<string, unknown>, init?: Init) =>
      bank.post<CardBody>('/v1/cards', request, init),
    lookupCard: (reference: string) => bank.call<CardBody>(`/v1/cards/by-reference/${reference}`),
    show: (card: string) => bank.call<CardBody>(`/v1/cards/${card}`),
    async newCard(): Promise<CardBody> {
      return (await client.issue(client.cardRequest('789'))).body;
    },
    fundingRequest: (card: string, suffix: string, changes: Record<string, unknown> = {}) => ({
      reference: newReference(),
      client_reference: `${newReference()}-${suffix}`,
      card,
      amount_minor: 150_000,
      currency: 'NGN',
      requested_at: now(),
      ...changes,
    }),
    fund: (request: Record<string, unknown>, init?: Init) =>
      bank.post<FundingBody>('/v1/fundings', request, init),
    lookup: (reference: string) => bank.call<FundingBody>(`/v1/fundings/${reference}`),
    reverse: (reference: string) =>
      bank.call<FundingBody>(`/v1/fundings/${reference}/reverse`, { method: 'POST' }),
    reportOutcome: (reference: string, outcome: string) =>
      bank.post<FundingBody>(`/_sandbox/fundings/${encodeURIComponent(reference)}`, { outcome }),
    setState: (card: string, state: string, version: number, suffix = '789', init: Init = {}) =>
      bank.post<CardBody>(
        `/v1/cards/${card}/state`,
        { state, version, client_reference: `request-${suffix}`, requested_at: now() },
        { method: 'PUT', ...init },
      ),
    authorize: (card: string, changes: Record<string, unknown> = {}) =>
      bank.post<{
        token: string;
        message_id: string;
        approved: boolean;
        approved_amount_minor: number;
        code: string;
        error?: { code: string };
      }>('/_sandbox/authorizations', { card, amount_minor: 5_000, ...changes }),
    end: (token: string, body: Record<string, unknown>) =>
      bank.post<{
        status: string;
        amount_minor: number;
        held_minor: number;
        error?: { code: string };
      }>(`/_sandbox/authorizations/${token}`, body),
    async effects(filter: { reference?: string; client_reference?: string } = {}) {
      const query = new URLSearchParams(filter).toString();
      const { body } = await bank.call<{ entries: CardEffect[] }>(`/_sandbox/journal?${query}`);
      return body.entries;
    },
    kinds: async (reference: string) =>
      (await client.effects({ reference })).map(({ kind }) => kind),
  };
  return client;
}

export type CardClient = ReturnType<typeof cardClient>;
