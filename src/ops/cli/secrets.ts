import type { Command } from 'commander';
import { listSecrets, rotateSecrets } from '../operator-api/secrets.js';
import { addApiCommand } from './command.js';
import { print, printTable } from './print.js';

type Position = { collection: string; after: string | null };

/** Adds the commands for the secrets that are rotated by lists. */
export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets');
  addApiCommand(
    secrets,
    'list',
    (command) =>
      command.description(
        'list sealing keys, key peppers and providers’ secrets, and what needs each',
      ),
    async (operator, { json }) => printTable(json, await operator.call(listSecrets, {})),
  );
  addApiCommand(
    secrets,
    'rotate',
    (command) =>
      command.description(
        'seal all records under the first key, and retire keys that no record needs; exit code 1 if an earlier key or pepper is still needed',
      ),
    async (operator, { json }) => {
      let from: Position | null = null;
      const total = { resealed: 0, unopened: 0, retired: [] as string[] };
      do {
        const step = await operator.call(rotateSecrets, { body: from === null ? {} : { from } });
        total.resealed += Number(step['resealed']);
        total.unopened += Number(step['unopened']);
        total.retired.push(...(step['retired'] as string[]));
        from = step['next'] as Position | null;
      } while (from !== null);
      const keys = await operator.call(listSecrets, {});
      const still = keys.filter(isStillNeeded).map((key) => key['id'] as string);
      print(json, { ok: still.length === 0, ...total, still_needed: still });
      if (still.length > 0) process.exitCode = 1;
    },
  );
}

/** A sealing key is needed until it is retired, a pepper until no key in use has its hash under it. */
const isStillNeeded = (row: Record<string, unknown>): boolean => {
  if (row['is_first'] === true) return false;
  return row['secret'] === 'BURSAR_SEALING_KEYS'
    ? row['retired_at'] === null
    : Number(row['records']) > 0;
};
