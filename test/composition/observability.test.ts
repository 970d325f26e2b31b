import { readdirSync, readFileSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { Registry } from 'prom-client';
import { backlogs } from '../../src/composition/backlogs.js';
import { measureBreaks } from '../../src/composition/break-metrics.js';
import { measureCommits } from '../../src/composition/commit-metrics.js';
import { measureDecisions } from '../../src/composition/decision-metrics.js';
import { measureFloats } from '../../src/composition/float-metrics.js';
import { measureForwarding } from '../../src/composition/forwarding-metrics.js';
import { measureMoney } from '../../src/composition/money-metrics.js';
import { measureReconciliations } from '../../src/composition/reconciliation-metrics.js';
import { measureDeliveries } from '../../src/composition/webhook-metrics.js';
import { measureOutcomes } from '../../src/composition/outcome-metrics.js';
import { measureProviderCalls } from '../../src/composition/provider-call-metrics.js';
import type { AnsweredDecision } from '../../src/capabilities/card-authorizations/create.js';
import type { CommittedBatch, RecordChange } from '../../src/core/commit/group-commit.js';
import { observed, type ProviderCall } from '../../src/core/providers/observed.js';
import { measureDoctor } from '../../src/ops/doctor/metrics.js';
import { measureBacklogs } from '../../src/platform/metrics/backlog.js';
import { measureBuild } from '../../src/platform/metrics/build.js';
import { measureClaims } from '../../src/platform/metrics/claims.js';
import { measureClosings } from '../../src/platform/metrics/closings.js';
import { measureQueues } from '../../src/platform/metrics/queues.js';
import { measureOperatorErrors, measureRequests } from '../../src/platform/metrics/requests.js';
import { createLog } from '../../src/shared/log.js';

const FOLDER = 'deploy/observability';
const rules = readFileSync(`${FOLDER}/alerts.yml`, 'utf8');
const dashboard = readFileSync(`${FOLDER}/dashboard.json`, 'utf8');
const RUNBOOKS = readdirSync('docs/runbooks').filter((name) => name.endsWith('.md'));

/** The metrics of API and worker together. */
async function allMetrics(): Promise<string> {
  const registry = new Registry();
  const client = new MongoClient('mongodb://127.0.0.1:9/', { serverSelectionTimeoutMS: 3_600_000 });
  const log = createLog({ level: 'silent', name: 'test' });
  const refused = { event_loop: 0, in_flight: 0, connections: 0 };
  measureBacklogs(registry, { db: client.db('nowhere'), backlogs, log });
  measureBreaks(registry, { db: client.db('nowhere'), log });
  measureFloats(registry, { providers: { all: [] }, health: { list: async () => [] }, log });
  measureBuild(registry);
  measureClaims(registry, []);
  measureClosings(registry, { read: async () => null, log });
  measureOutcomes(registry, { onChanged: () => undefined });
  measureProviderCalls(registry);
  measureQueues(registry, {});
  measureCommits(registry, { onBatch: () => undefined });
  measureDoctor(registry, { examine: async () => [], log });
  measureForwarding(registry, {
    forwarding: { onForwarded: () => undefined, contendedWallets: () => 0 },
    processes: { known: () => 0, reportedAt: () => null },
  });
  measureDecisions(registry, { onAnswered: () => undefined }, []);
  measureDeliveries(registry);
  measureMoney(registry, { db: client.db('nowhere'), log });
  measureOperatorErrors(registry);
  measureReconciliations(registry, { runs: { list: async () => [] }, expected: [], log });
  measureRequests(registry, { now: () => ({ working: 0, waiting: 0, refused }) });
  const text = await registry.metrics();
  await client.close();
  return text;
}

test('every metric and every backlog of the alert rules and the dashboard exists', async () => {
  const text = await allMetrics();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const metrics = types.flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [String(name)],
  );
  const known = new Set(metrics);
  const named = [...`${rules}${dashboard}`.matchAll(/\bbursar_[a-z_]+/g)].map(([name]) => name);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  const selectors = [...`${rules}${dashboard}`.matchAll(/backlog=(~?)\\?"([^"\\]+)/g)];
  expect(selectors.length).toBeGreaterThan(5);
  for (const [, isPattern, value = ''] of selectors) {
    for (const part of isPattern ? value.split('|') : [value]) {
      const matches = Object.keys(backlogs).filter((name) => new RegExp(`^${part}$`).test(name));
      expect([part, matches.length > 0]).toEqual([part, true]);
    }
  }
});

