import type { Route } from '../../platform/http/routes.js';
import { approvalRoutes } from './approvals.js';
import { attentionRoutes } from './attention.js';
import { auditRoutes } from './audit.js';
import { breakRoutes } from './breaks.js';
import { cardAuthorizationRoutes } from './card-authorizations.js';
import { cardDisputeRoutes } from './card-disputes.js';
import { cardRoutes } from './cards.js';
import { chargeReturnRoutes } from './charges.js';
import { depositRoutes } from './deposits.js';
import { customerRoutes } from './customers.js';
import { disputeRoutes } from './disputes.js';
import type { OperatorDeps } from './deps.js';
import { instructionRoutes } from './instructions.js';
import { keyRoutes } from './keys.js';
import { ledgerRoutes } from './ledger.js';
import { operatorAccountRoutes } from './operators.js';
import { paymentTokenRoutes } from './payment-tokens.js';
import { providerEventRoutes } from './provider-events.js';
import { providerRoutes } from './providers.js';
import { reconciliationRoutes } from './reconciliation.js';
import { recordRoutes } from './records.js';
import { recurringChargeRoutes } from './recurring-charges.js';
import { statementRoutes } from './statements.js';
import { secretRoutes } from './secrets.js';
import { refundResumeRoutes } from './refunds.js';
import { refusing } from './second-person.js';
import { tenantRoutes } from './tenants.js';
import { walletRoutes } from './wallets.js';
import { webhookRoutes } from './webhooks.js';

/** Every route of the operator API. Those of instructions are derived from the list of capabilities. */
export function operatorRoutes(deps: OperatorDeps): Route[] {
  const acts = actRoutes(deps);
  return [
    ...operatorAccountRoutes(deps),
    ...auditRoutes(deps),
    ...approvalRoutes(deps, acts),
    ...acts,
  ].map((each) => refusing(deps, each));
}

const actRoutes = (deps: OperatorDeps): Route[] => [
  ...attentionRoutes(deps),
  ...recordRoutes(deps),
  ...tenantRoutes(deps),
  ...keyRoutes(deps),
  ...walletRoutes(deps),
  ...instructionRoutes(deps),
  ...depositRoutes(deps),
  ...chargeReturnRoutes(deps),
  ...refundResumeRoutes(deps),
  ...disputeRoutes(deps),
  ...cardRoutes(deps),
  ...cardAuthorizationRoutes(deps),
  ...cardDisputeRoutes(deps),
  ...paymentTokenRoutes(deps),
  ...recurringChargeRoutes(deps),
  ...webhookRoutes(deps),
  ...providerRoutes(deps),
  ...providerEventRoutes(deps),
  ...customerRoutes(deps),
  ...ledgerRoutes(deps),
  ...secretRoutes(deps),
  ...reconciliationRoutes(deps),
  ...breakRoutes(deps),
  ...statementRoutes(deps),
];
