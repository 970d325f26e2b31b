import { Context } from '@temporalio/activity';
import type { AuthorizationRef } from '../src/capabilities/card-authorizations/workflow-contract.js';
import type { AuthorizationStore } from '../src/capabilities/card-authorizations/store.js';
import type { Providers } from '../src/core/providers/registry.js';
import { logAttention } from '../src/core/supervision/attention-log.js';
import type { Log } from '../src/shared/log.js';
import { logIds } from './log-ids.js';

/** Parts that the activities of card authorizations need. */
export type CardAuthorizationActivityDeps = {
  cardAuthorizations: { store: Pick<AuthorizationStore, 'get' | 'checkHold' | 'applyAnswer'> };
  providers: Pick<Providers, 'issuer'>;
  log: Log;
};

/** The activities of card authorizations. Their names are in histories, so they never change. */
export const createCardAuthorizationActivities = ({
  cardAuthorizations: { store },
  providers,
  log,
}: CardAuthorizationActivityDeps) => ({
  /** Returns whether the authorization still holds money, and whether the issuer must be asked about it. Repeatable. */
  checkCardAuthorizationHold: (ref: AuthorizationRef) => store.checkHold(ref),

  /** Asks the issuer what became of a payment that holds money, and applies what was missed. Repeatable. */
  async verifyCardAuthorization({ tenantId, id }: AuthorizationRef): Promise<void> {
    const found = await store.get(tenantId, id);
    if (!found || found.held_minor === 0n) return;
    const { cancellationSignal } = Context.current();
    const issuer = providers.issuer(found.provider);
    const answer = await issuer.findAuthorization(found.token, cancellationSignal);
    const reason = await store.applyAnswer(found, answer);
    if (reason !== null) logAttention(log, { ...logIds({ tenantId, id }), reason });
  },
});