test('every metric has a row in the table of the operator’s guide', async () => {
  const page = readFileSync('docs/operating/monitoring.md', 'utf8');
  const documented = new Set([...page.matchAll(/^\| `(bursar_\w+)/gm)].map(([, name]) => name));
  const names = [...(await allMetrics()).matchAll(/^# TYPE (bursar_\S+)/gm)].map(
    ([, name]) => name,
  );
  expect(names.filter((name) => !documented.has(name))).toEqual([]);
});

test('every alert has a runbook and a test, and every runbook an alert', () => {
  const linked = [...rules.matchAll(/runbook: docs\/runbooks\/(\S+)/g)].map(([, page]) => page);
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  expect(linked).toHaveLength(alerts.length);
  expect(new Set(linked)).toEqual(new Set(RUNBOOKS));
  const tests = readFileSync(`${FOLDER}/alerts.test.yml`, 'utf8');
  for (const alert of alerts) {
    const page = RUNBOOKS.map((name) => readFileSync(`docs/runbooks/${name}`, 'utf8'));
    expect([alert, page.some((text) => text.includes(`\`${alert}\``))]).toEqual([alert, true]);
    expect(tests).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:`));
  }
});

test('an outcome is counted once and timed, and one that replaces another is counted alone', async () => {
  const registry = new Registry();
  let commit: (changes: RecordChange[]) => void = () => undefined;
  measureOutcomes(registry, { onChanged: (listener) => void (commit = listener) });
  const record = (status: string) => ({
    _id: 'trf_1',
    tenant_id: 'ten_secret',
    status,
    provider: 'bank',
    submissions: 1,
    created_at: new Date(),
  });
  const change = (from: string, to: string) =>
    commit([{ collection: 'transfers', before: record(from), after: record(to) }]);
  change('pending', 'processing');
  change('processing', 'completed');
  change('completed', 'completed');
  change('completed', 'failed');
  commit([{ collection: 'wallets', before: undefined, after: { _id: 'w', tenant_id: 'ten_a' } }]);
  const text = await registry.metrics();
  const labels = 'collection="transfers",provider="bank"';
  expect(text).toContain(`bursar_outcomes_total{${labels},outcome="completed"} 1`);
  expect(text).toContain(`bursar_outcomes_total{${labels},outcome="failed"} 1`);
  expect(text).toContain(`bursar_time_to_final_seconds_count{${labels}} 1`);
  expect(text).not.toContain('ten_');
});

test('each call to a provider is counted with the kind of its answer, or with the reason why there is none', async () => {
  const calls: ProviderCall[] = [];
  const adapter = observed(
    {
      name: 'bank',
      submit: async () => ({ kind: 'succeeded' }),
      verify: async () => ({ kind: 'unknown', reason: 'timeout' }),
      listBanks: async () => [],
      resolveAccount: async () => ({ kind: 'no_answer', reason: 'server_error' }),
      cancel: async () => {
        throw new Error('broken');
      },
      readMessage: () => ({ kind: 'event' }),
    },
    'transfers',
    (call) => void calls.push(call),
  );
  expect(await adapter.submit()).toEqual({ kind: 'succeeded' });
  await adapter.verify();
  await adapter.listBanks();
  await adapter.resolveAccount();
  await expect(adapter.cancel()).rejects.toThrow('broken');
  adapter.readMessage();
  expect(
    calls.map(({ capability, provider, call, result }) => ({ capability, provider, call, result })),
  ).toEqual(
    [
      ['submit', 'succeeded'],
      ['verify', 'timeout'],
      ['listBanks', 'answered'],
      ['resolveAccount', 'server_error'],
      ['cancel', 'failed'],
    ].map(([call, result]) => ({ capability: 'transfers', provider: 'bank', call, result })),
  );
});

test('a batch, a decision on a card payment and an attempt to deliver an event each change their metrics', async () => {
  const registry = new Registry();
  let batch: (batch: CommittedBatch) => void = () => undefined;
  let answered: (decision: AnsweredDecision) => void = () => undefined;
  measureCommits(registry, { onBatch: (listener) => void (batch = listener) });
  const decisions = { onAnswered: (listener: typeof answered) => void (answered = listener) };
  measureDecisions(registry, decisions, [{ name: 'issuer' }]);
  const attempted = measureDeliveries(registry);
  // An alert on the increase would miss the first sample of a series.
  expect(await registry.metrics()).toContain(
    'bursar_card_decisions_total{provider="issuer",result="late"} 0\n',
  );
  batch({ mutations: 12, seconds: 0.02, conflicts: 1, committed: true });
  batch({ mutations: 1, seconds: 5, conflicts: 3, committed: false });
  answered({ provider: 'issuer', result: 'approved', seconds: 0.1, ratio: 0.07 });
  answered({ provider: 'issuer', result: 'late', seconds: 1.5, ratio: 1 });
  attempted({ result: 'timeout', seconds: 10, delaySeconds: null });
  attempted({ result: 'taken', seconds: 0.05, delaySeconds: 15 });
  const text = await registry.metrics();
  for (const line of [
    'bursar_commit_batch_mutations_bucket{le="8"} 1',
    'bursar_commit_batch_mutations_bucket{le="16"} 2',
    'bursar_commit_duration_seconds_count{result="failed"} 1',
    'bursar_commit_conflicts_total 4',
    'bursar_card_decisions_total{provider="issuer",result="late"} 1',
    'bursar_card_decision_deadline_ratio_bucket{le="0.1",provider="issuer"} 1',
    'bursar_card_decision_duration_seconds_count{provider="issuer"} 2',
    'bursar_webhook_attempts_total{result="timeout"} 1',
    'bursar_webhook_attempt_duration_seconds_count 2',
    'bursar_webhook_delivery_delay_seconds_bucket{le="10"} 0',
    'bursar_webhook_delivery_delay_seconds_count 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
