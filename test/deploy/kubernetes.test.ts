import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { backlogs } from '../../src/composition/backlogs.js';
import { COMMANDS } from '../../src/ops/cli/commands.js';
import { createHealth } from '../../src/platform/http/health.js';
import { measureBacklogs } from '../../src/platform/metrics/backlog.js';
import { CONFIG_VARIABLES, loadConfig, type Config } from '../../src/shared/config.js';
import { createLog } from '../../src/shared/log.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { SECRETS } from '../../src/shared/secret-files.js';
import { CERTIFICATES } from '../support/tls-proxy.js';
import {
  containers,
  kustomization,
  ofKind,
  optional,
  otherFiles,
  readManifest,
  resources,
  selects,
  workloads,
  type Container,
} from './manifests.js';

const configuration = ofKind('ConfigMap')[0]?.data ?? {};
const log = createLog({ level: 'silent', name: 'test' });

/** The environment of a container, with a pod's address. */
function environmentOf({ env = [], envFrom = [] }: Container): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }) => [
    name,
    value ?? (valueFrom?.fieldRef.fieldPath === 'status.podIP' ? '10.0.0.7' : undefined),
  ]);
  return { ...(envFrom.length > 0 && configuration), ...Object.fromEntries(own) };
}

/** A value for each secret, by the last part of its path. */
const CONTENTS: Record<string, string> = {
  uri: 'mongodb://user:word@mongodb-0.mongodb.mongodb.svc:27017/?replicaSet=bursar&tls=true&tlsCAFile=/run/secrets/mongodb-ca/ca.crt',
  'key-pepper': 'a pepper of the tests, long enough',
  'sealing-keys': `k1:${Buffer.from('0123456789abcdef0123456789abcdeF').toString('base64')}`,
  'paystack-secret-key': 'sk_live_0123456789abcdef',
  'ca.crt': readFileSync(CERTIFICATES.ca, 'utf8'),
  'tls.crt': readFileSync(CERTIFICATES.certificate, 'utf8'),
  'tls.key': readFileSync(CERTIFICATES.key, 'utf8'),
};

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'bursar-kubernetes-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** The configuration of a container whose secrets are mounted. */
function configOf(container: Container): Config {
  const local = Object.entries(environmentOf(container)).map(([name, value]) => {
    if (!value.startsWith('/run/secrets/')) return [name, value];
    const path = join(folder, value);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, CONTENTS[value.split('/').at(-1) ?? ''] ?? '');
    return [name, path];
  });
  return loadConfig(Object.fromEntries(local));
}

const titled = containers.map(
  (each) => [`${each.workload.metadata.name}/${each.container.name}`, each] as const,
);
const processes = titled.filter(([, { container }]) => container.envFrom !== undefined);

test('the folder has a deployment of each process and the migration, and every file is used', () => {
  expect(titled.map(([name]) => name)).toEqual([
    'bursar-migrate/users',
    'bursar-migrate/migrate',
    'bursar-api/api',
    'bursar-operator/operator',
    'bursar-worker/worker',
  ]);
  expect(otherFiles.toSorted()).toEqual(['README.md', 'optional', 'prometheus-adapter.yaml']);
});

test.each(titled)('every setting of %s exists', (_, { container }) => {
  const known = new Set([
    ...CONFIG_VARIABLES,
    ...SECRETS.map((name) => `${name}_FILE`),
    'TEMPORAL_TLS',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
  ]);
  expect(Object.keys(environmentOf(container)).filter((name) => !known.has(name))).toEqual([]);
});

test.each(processes)('%s has a configuration with which live starts', (name, { container }) => {
  const config = configOf(container);
  expect(config).toMatchObject({
    environment: 'live',
    providers: { transfers: 'paystack', payments: 'paystack', cards: null },
    temporal: { connection: { tls: { clientCertPair: {} } } },
  });
  expect(config.operators.port).toBe(name === 'bursar-operator/operator' ? 8081 : undefined);
});

test.each(titled)(
  'the secrets of %s are files of mounted secrets, and no value is written here',
  (_, { pod, container }) => {
    const named = Object.entries(environmentOf(container)).filter(
      ([name]) => name.endsWith('_FILE') || name.startsWith('TEMPORAL_TLS_'),
    );
    const mounted = container.volumeMounts.map(({ mountPath }) => `${mountPath}/`);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter(([, path]) => !mounted.some((mount) => path.startsWith(mount)))).toEqual(
      [],
    );
    const volumes = new Set(pod.volumes.map(({ name }) => name));
    expect(container.volumeMounts.filter(({ name }) => !volumes.has(name))).toEqual([]);
    const written = container.volumeMounts.filter(({ readOnly }) => !readOnly);
    expect(written.every(({ mountPath }) => mountPath === '/tmp')).toBe(true);
    const plain = SECRETS.filter((name) => name in environmentOf(container));
    expect(plain).toEqual([]);
  },
);

