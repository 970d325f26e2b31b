import type { Command } from 'commander';
import { listSecrets, rotateSecrets } from '../operator-api/secrets.js';
import { addApiCommand } from './command.js';
import { print, printTable } from './print.js';

type Position = { collection: string; after: string | null };

/** Adds the commands for the keys that seal fields in the database. */
export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets');
  addApiCommand(
    secrets,
    'list',
    (command) => command.description('list the sealing keys, and how many records need each'),
    async (operator, { json }) => printTable(json, await operator.call(listSecrets, {})),
  );
  addApiCommand(
    secrets,
    'rotate',
    (command) =>
      command.description(
        'seal all records under the first key, and retire keys that no record needs; exit code 1 if one is still needed',
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
      const needed = keys.filter((key) => key['is_first'] !== true && key['retired_at'] === null);
      const still = needed.map((key) => key['id'] as string);
      print(json, { ok: still.length === 0, ...total, still_needed: still });
      if (still.length > 0) process.exitCode = 1;
    },
  );
}
