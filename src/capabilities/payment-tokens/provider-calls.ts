import { failpoint } from '../../shared/failpoints.js';
import type { PaymentProvider } from '../../core/providers/payment-provider.js';
import type { Tokens } from './store.js';

type Deps = {
  tokens: Pick<Tokens, 'get' | 'isInUse' | 'endRevocation' | 'noteUnrevoked'>;
  providers: { payment(name: string): PaymentProvider };
};

/** The calls to the providers of payment tokens. */
export type TokenCalls = ReturnType<typeof createTokenCalls>;

/** Creates the provider calls of payment tokens. Authorizations are secret: they enter no workflow. */
export function createTokenCalls({ tokens, providers }: Deps) {
  return {
    /**
     * Revokes the authorization of a deleted token at its provider. Returns null if nothing is left to revoke, otherwise the
     * kind of the provider's answer, of which an operator hears after a time. Safe to repeat. A provider may give one authorization for two tokens, so one that
     * another token is charged by is kept.
     */
    async revoke(tenantId: string, id: string, signal: AbortSignal): Promise<string | null> {
      const token = await tokens.get(tenantId, id);
      if (!token || token.revoking === null) return null;
      if (!(await tokens.isInUse(token.revoking))) {
        const method = { code: token.revoking };
        const { kind } = await providers.payment(token.provider).revokeMethod(method, signal);
        failpoint('revocation.answered');
        if (kind !== 'revoked' && kind !== 'not_found') {
          await tokens.noteUnrevoked(token, kind);
          return kind;
        }
      }
      await tokens.endRevocation(token);
      return null;
    },
  };
}
