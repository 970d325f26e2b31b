import type { Client } from '@temporalio/client';
import type { Log } from '../../shared/log.js';
import { formatMajor } from '../../shared/money.js';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import type { CardAuthorization } from './card-authorization.js';
import { authorizationWorkflowId, type AuthorizationRef } from './workflow-contract.js';

/** Starts and wakes an authorization's workflow. It takes no operator commands: only the issuer knows the outcome. */
export type AuthorizationStarter = Omit<WorkflowStarter<CardAuthorization>, 'command'>;

/** Creates the starter of the workflows that end holds. */
export const createAuthorizationStarter = (settings: {
  client: Client;
  taskQueue: string;
  log: Log;
}): AuthorizationStarter =>
  createWorkflowStarter<CardAuthorization>({
    ...settings,
    workflow: 'cardAuthorization',
    workflowId: ({ _id }) => authorizationWorkflowId(_id),
    toStart({
      _id: id,
      tenant_id: tenantId,
      card_id: card,
      provider,
      token,
      amount_minor: amountMinor,
      currency,
    }) {
      const input: AuthorizationRef = { tenantId, id };
      const summary = `${currency} ${formatMajor(amountMinor)} with ${card}`;
      return { input, tenantId, provider, reference: token, amountMinor, summary };
    },
  });
