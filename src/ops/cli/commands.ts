import type { Command } from 'commander';

type Entry = {
  name: string;
  description: string;
  /** Loads the code of this command alone; the function adds it under the name above. */
  load: () => Promise<(program: Command) => void>;
};

/** All commands, in the order of the help. Each is loaded when it is used, so that the help does not wait for it. */
export const COMMANDS: readonly Entry[] = [
  {
    name: 'sign-in',
    description: 'sign in as an operator, at the issuer of OpenID Connect',
    load: async () => (await import('./sign-in.js')).addSignInCommand,
  },
  {
    name: 'sign-out',
    description: 'end the sign-in',
    load: async () => (await import('./sign-in.js')).addSignOutCommand,
  },
  {
    name: 'attention',
    description: 'list records of all kinds that need an operator, the longest waiting first',
    load: async () => (await import('./attention.js')).addAttentionCommand,
  },
  {
    name: 'tenants',
    description: 'manage tenants',
    load: async () => (await import('./tenants.js')).addTenantCommands,
  },
  {
    name: 'keys',
    description: 'manage API keys',
    load: async () => (await import('./keys.js')).addKeyCommands,
  },
  {
    name: 'wallets',
    description: 'manage wallets',
    load: async () => (await import('./wallets.js')).addWalletCommands,
  },
  {
    name: 'ledger',
    description: 'close the days of the ledger and audit it',
    load: async () => (await import('./ledger.js')).addLedgerCommands,
  },
  {
    name: 'secrets',
    description: 'rotate sealing keys, key peppers and providers’ secrets',
    load: async () => (await import('./secrets.js')).addSecretCommands,
  },
  {
    name: 'transfers',
    description: 'manage transfers',
    load: async () => (await import('./transfers.js')).addTransferCommands,
  },
  {
    name: 'charges',
    description: 'manage charges',
    load: async () => (await import('./charges.js')).addChargeCommands,
  },
  {
    name: 'refunds',
    description: 'manage refunds',
    load: async () => (await import('./refunds.js')).addRefundCommands,
  },
  {
    name: 'disputes',
    description: 'inspect disputes of charges, and end their attention',
    load: async () => (await import('./disputes.js')).addDisputeCommands,
  },
  {
    name: 'payment-tokens',
    description: 'inspect payment tokens',
    load: async () => (await import('./payment-tokens.js')).addPaymentTokenCommands,
  },
  {
    name: 'recurring-charges',
    description: 'manage recurring charges',
    load: async () => (await import('./recurring-charges.js')).addRecurringChargeCommands,
  },
  {
    name: 'bill-payments',
    description: 'manage bill payments',
    load: async () => (await import('./instructions.js')).addCapabilityCommands('bill-payments'),
  },
  {
    name: 'cards',
    description: 'manage cards and their operations',
    load: async () => (await import('./cards.js')).addCardCommands,
  },
  {
    name: 'card-authorizations',
    description: 'inspect card authorizations, ask their issuers, and clear attention',
    load: async () => (await import('./card-authorizations.js')).addCardAuthorizationCommands,
  },
  {
    name: 'card-disputes',
    description: 'inspect disputes of card payments',
    load: async () => (await import('./card-disputes.js')).addCardDisputeCommands,
  },
  {
    name: 'virtual-accounts',
    description: 'manage virtual accounts',
    load: async () => (await import('./instructions.js')).addCapabilityCommands('virtual-accounts'),
  },
  {
    name: 'deposits',
    description: 'manage deposits on virtual accounts',
    load: async () => (await import('./deposits.js')).addDepositCommands,
  },
  {
    name: 'identity-checks',
    description: 'manage identity checks',
    load: async () => (await import('./instructions.js')).addCapabilityCommands('identity-checks'),
  },
  {
    name: 'customers',
    description: 'erase the personal data of customers',
    load: async () => (await import('./customers.js')).addCustomerCommands,
  },
  {
    name: 'webhooks',
    description: 'manage webhook endpoints, deliveries and events',
    load: async () => (await import('./webhooks.js')).addWebhookCommands,
  },
  {
    name: 'events',
    description: 'replay an event of a tenant or of a provider by its id',
    load: async () => (await import('./events.js')).addEventCommands,
  },
  {
    name: 'providers',
    description: 'inspect providers: health, faults, unknown words',
    load: async () => (await import('./providers.js')).addProviderCommands,
  },
  {
    name: 'provider-events',
    description: 'inspect and replay provider events',
    load: async () => (await import('./provider-events.js')).addProviderEventCommands,
  },
  {
    name: 'reconcile',
    description: 'compare records with those of their providers; exit code 1 on any difference',
    load: async () => (await import('./reconcile.js')).addReconcileCommand,
  },
  {
    name: 'breaks',
    description: 'list and end differences between Bursar and its providers',
    load: async () => (await import('./breaks.js')).addBreakCommands,
  },
  {
    name: 'statements',
    description: 'import statements of providers, and compare them with the ledger',
    load: async () => (await import('./statements.js')).addStatementCommands,
  },
  {
    name: 'approvals',
    description: 'decide the requests of others for acts that need a second person',
    load: async () => (await import('./approvals.js')).addApprovalCommands,
  },
  {
    name: 'audit',
    description: 'list, export and verify the acts of operators',
    load: async () => (await import('./audit.js')).addAuditCommands,
  },
  {
    name: 'operators',
    description: 'manage operators and their keys',
    load: async () => (await import('./operators.js')).addOperatorAccountCommands,
  },
  {
    name: 'database-users',
    description: 'create or update the users and roles of the database; needs its administrator',
    load: async () => (await import('./database-users.js')).addDatabaseUsersCommand,
  },
  {
    name: 'migrate',
    description: 'create or update the collections of the database; needs the database',
    load: async () => (await import('./migrate.js')).addMigrateCommand,
  },
  {
    name: 'restored',
    description:
      'after a restore, before API and worker start: verify at the provider before anything is submitted; needs the database',
    load: async () => (await import('./restored.js')).addRestoredCommand,
  },
  {
    name: 'doctor',
    description: 'check the service and its dependencies; exit code 1 on any problem',
    load: async () => (await import('./doctor.js')).addDoctorCommand,
  },
  {
    name: 'completion',
    description: 'print a script that completes commands in a shell (bash or zsh)',
    load: async () => (await import('./completion.js')).addCompletionCommand,
  },
];

/** Adds all commands: those that `loads` accepts with their code, the others by name and description alone. */
export async function addCommands(
  program: Command,
  loads: (name: string) => boolean,
): Promise<void> {
  for (const { name, description, load } of COMMANDS) {
    if (loads(name)) (await load())(program);
    else program.command(name);
    program.commands.find((command) => command.name() === name)?.description(description);
  }
}
