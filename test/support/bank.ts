export type JournalEntry = {
  seq: number;
  kind:
    | 'paid'
    | 'reversed'
    | 'issued'
    | 'funded'
    | 'funding_reversed'
    | 'card_locked'
    | 'card_opened'
    | 'card_closed'
    | 'authorized'
    | 'declined'
    | 'cleared'
    | 'authorization_reversed'
    | 'authorization_expired'
    | 'charged'
    | 'refunded'
    | 'authorization_revoked';
  reference: string;
  client_reference: string;
  amount_minor: number;
  session_id: string;
};

export type Fault = {
  call:
    | 'submit'
    | 'lookup'
    | 'enquiry'
    | 'issue'
    | 'fund'
    | 'set_state'
    | 'reverse'
    | 'initialize'
    | 'charge'
    | 'refund'
    | 'authorization'
    | 'callback'
    | 'any';
  kind: 'error_500' | 'hang' | 'drop_before' | 'drop_after' | 'slow' | 'throttle';
  probability: number;
  ms?: number;
};

/** The audit routes of the sandbox bank: what it really did, and what it is told to do. */
export function bankAudit(url: string) {
  async function call<Body>(path: string, body?: unknown): Promise<{ status: number; body: Body }> {
    const response = await fetch(`${url}/_sandbox${path}`, {
      signal: AbortSignal.timeout(10_000),
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }
  return {
    /** Every effect that really happened; of one transfer, if its id is given. */
    async journal(reference?: string): Promise<JournalEntry[]> {
      const query = reference === undefined ? '' : `?reference=${reference}`;
      return (await call<{ entries: JournalEntry[] }>(`/journal${query}`)).body.entries;
    },
    /** Decides a pending transfer from outside. The status: 404 as long as the bank does not know it. */
    tell: async (reference: string, outcome: 'paid' | 'failed') =>
      (await call(`/transfers/${reference}`, { outcome })).status,
    /** Decides a charge from outside; an open page is paid with `choice`. */
    setChargeOutcome: async (
      reference: string,
      outcome: 'paid' | 'declined' | 'abandoned',
      choice?: string,
    ) => (await call(`/charges/${reference}`, { outcome, ...(choice && { choice }) })).status,
    /** The same of a refund, named by its id or by its tenant's reference. */
    tellRefund: async (reference: string, outcome: 'refunded' | 'failed') =>
      (await call(`/refunds/${reference}`, { outcome })).status,
    /** The same of a funding. */
    tellFunding: async (reference: string, outcome: 'funded' | 'failed') =>
      (await call(`/fundings/${reference}`, { outcome })).status,
    /** Which calls are hit follows from the seed. */
    async faults(rules: Fault[], seed = 'bursar'): Promise<void> {
      await call('/faults', rules.length === 0 ? {} : { seed, rules });
    },
    /** Callbacks that nobody has taken yet. */
    callbacksWaiting: async () =>
      (await call<{ callbacks_waiting: number }>('/health')).body.callbacks_waiting,
  };
}
