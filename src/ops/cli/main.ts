#!/usr/bin/env node
import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { Command } from 'commander';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { addCardAuthorizationCommands } from './card-authorizations.js';
import { addChargeCommands } from './charges.js';
import { addCardCommands } from './cards.js';
import { addDoctorCommand } from './doctor.js';
import { addProviderEventCommands } from './provider-events.js';
import { addKeyCommands } from './keys.js';
import { addReconcileCommand } from './reconcile.js';
import { addRefundCommands } from './refunds.js';
import { addRecurringChargeCommands } from './recurring-charges.js';
import { addTenantCommands } from './tenants.js';
import { addTransferCommands } from './transfers.js';
import { addWalletCommands } from './wallets.js';
import { addWebhookCommands } from './webhooks.js';

const program = new Command('bursar')
  .description("The operator's command line. Finds the service by the environment or by dev.json.")
  .showHelpAfterError();
addTenantCommands(program);
addKeyCommands(program);
addWalletCommands(program);
addTransferCommands(program);
addChargeCommands(program);
addRefundCommands(program);
addRecurringChargeCommands(program);
addCardCommands(program);
addCardAuthorizationCommands(program);
addWebhookCommands(program);
addProviderEventCommands(program);
addReconcileCommand(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  console.error(`bursar: ${explain(error)}`);
  process.exitCode = 1;
}

/** A message that an operator can act on, because the drivers' messages name internals only. */
function explain(error: unknown): string {
  if (isDatabaseUnavailable(error)) return 'MongoDB does not answer. Nothing is lost: try again.';
  const isTemporal =
    error instanceof ServiceError ||
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    isGrpcServiceError(error);
  if (isTemporal) {
    return 'Temporal or the worker does not answer. The command may still be done: look before you repeat it.';
  }
  return error instanceof Error ? error.message : String(error);
}
