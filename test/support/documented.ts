import type { KeyLevel } from '../../src/platform/api-keys/api-key.js';

type Schema = { type?: unknown; properties?: Record<string, Schema>; $ref?: string };
type Content = { content?: Record<string, { schema: Schema; example?: unknown }> };
type OperationObject = {
  operationId: string;
  summary?: string;
  security: Record<string, string[]>[];
  'x-key-scope'?: string;
  parameters?: { in: string; name: string }[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
};

/** The parts of an OpenAPI document that the tests read. */
export type Document = {
  paths?: Record<string, Record<string, OperationObject>>;
  components?: { schemas?: Record<string, Schema> };
};

/** An operation as the OpenAPI document describes it: tests over all operations know nothing else. */
export type Documented = {
  id: string;
  method: string;
  path: string;
  summary: string;
  /** The level that a secret key needs; null if the caller signs instead. */
  level: KeyLevel | null;
  takesPublicKeys: boolean;
  /** The scope that a narrowed key needs; null if no scope is enough. */
  scope: string | null;
  /** The resources in the path, each by its own path: `/transfers/{id}` also for `/transfers/{id}/timeline`. */
  resources: string[];
  /** The example of the body; undefined for an operation without one. */
  body: unknown;
  status: number;
  /** The schema of `data` in the successful answer. */
  data: Schema;
  isList: boolean;
  takesIdempotencyKey: boolean;
};

const PREFIX = '/api/v1';

/** All operations of a document. Throws if the document lacks something that a call needs. */
export function documented(document: Document): Documented[] {
  const found = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      describeOperation(path.replace(PREFIX, ''), { method, operation, document }),
    ),
  );
  // A walk through none would pass.
  if (found.length === 0) throw new Error('the document has no operation');
  return found;
}

function describeOperation(
  path: string,
  {
    method,
    operation,
    document,
  }: { method: string; operation: OperationObject; document: Document },
): Documented {
  const { operationId: id, security, summary = '', parameters = [], responses } = operation;
  const status = Number(Object.keys(responses).find((code) => code.startsWith('2')));
  const content = operation.requestBody?.content?.['application/json'];
  const level = security.find((scheme) => 'secretKey' in scheme)?.['secretKey']?.[0] ?? null;
  if (content && level !== null && content.example === undefined) {
    throw new Error(`${id} takes a body without an example: add examples.body to the operation`);
  }
  const $ref = responses[status]?.content?.['application/json']?.schema.$ref ?? '';
  const envelope = document.components?.schemas?.[$ref.slice('#/components/schemas/'.length)];
  const data = envelope?.properties?.['data'] ?? {};
  return {
    id,
    method: method.toUpperCase(),
    path,
    summary,
    level: level as KeyLevel | null,
    takesPublicKeys: security.some((scheme) => 'publicKey' in scheme),
    scope: scopeIn(operation),
    resources: [...path.matchAll(/\{\w+\}/g)].map(({ 0: name, index }) =>
      path.slice(0, index + name.length),
    ),
    body: content?.example,
    status,
    data,
    isList: data.type === 'array',
    takesIdempotencyKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
  };
}

const scopeIn = ({ 'x-key-scope': scope = 'none' }: OperationObject) =>
  scope === 'none' ? null : scope;

/** The path with an id for each parameter. */
export const pathWith = ({ path, resources }: Documented, ids: (resource: string) => string) =>
  resources
    .toReversed()
    .reduce(
      (filled, resource) => filled.replace(/\{\w+\}(?=[^{]*$)/, encodeURIComponent(ids(resource))),
      path,
    );
