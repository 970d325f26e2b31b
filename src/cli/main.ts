#!/usr/bin/env node
import { Command } from 'commander';
import { addDoctorCommand } from './doctor.js';
import { addKeyCommands } from './keys.js';
import { addReconcileCommand } from './reconcile.js';
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
addWebhookCommands(program);
addReconcileCommand(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  console.error(`bursar: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
