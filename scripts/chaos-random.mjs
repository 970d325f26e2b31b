// npm run chaos:random -- --seed N --minutes M [--long-freezes] [--clients N] [--only WORKLOAD,…] [--seeded-bug NAME]
// npm run chaos:random -- --provider paystack --seed N --minutes M: with our own Paystack in the sandbox bank's place.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkSeededBugs, seedBug } from './seeded-bugs.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '3' },
    'long-freezes': { type: 'boolean', default: false },
    clients: { type: 'string', default: '56' },
    provider: { type: 'string', default: 'sandbox-bank' },
    only: { type: 'string' },
    'seeded-bug': { type: 'string' },
  },
});
// Checks the seeded bugs first: a change of a transition can break a bug's patch, and the checker would go untested.
checkSeededBugs();
const seeded = values['seeded-bug'] === undefined ? null : seedBug(values['seeded-bug']);
/** The runs, by the provider that takes part. */
const RUNS = { 'sandbox-bank': 'random-faults/random-faults', paystack: 'paystack/random' };
const run = RUNS[values.provider];
if (run === undefined) throw new Error(`no such provider: ${values.provider}`);
const jest = fileURLToPath(new URL('jest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [jest, '--config', 'jest.chaos.config.js', run], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CHAOS_SEED: values.seed,
    CHAOS_MINUTES: values.minutes,
    CHAOS_CLIENTS: values.clients,
    CHAOS_LONG_FREEZES: String(values['long-freezes']),
    ...(values.only && { CHAOS_ONLY: values.only }),
    ...(seeded && { CHAOS_DIST: seeded.dist, CHAOS_ENV: JSON.stringify(seeded.env) }),
  },
});
seeded?.remove();
process.exitCode = status ?? 1;
