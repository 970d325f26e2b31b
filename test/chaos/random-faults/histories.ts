import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker, type ReplayHistoriesIterable } from '@temporalio/worker';
import { FAMILY_NAMES, GIVEN_NAMES } from '../../../sandbox-bank/shared/directory.js';
import { newCustomer } from '../../support/payments.js';
import type { ChaosCluster } from './cluster.js';

/** Data that no history may hold: recipient accounts of the random-fault run, account holders, keys, secrets. */
const NOWHERE: readonly (readonly [string, RegExp])[] = [
  ['an account number', /012345\d{4}/],
  ['an API key', /\b[sp]k_(?:sandbox|live)_[0-9A-Za-z]/],
  ['a webhook secret', /\bwhsec_[0-9A-Za-z+/]/],
  ["a provider's authorization", /\bauthz_[0-9a-f]/],
  ['the token of a prepaid meter', /(?<![\w-])\d{4}(?:-\d{4}){4}(?![\w-])/],
  [
    'the name of an account holder',
    new RegExp(`\\b(?:${GIVEN_NAMES.join('|')})\\s+(?:${FAMILY_NAMES.join('|')})\\b`, 'i'),
  ],
];

/** The secrets for which logs are searched (test/support/logs.ts), and the customers of this random-fault run. */
function notedSecrets(): (readonly [string, string])[] {
  const file = join(String(process.env['BURSAR_TEST_LOGS']), 'secrets.jsonl');
  const noted = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
  const { email, name } = newCustomer();
  return [
    ...[...noted].map((line) => ['a secret of the tests', JSON.parse(line) as string] as const),
    ['the e-mail address of a customer', email],
    ['the name of a customer', name],
  ];
}

/**
 * Violations in histories: a history holds data that it must not hold, or does not replay with the workflow's code. The
 * logs are searched when the run ends.
 */
export async function wrongHistories(cluster: ChaosCluster): Promise<string[]> {
  const problems: string[] = [];
  const underWay = new Map<string, object>();
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const replayed = Worker.runReplayHistories(
    { workflowBundle: { codePath: cluster.bundle } },
    allHistories(cluster, problems, underWay),
  );
  let count = 0;
  for await (const { workflowId, runId, error } of replayed) {
    count += 1;
    if (error) {
      problems.push(`the history of ${workflowId} does not replay: ${error.message}`);
      cluster.evidence.push({ workflowId, history: underWay.get(runId) });
    }
    underWay.delete(runId);
  }
  if (count === 0) problems.push('no history was replayed');
  return problems;
}

/** Yields all histories, and searches each of them for forbidden data. */
async function* allHistories(
  { service }: ChaosCluster,
  problems: string[],
  underWay: Map<string, object>,
): ReplayHistoriesIterable {
  const { workflow } = service.deps.temporal.client;
  const secrets = notedSecrets();
  for await (const { workflowId, runId } of workflow.list()) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    const text = textOf(history);
    // A history without the record's id was not decoded, so the search below would find no leak either.
    const id = workflowId.slice(workflowId.indexOf('/') + 1);
    if (!text.includes(id)) problems.push(`the history of ${workflowId} is not readable`);
    const leaks = [
      ...NOWHERE.filter(([, pattern]) => pattern.test(text)),
      ...secrets.filter(([, secret]) => text.includes(secret)),
    ];
    problems.push(...leaks.map(([what]) => `the history of ${workflowId} has ${what}`));
    underWay.set(runId, history);
    yield { workflowId, history };
  }
}

/** Everything in a history, payloads decoded. */
const textOf = (history: object): string =>
  JSON.stringify(history, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
    const bytes = value as { type?: string; data?: number[] } | null;
    return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('utf8') : value;
  });
