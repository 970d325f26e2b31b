import { metadataLevels } from '../../shared/metadata.js';
import { API_PREFIX, type Operation } from './operation.js';

/**
 * Prints the API as TypeScript: the types and the table of operations of the client. It is made from the OpenAPI
 * document rather than from the schemas, so that users of the client need no zod, see every description in their
 * editor, and send numbers where the wire has digits. A generator of our own is needed because existing ones mishandle
 * `oneOf` beside `properties`. It throws on schemas that it does not support. test/client/types.ts verifies with the
 * compiler that schemas and types agree.
 */
export function apiTypeScript(
  operations: readonly Operation[],
  document: OpenApiDocument,
  errorCodes: readonly string[],
): string {
  const called = operations.filter(({ access }) => access !== 'provider');
  const { schemas } = document.components;
  return [
    '// Made by `npm run openapi` from the operations: change those.',
    `/** Every code that the service refuses with. */\nexport type ErrorCode = ${union(errorCodes)};`,
    ...Object.entries(schemas)
      .filter(([name]) => !isAnything(name))
      .map(([name, schema]) => `${comment(schema)}export type ${name} = ${print(schema)};`),
    `/** What a webhook brings. Later versions of the service may send further events. */
     export type WebhookEvent = ${Object.values(document.webhooks)
       .map(({ post }) => print(jsonOf(post.requestBody)))
       .join(' | ')};`,
    `/** What can be called: what it takes, and what it answers. */
     export type Operations = {\n${called.map((one) => signature(one, document)).join('\n')}\n};`,
    `/** How it is called. */
     export const operations = {\n${called.map(entry).join('\n')}\n} as const satisfies Record<keyof Operations, object>;`,
  ].join('\n\n');
}

type Schema = {
  $ref?: string;
  /** The type to print where the schema accepts any JSON. */
  'x-ref'?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema | boolean>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  description?: string | undefined;
  deprecated?: boolean;
  default?: unknown;
};

type Content = { content?: { 'application/json'?: { schema: Schema } } };
type Described = {
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Schema;
  }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};

/** The parts of an OpenAPI document that this file reads. */
export type OpenApiDocument = {
  paths: Record<string, Record<string, Described>>;
  webhooks: Record<string, { post: { requestBody: Content } }>;
  components: { schemas: Record<string, Schema> };
};

function signature(
  { id, summary, description, method, path, answer }: Operation,
  doc: OpenApiDocument,
) {
  const described = doc.paths[`${API_PREFIX}${path}`]?.[method];
  if (!described) throw new Error(`${id} is not in the document`);
  const answered = jsonOf(described.responses[answer.status]).properties?.data as Schema;
  const data = answer.list ? answered.items : answered;
  const text = [summary, description].filter((part) => part !== undefined).join('.\n\n');
  return `${comment({ description: text })}${id}: { input: ${input(id, described)}; data: ${print(data)} };`;
}

/** Combines parameters and body in one object type. Throws if a name could mean two things. */
function input(id: string, { parameters: all = [], requestBody }: Described): string {
  // The client sets headers itself.
  const parameters = all.filter((parameter) => parameter.in !== 'header');
  const named: Schema = {
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [name, { description, ...schema }]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
  if (!requestBody) return parameters.length > 0 ? object(named) : '{}';
  if (parameters.some((parameter) => parameter.in === 'query')) {
    throw new Error(`${id} has a query and a body: the client could not tell them apart`);
  }
  const body = print(jsonOf(requestBody));
  return parameters.length > 0 ? `${object(named)} & ${body}` : body;
}

function entry({ id, method, path, idempotent, waits, safe, answer }: Operation): string {
  const flags = { idempotent, waits, list: answer.list, safe: safe ?? method === 'get' };
  const set = Object.entries(flags).filter(([, on]) => on);
  const how = { method: method.toUpperCase(), path: `${API_PREFIX}${path}` };
  return `${id}: ${JSON.stringify({ ...how, ...Object.fromEntries(set) })},`;
}

function jsonOf(content: Content | undefined): Schema {
  const schema = content?.content?.['application/json']?.schema;
  if (!schema) throw new Error('JSON is all that is understood here');
  return schema;
}

function print(schema: Schema | boolean | undefined): string {
  if (schema === undefined || schema === true) return 'unknown';
  if (schema === false) return 'never';
  const { 'x-ref': meant, $ref = meant, type, anyOf } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice('#/components/schemas/'.length);
    return isAnything(name) ? 'unknown' : name;
  }
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum);
  if (anyOf) return anyOf.map((each) => `(${print(each)})`).join(' | ');
  if (Array.isArray(type)) return type.map((each) => print({ ...schema, type: each })).join(' | ');
  switch (type) {
    case 'integer':
      return 'number';
    case 'number':
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'array':
      return `(${print(schema.items)})[]`;
    case 'object':
      return object(schema);
    case undefined:
      if (Object.keys(schema).every((name) => name === 'description')) return 'unknown';
  }
  throw new Error(`a schema that has no TypeScript yet: ${JSON.stringify(schema)}`);
}

/** The idempotency key in a body is left out, because the client generates one for every call. */
const LEFT_OUT = 'idempotency_key';

function object({ properties, required = [], additionalProperties, oneOf }: Schema): string {
  if (!properties) return `{ [name: string]: ${print(additionalProperties)} }`;
  const field = (name: string, optional: boolean, schema: Schema | boolean | undefined) =>
    `${comment(schema)}${JSON.stringify(name)}${optional ? '?' : ''}: ${print(schema)};`;
  const fields = Object.entries(properties)
    .filter(([name]) => name !== LEFT_OUT)
    .map(([name, schema]) => field(name, !required.includes(name), schema));
  const whole = `{\n${fields.join('\n')}\n}`;
  if (!oneOf) return whole;
  const branches = oneOf.map(({ required = [], properties: none = {} }) => {
    const needed = required.map((name) => field(name, false, properties[name]));
    const others = Object.entries(none).map(([name, schema]) => field(name, true, schema));
    return `{\n${[...needed, ...others].join('\n')}\n}`;
  });
  return `${whole} & (${branches.join(' | ')})`;
}

/** Free-form JSON becomes `unknown`: only the service checks its depth. */
const isAnything = (name: string) => name in metadataLevels || name === 'Json';

const union = (values: readonly unknown[]) =>
  values.map((value) => JSON.stringify(value)).join(' | ');

function comment(schema: Schema | boolean | undefined): string {
  if (typeof schema !== 'object') return '';
  const { description, deprecated } = schema;
  const lines = [
    ...(description === undefined ? [] : description.split('\n')),
    ...(deprecated ? ['@deprecated'] : []),
    ...('default' in schema ? [`@default ${JSON.stringify(schema.default)}`] : []),
  ];
  if (lines.length < 2) return lines.length === 0 ? '' : `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */\n`;
}
