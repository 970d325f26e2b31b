import { InvalidArgumentError, Option, type Command } from 'commander';
import { canonicalRange } from '../../platform/api-keys/allowed-ips.js';
import { KEY_LEVELS, type KeyLevel } from '../../platform/api-keys/api-key.js';
import type { ApiKeyInfo } from '../../platform/api-keys/store.js';
import { addCommand, CommandError, parseWhole } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printTable } from './print.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** A century: a larger number is a typing error. */
const MAX_DAYS = 36_500;
const MAX_OVERLAP_HOURS = 90 * 24;
const OVERLAP_HOURS = 24;

type Create = {
  tenant: string;
  level: KeyLevel;
  public?: boolean;
  label?: string;
  allowIp?: string[];
  expiresInDays?: number;
};

/** Adds the commands for API keys. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys');
  addCreate(keys);
  addRotate(keys);

  addCommand<{ tenant: string }>(
    keys,
    'list',
    (command) =>
      command
        .description('list the keys of a tenant, with their last use')
        .requiredOption('--tenant <id>', 'tenant whose keys are listed'),
    async (deps, { json, options }) => {
      const found = await deps.apiKeys.list(options.tenant);
      printTable(json, found.map(presentKey));
      const due = found.filter((key) => key.rotationDue);
      if (json || due.length === 0) return;
      console.log(`older than 90 days, to be rotated: ${due.map((key) => key.id).join(', ')}`);
    },
  );

  addCommand<{ yes?: boolean }>(
    keys,
    'revoke <key>',
    (command) =>
      addYes(command).description('revoke a key: every process refuses it within a second'),
    async (deps, { json, options: { yes }, args }) => {
      const id = String(args[0]);
      await confirm(`Revoke ${id} permanently?`, { json, yes });
      if (!(await deps.apiKeys.revoke(id))) throw new CommandError(`there is no key ${id}`);
      print(json, { id, revoked: true });
    },
  );
}

function addCreate(keys: Command): void {
  addCommand<Create>(
    keys,
    'create',
    (command) =>
      command
        .description('create a key; it is printed once')
        .requiredOption('--tenant <id>', 'tenant that the key belongs to')
        .addOption(
          new Option('--level <level>', 'rights of the key')
            .choices(KEY_LEVELS)
            .makeOptionMandatory(),
        )
        .option('--public', 'create a public key, which may be in a browser')
        .option('--label <text>', 'name of the key in lists')
        .option('--allow-ip <range>', 'allow only this address or CIDR range; repeatable', addRange)
        .option(
          '--expires-in-days <n>',
          'lifetime of the key (default: no expiry)',
          parseWhole(1, MAX_DAYS),
        ),
    async (deps, { json, options }) => {
      const { tenant: tenantId, level, label, allowIp, expiresInDays } = options;
      const key = await deps.apiKeys.create({
        tenantId,
        level,
        kind: options.public ? 'public' : 'secret',
        ...(label && { label }),
        ...(allowIp && { allowedIps: allowIp }),
        ...(expiresInDays && { expiresAt: inDays(expiresInDays) }),
      });
      print(json, key);
    },
  );
}

function addRotate(keys: Command): void {
  addCommand<{ overlapHours: number; expiresInDays?: number }>(
    keys,
    'rotate <key>',
    (command) =>
      command
        .description(
          'create a new key with the same settings; the old key works until the overlap ends',
        )
        .option(
          '--overlap-hours <n>',
          'time for which the old key still works',
          parseWhole(0, MAX_OVERLAP_HOURS),
          OVERLAP_HOURS,
        )
        .option(
          '--expires-in-days <n>',
          'lifetime of the new key (default: that of the old key)',
          parseWhole(1, MAX_DAYS),
        ),
    async (deps, { json, options, args }) => {
      const { overlapHours, expiresInDays } = options;
      const made = await deps.apiKeys.rotate(String(args[0]), {
        overlapMs: overlapHours * HOUR_MS,
        expiresAt: expiresInDays === undefined ? undefined : inDays(expiresInDays),
      });
      if (!made) throw new CommandError(`there is no key ${args[0]} that is active`);
      const { id, key, oldExpiresAt } = made;
      print(json, { id, key, old_expires_at: oldExpiresAt.toISOString() });
    },
  );
}

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

function addRange(text: string, earlier: string[] = []): string[] {
  const range = canonicalRange(text);
  if (range === null) throw new InvalidArgumentError('neither an address nor a CIDR range.');
  return [...earlier, range];
}

const presentKey = (key: ApiKeyInfo) => ({
  id: key.id,
  kind: key.kind,
  level: key.level,
  label: key.label,
  allowed_ips: key.allowedIps,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  replaced_by: key.replacedBy,
  rotation_due: key.rotationDue,
});
