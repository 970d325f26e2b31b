import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';

const FOLDER = join(packageRoot, 'deploy', 'kubernetes');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

type Labels = Record<string, string>;
type Selector = {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
};
type Probe = { httpGet: { path: string; port: string } };
type Setting = {
  name: string;
  value?: string;
  valueFrom?: { fieldRef: { fieldPath: string } };
};

/** A container of a pod. */
export type Container = {
  name: string;
  image: string;
  command: string[];
  env?: Setting[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  resources: { requests: Labels; limits: Labels };
  securityContext: object;
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
};

type Pod = {
  terminationGracePeriodSeconds?: number;
  securityContext: object;
  automountServiceAccountToken: boolean;
  initContainers?: Container[];
  containers: Container[];
  volumes: { name: string; secret?: { secretName: string }; emptyDir?: object }[];
};

type Rule = { ports: { port: number }[] };

/** A resource of the manifests, as far as the tests read it. */
export type Resource = {
  kind: string;
  metadata: { name: string };
  data?: Labels;
  spec: {
    selector: Selector & Labels;
    podSelector: Selector;
    policyTypes: string[];
    ingress?: Rule[];
    egress?: Rule[];
    ports: { targetPort: string }[];
    scaleTargetRef: { kind: string; name: string };
    metrics: { external?: { metric: { name: string } } }[];
    template: { metadata: { labels: Labels }; spec: Pod };
    podMetricsEndpoints: {
      port: string;
      relabelings: { targetLabel: string; replacement: string }[];
    }[];
  };
};

/** The kustomization, whose resources are all manifests of the folder. */
export const kustomization = parse(read('kustomization.yaml')) as {
  resources: string[];
  images: { name: string; newTag: string }[];
};

/** Every resource of the deployment. */
export const resources: Resource[] = kustomization.resources.flatMap(resourcesIn);

/** The resources of a file that the kustomization leaves out. */
export const optional = (name: string) => resourcesIn(join('optional', name));

function resourcesIn(name: string): Resource[] {
  const documents = parseAllDocuments(read(name), { merge: true });
  return documents.map((document) => document.toJS() as Resource);
}

/** Resources of one kind. */
export const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind);

/** Deployments and jobs. */
export const workloads = resources.filter(({ spec }) => spec?.template !== undefined);

/** All containers, each with its workload and its pod. */
export const containers = workloads.flatMap((workload) => {
  const pod = workload.spec.template.spec;
  return [...(pod.initContainers ?? []), ...pod.containers].map((container) => ({
    workload,
    pod,
    container,
  }));
});

/** The files of the folder that are neither resources nor the kustomization. */
export const otherFiles = readdirSync(FOLDER).filter(
  (name) => !kustomization.resources.includes(name) && name !== 'kustomization.yaml',
);

/** The text of a file of the folder. */
export const readManifest = read;

/** True if a selector selects a pod with these labels. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels) {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(String(labels[key])))
  );
}
