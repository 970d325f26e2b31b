// npm run chaos:failover -- --kills N; npm run chaos:outages -- --temporal-seconds S; npm run chaos:soak -- --minutes M
// --per-second N. With --patient, for shared machines, time limits are reported and not enforced.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** The options of each chaos test, and the environment variable of each option. */
const SETTINGS = {
  failover: { kills: 'FAILOVER_KILLS' },
  outages: { 'temporal-seconds': 'OUTAGE_TEMPORAL_SECONDS' },
  soak: { minutes: 'SOAK_MINUTES', 'per-second': 'SOAK_PER_SECOND' },
};

const [suite, ...args] = process.argv.slice(2);
const variables = SETTINGS[suite];
const numbers = Object.keys(variables).map((name) => [name, { type: 'string' }]);
const options = { ...Object.fromEntries(numbers), patient: { type: 'boolean' } };
const { patient, ...values } = parseArgs({ args, options }).values;

const env = { ...process.env, ...(patient && { CHAOS_PATIENT: '1' }) };
for (const [name, value] of Object.entries(values)) {
  if (!(Number(value) > 0)) throw new Error(`--${name} has to be a number above 0`);
  env[variables[name]] = value;
}
const jest = fileURLToPath(new URL('jest.mjs', import.meta.url));
// Files run alone where their times are compared with limits.
const config = ['--config', 'jest.chaos.config.js', patient ? '--maxWorkers=2' : '--runInBand'];
const { status } = spawnSync(process.execPath, [jest, ...config, `chaos/${suite}/`], {
  stdio: 'inherit',
  env,
});
process.exitCode = status ?? 1;
