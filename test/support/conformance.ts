import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Document } from './documented.js';

type Answer = { status: number; headers: Headers; text: string };

const isTime = (text: string) => /T.*Z$/.test(text) && !Number.isNaN(Date.parse(text));
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/**
 * Creates a check that lists how an answer deviates from the OpenAPI document: status, headers and body. It is stricter
 * than clients have to be: a field that the document does not name is a deviation.
 */
export function conformance(document: Document) {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
  // `example` does not restrict values; the others contain schemas.
  ajv.addVocabulary(['example', 'components', 'paths']);
  ajv.addFormat('date-time', isTime);
  ajv.addFormat('date', isDay);
  const { components, paths } = closed(document) as { components: unknown; paths: Paths };
  const whole = { components, paths };
  // Each schema is found by its place in the document and compiled once.
  ajv.addSchema(whole, 'document');

  return (
    { path, method }: { path: string; method: string },
    { status, headers, text }: Answer,
  ): string[] => {
    const place = ['paths', `/api/v1${path}`, method.toLowerCase(), 'responses', String(status)];
    const given = paths[`/api/v1${path}`]?.[method.toLowerCase()]?.responses[status];
    const answer = given?.$ref ? resolve(whole, given.$ref) : given;
    const pointer = given?.$ref ?? `#/${place.map(escaped).join('/')}`;
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    if (!answer?.content?.[type]) return [`${status} with ${type} is not in the document`];
    const missing = Object.entries(answer.headers ?? {})
      .filter(([name, { required }]) => required && !headers.has(name))
      .map(([name]) => `there is no ${name}`);
    const validate = ajv.getSchema(`document${pointer}/content/${escaped(type)}/schema`);
    if (!validate) throw new Error(`there is no schema at ${pointer}`);
    if (validate(JSON.parse(text))) return missing;
    return [...missing, ...(validate.errors ?? []).map((error) => JSON.stringify(error))];
  };
}

/** A part of a JSON pointer in a URI. */
const escaped = (part: string) =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

type Response = {
  $ref?: string;
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, unknown>;
};
type Paths = Record<string, Record<string, { responses: Record<string, Response> }>>;

function resolve(document: object, $ref: string): Response {
  let found: unknown = document;
  for (const part of $ref.split('/').slice(1)) found = (found as Record<string, unknown>)[part];
  return found as Response;
}

/** The same document, with every object closed that names its fields. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, part]) => [name, closed(part)]));
  const names = 'properties' in node && 'type' in node && node.type === 'object';
  return names ? { additionalProperties: false, ...copy } : copy;
}
