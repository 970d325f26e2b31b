import { Option, type Command } from 'commander';
import { KEY_LEVELS, type KeyLevel } from '../api-keys/api-key.js';
import { addCommand, CommandError } from './command.js';
import { print, printTable } from './print.js';

type Create = { tenant: string; level: KeyLevel; public?: boolean; label?: string };

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys');

  addCommand<Create>(
    keys,
    'create',
    (command) =>
      command
        .requiredOption('--tenant <id>')
        .addOption(new Option('--level <level>').choices(KEY_LEVELS).makeOptionMandatory())
        .option('--public', 'a key for clients, not for servers')
        .option('--label <text>'),
    async (deps, { json, options }) => {
      const { tenant, level, label } = options;
      const kind = options.public ? 'public' : 'secret';
      const key = await deps.apiKeys.create({ tenant, level, kind, ...(label && { label }) });
      print(json, key);
    },
  );

  addCommand<{ tenant: string }>(
    keys,
    'list',
    (command) => command.requiredOption('--tenant <id>'),
    async (deps, { json, options }) => {
      const found = await deps.apiKeys.list(options.tenant);
      const rows = found.map((key) => ({
        id: key.id,
        kind: key.kind,
        level: key.level,
        label: key.label,
        created_at: key.createdAt.toISOString(),
        last_used_at: key.lastUsedAt?.toISOString() ?? null,
        revoked_at: key.revokedAt?.toISOString() ?? null,
        rotation_due: key.rotationDue,
      }));
      printTable(json, rows);
    },
  );

  addCommand(
    keys,
    'revoke <key>',
    (command) => command,
    async (deps, { json, args }) => {
      const id = String(args[0]);
      if (!(await deps.apiKeys.revoke(id))) throw new CommandError(`there is no key ${id}`);
      print(json, { id, revoked: true });
    },
  );
}
