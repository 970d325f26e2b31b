import { failpoint } from '../../shared/failpoints.js';
import type { Channel, PaymentProvider } from '../../core/providers/payment-provider.js';
import type { Trace } from '../../core/providers/port.js';
import { logAttention } from '../../core/supervision/attention-log.js';
import type { Log } from '../../shared/log.js';
import { revocationWorkflowId, type PaymentToken } from './record.js';
import { awaitedSetup, setupReference, type SetupFact, type TokenSetup } from './setup.js';
import type { Tokens } from './store.js';
import type { SetupProgress } from './workflow-contract.js';

type Deps = {
  tokens: Pick<Tokens, 'get' | 'isInUse' | 'endRevocation' | 'noteUnrevoked'>;
  providers: { payment(name: string): PaymentProvider };
  log: Log;
};

/** The calls to the providers of payment tokens. */
export type TokenCalls = ReturnType<typeof createTokenCalls>;

/** Creates the provider calls of payment tokens. Authorizations are secret: they enter no workflow. */
export function createTokenCalls({ tokens, providers, log }: Deps) {
  /** Revokes one authorization. Returns null once it is revoked, otherwise why it is not: the kind of the provider's answer. */
  async function revokeOne(
    token: PaymentToken,
    code: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (!(await tokens.isInUse(code))) {
      const { kind } = await providers.payment(token.provider).revokeMethod({ code }, signal);
      failpoint('revocation.answered');
      if (kind !== 'revoked' && kind !== 'not_found') {
        const { _id: id, tenant_id: tenant } = token;
        const reason = await tokens.noteUnrevoked(token, kind);
        const ids = { resource: id, tenant, workflow_id: revocationWorkflowId(id) };
        if (reason !== null) logAttention(log, { ...ids, reason });
        return kind;
      }
    }
    // If the token has changed meanwhile, the next attempt reads it again.
    return (await tokens.endRevocation(token)) ? null : 'changed';
  }

  return {
    /**
     * Revokes the authorizations of a deleted token at its provider. Returns null if nothing is left to revoke, otherwise the
     * kind of the provider's answer. If the provider has been asked for long, the token gets attention. Safe to repeat. A
     * provider may give one authorization for two tokens, so an authorization that another token is charged by is kept.
     */
    async revoke(tenantId: string, id: string, signal: AbortSignal): Promise<string | null> {
      for (;;) {
        const token = await tokens.get(tenantId, id);
        if (!token || token.revoking === null) return null;
        const open = await revokeOne(token, token.revoking, signal);
        if (open !== null) return open;
      }
    },
  };
}

type SetupDeps = {
  tokens: Pick<Tokens, 'get' | 'applySetupFact' | 'postponeCheck'>;
  providers: { payment(name: string): PaymentProvider };
};

/** Stores the fault of a whole provider that its answer reports. */
type NoteAnswer = (provider: string, answer: Trace & { kind: string }) => Promise<void>;

/** The provider's answer, and what follows from it: nothing, if it is null. */
type Asked = { answer: (Trace & { kind: string }) | null; fact: SetupFact | null };

/** The calls to the providers about pages on which a customer saves a payment method. */
export type SetupCalls = ReturnType<typeof createSetupCalls>;

/**
 * Creates the provider calls of pages without a payment. Their answers are committed here, because a saved method must not
 * enter a workflow's history.
 */
export function createSetupCalls({ tokens, providers }: SetupDeps) {
  return {
    /**
     * Opens the page of a token, or asks whether a method was saved on it, also after the token's deletion. Safe to repeat: no
     * money moves. The next check by the dispatcher is due after `pauseMs` and a slack. `note` gets the provider's answer.
     */
    async advance(
      { tenantId, id, pauseMs }: { tenantId: string; id: string; pauseMs: number },
      signal: AbortSignal,
      note: NoteAnswer,
    ): Promise<SetupProgress> {
      const token = await tokens.get(tenantId, id);
      const setup = token && awaitedSetup(token);
      if (!token || !setup) return 'over';
      const provider = providers.payment(token.provider);
      const ask = setup.status === 'pending' ? openPage : findSaved;
      const { answer, fact } = await ask(provider, token, setup, signal);
      failpoint('setup.answered');
      if (answer) await note(token.provider, answer);
      const told = setup.expires_at <= new Date() ? lastFact(fact) : fact;
      const after = told ? await tokens.applySetupFact(token, setup.number, told) : token;
      const present = after && awaitedSetup(after);
      if (!after || !present) return 'over';
      await tokens.postponeCheck(after, pauseMs);
      return present.status === 'pending' ? 'pending' : 'open';
    },
  };
}

/** The fact after the customer's time: a method that was saved or refused, or else the end. No page is opened any more. */
const lastFact = (fact: SetupFact | null): SetupFact =>
  fact?.kind === 'saved' || fact?.kind === 'declined' ? fact : { kind: 'expired' };

/** Opens the page. Null: it may be asked for again under the same reference. */
async function openPage(
  provider: PaymentProvider,
  token: PaymentToken,
  setup: TokenSetup,
  signal: AbortSignal,
): Promise<Asked> {
  if (!provider.setUp) {
    return { answer: null, fact: { kind: 'declined', code: 'setup_not_supported' } };
  }
  const reference = setupReference(token, setup);
  const request = {
    reference,
    clientReference: token._id,
    customer: token.customer,
    requestedAt: setup.requested_at,
    channel: channelOf(token),
    returnUrl: setup.return_url,
  };
  const answer = await provider.setUp(request, signal);
  return { answer, fact: pageFact(answer, provider) };
}

function pageFact(
  answer: Awaited<ReturnType<NonNullable<PaymentProvider['setUp']>>>,
  provider: PaymentProvider,
): SetupFact | null {
  switch (answer.kind) {
    case 'page':
      return {
        kind: 'opened',
        url: answer.url,
        handle: answer.handle,
        expiresAt: answer.expiresAt,
      };
    case 'rejected':
      return { kind: 'declined', code: answer.code };
    case 'unknown':
      return provider.payments.pages === 'new_reference' ? { kind: 'page_lost' } : null;
    default:
      return null;
  }
}

/** Asks whether a method was saved. Null: not so far. */
async function findSaved(
  provider: PaymentProvider,
  token: PaymentToken,
  setup: TokenSetup,
  signal: AbortSignal,
): Promise<Asked> {
  if (!provider.verifySetup) return { answer: null, fact: null };
  const about = { reference: setupReference(token, setup), handle: setup.handle };
  const answer = await provider.verifySetup(about, signal);
  return { answer, fact: methodFact(answer) };
}

function methodFact(
  answer: Awaited<ReturnType<NonNullable<PaymentProvider['verifySetup']>>>,
): SetupFact | null {
  if (answer.kind === 'saved') return { kind: 'saved', method: answer.method };
  if (answer.kind === 'declined') return { kind: 'declined', code: answer.code };
  return null;
}

/** The means of payment that the page of a token offers. */
export const channelOf = (token: PaymentToken | null): Channel =>
  token?.type === 'bank_account' && token.account_number && token.bank_code
    ? { type: 'bank_account', account: token.account_number, bankCode: token.bank_code }
    : { type: 'card' };