test('no secret is committed, and the README lists every one with its keys', () => {
  expect(ofKind('Secret')).toEqual([]);
  const listed = readManifest('README.md');
  for (const { pod, container } of containers) {
    for (const path of Object.values(environmentOf(container))) {
      const [, mount, key] = /^\/run\/secrets\/([\w-]+)\/(.+)$/.exec(path) ?? [];
      if (key === undefined) continue;
      const secret = pod.volumes.find(({ name }) => name === mount)?.secret?.secretName;
      expect(listed).toMatch(new RegExp(`\\| \`${secret}\` .*\`${key}\``));
    }
  }
});

test('each workload signs in to MongoDB as a user of its own', () => {
  const users = workloads.map(({ metadata, spec }) => [
    metadata.name,
    spec.template.spec.volumes.find(({ name }) => name === 'mongodb')?.secret?.secretName,
  ]);
  expect(Object.fromEntries(users)).toEqual({
    'bursar-api': 'bursar-mongodb-service',
    'bursar-worker': 'bursar-mongodb-service',
    'bursar-operator': 'bursar-mongodb-operator',
    'bursar-migrate': 'bursar-mongodb-migrate',
  });
});

test.each(titled)('%s runs this release with a program of its build', (_, { container }) => {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(container.image).toBe(`bursar:${version}`);
  expect(kustomization.images).toEqual([{ name: 'bursar', newTag: version }]);
  const [program, flag, script = '', ...args] = container.command;
  expect([program, flag]).toEqual(['node', '--enable-source-maps']);
  expect(existsSync(join(packageRoot, script))).toBe(true);
  const commands = new Set(COMMANDS.map(({ name }) => name));
  expect(args.filter((arg) => !commands.has(arg))).toEqual([]);
});

test.each(titled)('%s runs without rights on its node and its cluster', (_, { pod, container }) => {
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(Object.keys(container.resources)).toEqual(['requests', 'limits']);
});

/** The ports on which a process with this configuration listens, by their names in the manifests. */
const portsOf = ({ http, operators, internal, metrics }: Config) => ({
  http: http.port,
  operator: operators.port,
  internal: internal.host === undefined ? undefined : internal.port,
  metrics: metrics.port,
  'sdk-metrics': metrics.temporalPort,
});

test.each(processes)('%s names the ports on which it listens, for all addresses', (name, each) => {
  const config = configOf(each.container);
  const ports = each.container.ports ?? [];
  for (const { name: port, containerPort } of ports) {
    expect({ port, at: portsOf(config)[port as 'http'] }).toEqual({ port, at: containerPort });
  }
  const hosts = [config.http.host, config.metrics.host];
  expect(hosts).toEqual(['0.0.0.0', '0.0.0.0']);
  if (name.startsWith('bursar-operator')) expect(config.operators.host).toBe('0.0.0.0');
});

test('every probe asks a path that its port serves', async () => {
  const app = new Koa();
  app.use(createHealth({ checks: {}, log }).middleware);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const asked = new Set<string>();
  for (const { container } of containers) {
    const { startupProbe, livenessProbe, readinessProbe, ports = [] } = container;
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      if (probe === undefined) continue;
      expect(ports.map(({ name }) => name)).toContain(probe.httpGet.port);
      asked.add(`${probe.httpGet.port === 'metrics' ? 'metrics' : 'health'} ${probe.httpGet.path}`);
    }
  }
  expect([...asked].toSorted()).toEqual([
    'health /health/live',
    'health /health/ready',
    'metrics /metrics',
  ]);
  for (const path of ['/health/live', '/health/ready']) {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
  }
  server.close();
  const deployed = workloads.filter(({ kind }) => kind === 'Deployment');
  for (const { spec } of deployed) {
    expect(spec.template.spec.containers[0]).toMatchObject({ startupProbe: {}, livenessProbe: {} });
  }
});

test('pods have the time that their drain takes', () => {
  for (const { pod, container } of processes.map(([, each]) => each)) {
    if (pod.terminationGracePeriodSeconds === undefined) continue;
    const { drainNoticeMs } = configOf(container).http;
    // 15 seconds for open requests; a worker has 20 for its work in flight.
    const needed = Math.max(drainNoticeMs / 1000 + 15, 20);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(needed);
  }
});

test('services, budgets and autoscalers belong to a deployment, and every deployment has a budget', () => {
  const deployments = ofKind('Deployment');
  const labelsOf = (name: string) =>
    deployments.find(({ metadata }) => metadata.name === name)?.spec.template.metadata.labels ?? {};
  for (const { metadata, spec } of deployments) {
    expect(selects(spec.selector, labelsOf(metadata.name))).toBe(true);
    const budgets = ofKind('PodDisruptionBudget').filter((budget) =>
      selects(budget.spec.selector, labelsOf(metadata.name)),
    );
    expect({ name: metadata.name, budgets: budgets.length }).toMatchObject({ budgets: 1 });
  }
  for (const { metadata, spec } of ofKind('Service')) {
    expect(selects({ matchLabels: spec.selector }, labelsOf(metadata.name))).toBe(true);
    const container = deployments.find((each) => each.metadata.name === metadata.name)?.spec
      .template.spec.containers[0];
    const names = new Set((container?.ports ?? []).map(({ name }) => name));
    expect(spec.ports.filter(({ targetPort }) => !names.has(targetPort))).toEqual([]);
  }
  const scaled = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef.name);
  expect(scaled).toEqual(['bursar-api', 'bursar-worker']);
});

