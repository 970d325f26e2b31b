import { newReference, type Answer, type BankClient } from '../support.js';

export type ChargeBody = {
  reference: string;
  status: string;
  amount_minor: number;
  paid_minor: number | null;
  fee_minor: number | null;
  code: string | null;
  decline: string | null;
  authorization: { authorization: string; last4: string; reusable: boolean } | null;
  redirect_url: string;
  error?: { code: string; field?: string };
};

export type RefundBody = {
  refund: string;
  charge: string;
  merchant_note: string;
  status: string;
  amount_minor: number;
  code: string | null;
  error?: { code: string; field?: string };
};

export type AcquirerEffect = {
  seq: number;
  kind: string;
  reference: string;
  client_reference: string;
  amount_minor: number | null;
  charge?: string;
};

type Init = Parameters<BankClient['call']>[1];
type Body = Record<string, unknown>;

const customer = { id: 'customer-1', email: 'ada@example.com', name: null };
export const RETURN_URL = 'https://shop.example/paid?cart=7';

/** Submits a form as a browser does; returns the answer without following redirects. */
export function submitForm(url: string, fields: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(url, { method: 'POST', body, redirect: 'manual' });
}

/** A plain HTTP client of the bank's acquirer. */
export function acquirerClient(bank: BankClient) {
  const now = () => new Date().toISOString();
  const commonFields = (suffix: string) => ({
    reference: newReference(),
    client_reference: `${newReference()}-${suffix}`,
    amount_minor: 300_000,
    currency: 'NGN',
    customer,
    requested_at: now(),
  });
  const client = {
    pageRequest: (suffix = '789', changes: Body = {}) => ({
      ...commonFields(suffix),
      channel: { type: 'card' },
      return_url: RETURN_URL as string | null,
      ...changes,
    }),
    initialize: (request: Body, init?: Init) => bank.post<ChargeBody>('/v1/charges', request, init),
    async newPage(suffix = '789', changes: Body = {}) {
      const request = client.pageRequest(suffix, changes);
      const { body } = await client.initialize(request);
      return { ...body, client_reference: request.client_reference, url: body.redirect_url };
    },
    /** Pays a page with a choice; returns the authorization that it created. */
    async newAuthorization(choice = 'good', changes: Body = {}): Promise<string> {
      const { url, reference } = await client.newPage('789', changes);
      await submitForm(url, { action: 'pay', choice });
      const { body } = await client.lookup(reference);
      return String(body.authorization?.authorization);
    },
    chargeRequest: (authorization: string, suffix = '789', changes: Body = {}) => ({
      ...commonFields(suffix),
      authorization,
      ...changes,
    }),
    charge: (request: Body, init?: Init) =>
      bank.post<ChargeBody>('/v1/authorized-charges', request, init),
    lookup: (reference: string) => bank.call<ChargeBody>(`/v1/charges/${reference}`),
    reportOutcome: (name: string, reported: Body) =>
      bank.post<ChargeBody>(`/_sandbox/charges/${encodeURIComponent(name)}`, reported),
    revoke: (authorization: string, init?: Init) =>
      bank.post<Body>('/v1/authorizations/revoke', { authorization }, init),
    refundRequest: (charge: string, suffix = '789', changes: Body = {}) => ({
      charge,
      amount_minor: 100_000,
      currency: 'NGN',
      merchant_note: newReference(),
      client_reference: `${newReference()}-${suffix}`,
      requested_at: now(),
      ...changes,
    }),
    refund: (request: Body, init?: Init) => bank.post<RefundBody>('/v1/refunds', request, init),
    async refunds(charge: string): Promise<RefundBody[]> {
      const all: RefundBody[] = [];
      for (let after: string | null = '0'; after !== null;) {
        const query = new URLSearchParams({ charge, since: new Date(0).toISOString(), after });
        type List = { refunds: RefundBody[]; next: string | null };
        const { body }: { body: List } = await bank.call<List>(`/v1/refunds?${query.toString()}`);
        all.push(...body.refunds);
        after = body.next;
      }
      return all.filter((refund) => refund.charge === charge);
    },
    reportRefundOutcome: (name: string, outcome: string): Promise<Answer<RefundBody>> =>
      bank.post(`/_sandbox/refunds/${encodeURIComponent(name)}`, { outcome }),
    async effects(filter: { reference?: string; client_reference?: string } = {}) {
      const query = new URLSearchParams(filter).toString();
      const { body } = await bank.call<{ entries: AcquirerEffect[] }>(`/_sandbox/journal?${query}`);
      return body.entries;
    },
    kinds: async (reference: string) =>
      (await client.effects({ reference })).map(({ kind }) => kind),
  };
  return client;
}

export type AcquirerClient = ReturnType<typeof acquirerClient>;
