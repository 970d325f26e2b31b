import { randomUUID } from 'node:crypto';
import { sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../sandbox-bank/shared/signature.js';
import type { Service } from './service.js';

/** A card payment. */
export type Payment = {
  amount_minor?: number;
  channel?: 'online' | 'pos' | 'atm' | 'contactless';
  merchant?: { name?: string; category?: string; country?: string };
  kind?:
    | 'authorization'
    | 'increment'
    | 'verification'
    | 'balance_inquiry'
    | 'financial'
    | 'credit'
    | 'advice';
  partial_approval?: boolean;
  hold_minor?: number;
  cash_minor?: number;
  merchant_amount?: { amount_minor: number; currency: string };
  initiator?: 'cardholder' | 'merchant';
  hold_until?: string;
  /** The issuer wants its answer within this time. */
  answer_within_ms?: number;
  /** The token of the payment that this request belongs to. */
  authorization?: string;
};
/** The issuer's answer to a card payment. */
export type Decision = {
  token: string;
  message_id: string;
  approved: boolean;
  approved_amount_minor: number;
  available_minor?: number;
  code: string;
};
/** A change of a payment after its approval. */
export type PaymentOutcome =
  'cleared' | 'reversed' | 'expired' | 'refunded' | 'refund_reversed' | 'corrected';

/** A client of the sandbox issuer: it makes payments with a card and sets their outcomes. */
export function issuerClient({ bank, api, env }: Pick<Service, 'bank' | 'api' | 'env'>) {
  async function post<Body>(url: string, body: string, headers: Record<string, string> = {}) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(20_000),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }
  const sandbox = async <Body>(path: string, body: object) =>
    post<Body>(`${bank.url}/_sandbox/authorizations${path}`, JSON.stringify(body));

  return {
    /** Makes a payment: the issuer requests an authorization from the service, and answers with its decision. */
    pay: async (card: string, payment: Payment = {}): Promise<Decision> =>
      (await sandbox<Decision>('', { card, amount_minor: 5_000, ...payment })).body,

    /** Sets the outcome of a payment, which the issuer reports by callback. */
    end: async (
      token: string,
      outcome: PaymentOutcome,
      amountMinor?: number,
      { final = true, report = true } = {},
    ) =>
      (
        await sandbox(`/${token}`, {
          outcome,
          final,
          report,
          ...(amountMinor !== undefined && { amount_minor: amountMinor }),
        })
      ).status,

    /** Sends a signed message of the issuer to any API. */
    async send(body: object, { url = api.url, provider = 'sandbox-bank', secret = '' } = {}) {
      const text = JSON.stringify(body);
      const timestamp = String(Math.floor(Date.now() / 1000));
      const key = secret === '' ? String(env['SANDBOX_BANK_SECRET']) : secret;
      return post<Record<string, unknown>>(`${url}/api/v1/webhooks/cards/${provider}`, text, {
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: sign(key, timestamp, text),
      });
    },
  };
}

/** A client of the sandbox issuer. */
export type IssuerClient = ReturnType<typeof issuerClient>;

/** An authorization request as the issuer sends it; `card` is the issuer's id. */
export function authorizationRequest(card: string, changes: Record<string, unknown> = {}) {
  const reference = `auth_${randomUUID().replaceAll('-', '')}`;
  const at = new Date().toISOString();
  return {
    id: reference,
    event: 'card.authorization_requested',
    occurred_at: at,
    data: {
      reference,
      card,
      amount_minor: 5_000,
      currency: 'NGN',
      channel: 'pos',
      merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
      requested_at: at,
      ...changes,
    },
  };
}

/** An event about an authorization as the issuer sends it. */
export const authorizationEvent = (
  card: string,
  reference: string,
  { name = 'card.cleared', minor = 5_000, at = new Date(), id = `evt_${randomUUID()}` } = {},
) => ({
  id,
  event: name,
  occurred_at: at.toISOString(),
  data: { reference, message_id: id, card, amount_minor: minor, currency: 'NGN' },
});
