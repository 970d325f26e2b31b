import { InvalidArgumentError, Option, type Command } from 'commander';
import { canonicalRange } from '../../platform/api-keys/allowed-ips.js';
import { KEY_LEVELS, type KeyLevel } from '../../platform/api-keys/api-key.js';
import { KEY_SCOPES, type KeyScope } from '../../platform/api-keys/scopes.js';
import {
  createKey,
  listKeys,
  MAX_DAYS,
  MAX_OVERLAP_HOURS,
  revokeKey,
  rotateKey,
} from '../operator-api/keys.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, parseWhole } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';
import { printSecret, withFile, type ToFile } from './secret-file.js';

const OVERLAP_HOURS = 24;

type Create = ToFile & {
  tenant: string;
  level: KeyLevel;
  public?: boolean;
  label?: string;
  scope?: KeyScope[];
  allowIp?: string[];
  anyAddress?: boolean;
  expiresInDays?: number;
};

/** Adds the commands for API keys. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys');
  addCreate(keys);
  addRotate(keys);

  addApiCommand<{ tenant?: string }>(
    keys,
    'list',
    (command) =>
      command
        .description(`list the oldest ${LISTED} keys in use, with their last use`)
        .option('--tenant <id>', 'all keys of this tenant, also those that are not in use'),
    async (operator, { json, options: { tenant } }) => {
      const query = { ...(tenant !== undefined && { tenant }) };
      const found = await operator.call(listKeys, { query });
      if (tenant === undefined) printLatest(json, found, LISTED);
      else printTable(json, found);
      const due = found.filter((key) => key['rotation_due'] === true);
      if (json || due.length === 0) return;
      console.log(
        `older than 90 days, to be rotated: ${due.map(({ id }) => id as string).join(', ')}`,
      );
    },
  );

  addApiCommand<{ yes?: boolean }>(
    keys,
    'revoke <key>',
    (command) =>
      addYes(command).description('revoke a key: every process refuses it within a second'),
    async (operator, { json, options: { yes }, args }) => {
      const id = String(args[0]);
      await confirm(`Revoke ${id} permanently?`, { json, yes });
      const input = { params: { id }, body: {} };
      print(json, await operator.call(revokeKey, input, `there is no key ${id}`));
    },
  );
}

function addCreate(keys: Command): void {
  addApiCommand<Create>(
    keys,
    'create',
    (command) =>
      withFile(command)
        .description('create a key; it is printed once')
        .requiredOption('--tenant <id>', 'tenant that the key belongs to')
        .addOption(
          new Option('--level <level>', 'rights of the key')
            .choices(KEY_LEVELS)
            .makeOptionMandatory(),
        )
        .option('--public', 'create a public key, which may be in a browser')
        .option('--label <text>', 'name of the key in lists')
        .option(
          '--scope <scope>',
          `part of the API that the key reaches (${KEY_SCOPES.join(', ')}); repeatable (default: all)`,
          addScope,
        )
        .option('--any-address', 'live: let a key that pays out be used from any address')
        .option('--allow-ip <range>', 'allow only this address or CIDR range; repeatable', addRange)
        .option(
          '--expires-in-days <n>',
          'lifetime of the key (default: a year in live, no expiry in the sandbox)',
          parseWhole(1, MAX_DAYS),
        ),
    async (operator, { json, options }) => {
      const { tenant, level, label, scope, allowIp, anyAddress, expiresInDays } = options;
      const body = {
        tenant,
        level,
        public: options.public ?? false,
        ...(label && { label }),
        ...(scope && { scopes: scope }),
        ...(allowIp && { allowed_ips: allowIp }),
        ...(anyAddress && { any_address: true }),
        ...(expiresInDays && { expires_in_days: expiresInDays }),
      };
      const { toFile } = options;
      await printSecret({ json, ...(toFile !== undefined && { toFile }) }, 'key', () =>
        operator.call(createKey, { body }, `there is no tenant ${tenant}`),
      );
    },
  );
}

function addRotate(keys: Command): void {
  addApiCommand<ToFile & { overlapHours: number; expiresInDays?: number }>(
    keys,
    'rotate <key>',
    (command) =>
      withFile(command)
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
    async (operator, { json, options: { overlapHours, expiresInDays, ...file }, args }) => {
      const id = String(args[0]);
      const body = {
        overlap_hours: overlapHours,
        ...(expiresInDays && { expires_in_days: expiresInDays }),
      };
      const missing = `there is no key ${id} that is active`;
      await printSecret({ json, ...file }, 'key', () =>
        operator.call(rotateKey, { params: { id }, body }, missing),
      );
    },
  );
}

function addScope(text: string, earlier: KeyScope[] = []): KeyScope[] {
  const scope = KEY_SCOPES.find((each) => each === text);
  if (scope === undefined) throw new InvalidArgumentError(`not one of ${KEY_SCOPES.join(', ')}.`);
  return [...earlier, scope];
}

function addRange(text: string, earlier: string[] = []): string[] {
  const range = canonicalRange(text);
  if (range === null) throw new InvalidArgumentError('neither an address nor a CIDR range.');
  return [...earlier, range];
}
