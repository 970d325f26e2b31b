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
    name: 'tenants',
    description: 'who may use the service',
    load: async () => (await import('./tenants.js')).addTenantCommands,
  },
  {
    name: 'keys',
    description: 'API keys',
    load: async () => (await import('./keys.js')).addKeyCommands,
  },
  {
    name: 'wallets',
    description: 'money that can be spent',
    load: async () => (await import('./wallets.js')).addWalletCommands,
  },
  {
    name: 'ledger',
    description: 'the books',
    load: async () => (await import('./wallets.js')).addLedgerCommands,
  },
  {
    name: 'transfers',
    description: 'what was promised',
    load: async () => (await import('./transfers.js')).addTransferCommands,
  },
  {
    name: 'charges',
    description: 'what customers pay',
    load: async () => (await import('./charges.js')).addChargeCommands,
  },
  {
    name: 'refunds',
    description: 'what customers get back',
    load: async () => (await import('./refunds.js')).addRefundCommands,
  },
  {
    name: 'recurring',
    description: 'charges that come again',
    load: async () => (await import('./recurring.js')).addRecurringCommands,
  },
  {
    name: 'cards',
    description: 'cards, and what their issuers are told',
    load: async () => (await import('./cards.js')).addCardCommands,
  },
  {
    name: 'authorizations',
    description: 'payments with cards',
    load: async () => (await import('./authorizations.js')).addAuthorizationCommands,
  },
  {
    name: 'webhooks',
    description: 'what tenants are told',
    load: async () => (await import('./webhooks.js')).addWebhookCommands,
  },
  {
    name: 'events',
    description: 'what happened',
    load: async () => (await import('./events.js')).addEventCommands,
  },
  {
    name: 'reconcile',
    description: 'hold our records against the provider; exit code 1 when anything differs',
    load: async () => (await import('./reconcile.js')).addReconcileCommand,
  },
  {
    name: 'doctor',
    description: 'whether all that the service stands on is right; exit code 1 if not',
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