/** The names of the workloads whose pods a selector selects. */
const selectedBy = (selector: Parameters<typeof selects>[0]) =>
  workloads.flatMap(({ metadata, spec }) =>
    selects(selector, spec.template.metadata.labels) ? [metadata.name] : [],
  );

test('an optional policy and an optional monitor are about pods, ports and jobs that exist', () => {
  const policies = optional('egress.yaml').map(({ metadata, spec }) => [
    metadata.name,
    selectedBy(spec.podSelector),
  ]);
  expect(Object.fromEntries(policies)).toEqual({
    'bursar-collector': ['bursar-api', 'bursar-operator', 'bursar-worker'],
    'bursar-issuer': ['bursar-operator'],
  });
  const scraped = optional('pod-monitors.yaml').flatMap(({ spec }) => {
    const pods = selectedBy(spec.selector);
    return spec.podMetricsEndpoints.map(({ port, relabelings: [to] }) => ({ pods, port, ...to }));
  });
  const targetLabel = 'job';
  expect(scraped).toEqual([
    {
      pods: ['bursar-api', 'bursar-operator'],
      port: 'metrics',
      targetLabel,
      replacement: 'bursar-api',
    },
    { pods: ['bursar-worker'], port: 'metrics', targetLabel, replacement: 'bursar-worker' },
    { pods: ['bursar-worker'], port: 'sdk-metrics', targetLabel, replacement: 'temporal-sdk' },
  ]);
  const alerts = readFileSync(join(packageRoot, 'deploy', 'observability', 'alerts.yml'), 'utf8');
  for (const { pods, port, replacement } of scraped) {
    if (port === 'metrics') expect(alerts).toContain(replacement);
    for (const pod of pods) {
      const each = containers.find(({ workload }) => workload.metadata.name === pod)?.container;
      expect({ pod, names: each?.ports?.map(({ name }) => name) }).toEqual({
        pod,
        names: expect.arrayContaining([port]) as unknown,
      });
    }
  }
});

test('workers are scaled by a backlog that exists', async () => {
  const rule = readManifest('prometheus-adapter.yaml');
  const external = ofKind('HorizontalPodAutoscaler').flatMap(({ spec }) =>
    spec.metrics.flatMap(({ external: of }) => (of ? [of.metric.name] : [])),
  );
  expect(external).toEqual(['bursar_backlog_overdue']);
  expect(rule).toContain(`as: ${external[0]}`);
  const registry = new Registry();
  measureBacklogs(registry, { db: {} as never, log, backlogs: {} });
  const [, metric = '', selector = ''] =
    /max by \(backlog\) \((\w+)\{backlog=~"([^"]+)"\}/.exec(rule) ?? [];
  expect(registry.getSingleMetric(metric)).toBeDefined();
  const selected = Object.keys(backlogs).filter((name) =>
    new RegExp(`^(?:${selector})$`).test(name),
  );
  expect(selected).toEqual(expect.arrayContaining(['transfers_overdue', 'webhooks_overdue']));
});

test('nothing is reached but by a rule: each port has one, and no pod is left out', () => {
  const policies = ofKind('NetworkPolicy');
  const portsFor = (labels: Record<string, string>, direction: 'ingress' | 'egress') =>
    policies
      .filter(({ spec }) => selects(spec.podSelector, labels))
      .flatMap(({ spec }) => (spec[direction] ?? []).flatMap(({ ports }) => ports))
      .map(({ port }) => port);
  for (const { metadata, spec } of workloads) {
    const { labels } = spec.template.metadata;
    const all = policies.find((policy) => policy.metadata.name === 'bursar-nothing');
    expect(all?.spec).toEqual({
      podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'bursar' } },
      policyTypes: ['Ingress', 'Egress'],
    });
    expect(selects(all?.spec.podSelector ?? {}, labels)).toBe(true);
    const listening = spec.template.spec.containers.flatMap(({ ports = [] }) => ports);
    const reached = portsFor(labels, 'ingress');
    const closed = listening.filter(({ containerPort }) => !reached.includes(containerPort));
    expect({ name: metadata.name, closed }).toEqual({ name: metadata.name, closed: [] });
    const calls = metadata.name === 'bursar-migrate' ? [27_017] : [27_017, 7233, 443];
    expect(portsFor(labels, 'egress')).toEqual(expect.arrayContaining(calls));
  }
  const temporal = Number(configuration['TEMPORAL_ADDRESS']?.split(':')[1]);
  expect(temporal).toBe(7233);
  const migration = {
    'app.kubernetes.io/name': 'bursar-migrate',
    'app.kubernetes.io/part-of': 'bursar',
  };
  expect(portsFor(migration, 'egress')).not.toContain(443);
  const bare = resources.filter(({ kind }) => kind === 'Pod');
  expect(bare).toEqual([]);
});
