import type { Client } from '@temporalio/client';
import type { Log } from '../../log.js';
import { formatMajor } from '../../money.js';
import { createRecordStarter, type RecordStarter } from '../../temporal/record-starter.js';
import { authorizationWorkflowId, type CardAuthorization } from './authorization.js';
import type { AuthorizationRef } from './reports.js';

/** It takes no commands: what became of a payment is the issuer's to say. */
export type AuthorizationStarter = Omit<RecordStarter<CardAuthorization>, 'command'>;

/** Starts and wakes the workflow that follows an authorization. */
export const createAuthorizationStarter = (settings: {
  client: Client;
  taskQueue: string;
  log: Log;
}): AuthorizationStarter =>
  createRecordStarter<CardAuthorization>({
    ...settings,
    workflow: 'cardAuthorization',
    workflowId: ({ _id }) => authorizationWorkflowId(_id),
    toStart({ _id: id, tenant, card, provider, token, amount_minor: amountMinor, currency }) {
      const input: AuthorizationRef = { tenant, id };
      const summary = `${currency} ${formatMajor(amountMinor)} with ${card}`;
      return { input, tenant, provider, reference: token, amountMinor, summary };
    },
  });
