// npm run crash:storm -- --seed N --minutes M [--long-freezes] [--clients N] [--only ACTOR,…] [--plant NAME]
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkPlants, plant } from './plants.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '3' },
    'long-freezes': { type: 'boolean', default: false },
    clients: { type: 'string', default: '56' },
    only: { type: 'string' },
    plant: { type: 'string' },
  },
});
// A storm is worth what its checker sees: who changes a guard hears at once that its plant no longer fits.
checkPlants();
const planted = values.plant === undefined ? null : plant(values.plant);
const jest = fileURLToPath(new URL('jest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [jest, '--config', 'jest.proof.config.js', 'storm/storm'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      STORM_SEED: values.seed,
      STORM_MINUTES: values.minutes,
      STORM_CLIENTS: values.clients,
      STORM_LONG_FREEZES: String(values['long-freezes']),
      ...(values.only && { STORM_ONLY: values.only }),
      ...(planted && { STORM_DIST: planted.dist }),
    },
  },
);
planted?.remove();
process.exitCode = status ?? 1;
