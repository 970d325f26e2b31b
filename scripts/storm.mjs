// npm run crash:storm -- --seed N --minutes M [--long-freezes]
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '3' },
    'long-freezes': { type: 'boolean', default: false },
  },
});
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
      STORM_LONG_FREEZES: String(values['long-freezes']),
    },
  },
);
process.exitCode = status ?? 1;
