import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { ERRORS, type ErrorCode } from '../../shared/errors.js';
import { metadataLevels } from '../../shared/metadata.js';
import { describeFields } from './field-descriptions.js';
import { nameForms } from './forms.js';
import { API_PREFIX, OPERATOR_PREFIX, type Operation } from './operation.js';
import { scopeOf } from '../api-keys/scopes.js';
import { idempotencyKeyHeader, jsonComponents, pagination, prefer, timestamp } from './wire.js';

const header = (id: string, schema: z.ZodType, description: string) => ({
  [id]: schema.meta({ description, header: { id } }),
});
const count = z.int().min(0);

/** Headers of every answer. */
const HEADERS = {
  ...header('X-Request-Id', z.string(), 'Id of the request. Your own id, if you sent a valid one.'),
  ...header('X-RateLimit-Limit', count, 'Requests allowed in this window.'),
  ...header('X-RateLimit-Remaining', count, 'Requests that remain in this window.'),
  ...header('X-RateLimit-Reset', count, 'End of this window, in Unix seconds.'),
};
const RETRY_AFTER = header('Retry-After', count, 'Seconds to wait before the next attempt.');
const HEADERS_OF: Readonly<Record<number, Record<string, z.ZodType>>> = {
  401: header('WWW-Authenticate', z.string().optional(), '`Bearer`.'),
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};
const HEADERS_OF_MADE = header('Location', z.string(), 'Path of the created resource.');
const HEADERS_OF_REPEATABLE = header(
  'Idempotent-Replayed',
  z.literal('true').optional(),
  'Present on the saved response to an earlier request with this key.',
);
const HEADERS_OF_WAITING = header(
  'Preference-Applied',
  z.string().optional(),
  'The wait that was applied from `Prefer: wait=N`.',
);

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid. `field` names the first invalid field, and `details.issues` lists all of them.',
  401: 'The API key is missing or not valid.',
  403: 'The API key does not have the right to do this.',
  404: 'The resource does not exist, or belongs to another tenant.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'A business rule refuses the request. `code` names the rule.',
  429: 'Too many requests.',
  500: 'An internal error.',
  503: 'The service is temporarily unavailable. Try again with the same idempotency key.',
};

/**
 * The webhook events of one resource: when each is sent, by its name, and the schema of the resource that it carries.
 */
export type Events = { when: Readonly<Record<string, string>>; data: z.ZodType };

/** Creates the OpenAPI 3.1 document of these operations from the schemas that the service validates with. */
export function openApiDocument(
  operations: readonly Operation[],
  events: readonly Events[],
  { tags = {}, ...info }: DocumentInfo,
  { prefix, securitySchemes }: DescribedApi = PUBLIC_API,
) {
  const paths: ZodOpenApiPathsObject = {};
  const shared: Shared = { refusals: new Map(), envelopes: new Map() };
  for (const operation of operations.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = `${prefix}${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describe(operation, shared) };
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info,
      servers: [{ url: '/' }],
      tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
        name,
        ...(tags[name] && { description: tags[name] }),
      })),
      paths,
      webhooks: Object.fromEntries(
        events.flatMap(({ when, data }) =>
          Object.entries(when).map(([name, text]) => [name, webhook(name, text, data)]),
        ),
      ),
      components: { securitySchemes, schemas: { ...jsonComponents, ...metadataLevels } },
    },
    {
      // Answers may get more fields, so clients must tolerate additional ones.
      override: ({ jsonSchema, io }) => {
        if (io === 'output') delete jsonSchema.additionalProperties;
      },
    },
  );
  nameForms(document.components?.schemas ?? {});
  describeFields(document);
  return document;
}

/** The texts about an API, and about the groups of its operations by their names. */
type DocumentInfo = {
  title: string;
  version: string;
  description: string;
  tags?: Readonly<Record<string, string>>;
};

type DescribedApi = {
  prefix: string;
  securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>;
};

const publicSchemes = {
  secretKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A secret key, `sk_sandbox_…` or `sk_live_…`. For servers only. Its level is `read`, `write` or `admin`; each ' +
      'level includes the rights of the one before. A key may have scopes: then it calls only operations whose `x-key-scope` is ' +
      'one of them.',
  },
  publicKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A public key, `pk_sandbox_…` or `pk_live_…`. May be visible to anyone.',
  },
} as const;
const operatorSchemes = {
  operatorKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An ID token of the issuer at which operators sign in, or, without an issuer, a key of an operator (`op_sandbox_…` or ' +
      '`op_live_…`). Each operation names the roles that may call it.',
  },
} as const;

const PUBLIC_API: DescribedApi = { prefix: API_PREFIX, securitySchemes: publicSchemes };
/** The operator API, whose callers are operators. */
export const OPERATOR_API: DescribedApi = {
  prefix: OPERATOR_PREFIX,
  securitySchemes: operatorSchemes,
};

function describe(operation: Operation, shared: Shared): ZodOpenApiOperationObject {
  const { id, tag, summary, description } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: security(operation),
    ...scopeIn(operation),
    ...parameters(operation),
    ...requestBody(operation),
    responses: {
      [String(operation.answer.status)]: success(operation, shared),
      ...Object.fromEntries(refusals(operation, shared)),
    },
  };
}

function parameters({ id, params, query, idempotent, waits }: Operation) {
  // Sample requests show a header that has an example: without a key, a repeat may pay twice.
  const example = `${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-1`;
  const headers = {
    ...(idempotent && { 'Idempotency-Key': idempotencyKeyHeader.meta({ example }).optional() }),
    ...(waits && { Prefer: prefer.optional() }),
  };
  const requestParams = {
    ...(params && { path: z.object(params) }),
    ...(query && { query: query as z.ZodObject }),
    ...(Object.keys(headers).length > 0 && { header: z.object(headers) }),
  };
  return Object.keys(requestParams).length > 0 ? { requestParams } : {};
}

/** The scope that a narrowed key needs, for operations that take keys. */
function scopeIn(operation: Operation): { 'x-key-scope'?: string } {
  const { access = 'key', roles } = operation;
  if (roles || access === 'provider' || access === 'open') return {};
  return { 'x-key-scope': scopeOf(operation) ?? 'none' };
}

/** The keys that may call an operation, with the lowest level of a secret key. */
function security({ access = 'key', method, roles }: Operation): Record<string, string[]>[] {
  if (roles) return [{ operatorKey: [...roles] }];
  if (access === 'provider' || access === 'open') return [];
  const level = access === 'admin' ? 'admin' : method === 'get' ? 'read' : 'write';
  return [{ secretKey: [level] }, ...(access === 'public_key' ? [{ publicKey: [] }] : [])];
}

function requestBody({ access, body, examples }: Operation) {
  if (access === 'provider') {
    return { requestBody: { content: { 'application/json': { schema: z.unknown() } } } };
  }
  if (!body) return {};
  return {
    requestBody: {
      required: !body.safeParse({}).success,
      content: {
        'application/json': {
          schema: body,
          ...(examples?.body !== undefined && { example: examples.body }),
        },
      },
    },
  };
}

function success(operation: Operation, shared: Shared): ZodOpenApiResponseObject {
  const { answer, idempotent, waits, examples, links } = operation;
  const headers = {
    ...HEADERS,
    ...(answer.status === 201 && HEADERS_OF_MADE),
    ...(idempotent && HEADERS_OF_REPEATABLE),
    ...(waits && HEADERS_OF_WAITING),
  };
  return {
    description: answer.status === 201 ? 'Created.' : 'Success.',
    headers: z.object(headers),
    content: {
      'application/json': {
        schema: envelopeOf(operation, shared),
        ...(examples?.data !== undefined && { example: { success: true, data: examples.data } }),
      },
    },
    ...(links && { links: linksOf(links) }),
  };
}

/** The body of a successful answer, a component with the name of its data. Operations with the same data share one. */
function envelopeOf({ id, answer: { data, list } }: Operation, { envelopes }: Shared): z.ZodType {
  const name = `${data.meta()?.id ?? pascal(id)}${list ? 'List' : 'Response'}`;
  const success = z.literal(true).meta({ description: 'True for every successful answer.' });
  const made =
    envelopes.get(name) ??
    z.object(list ? { success, data: z.array(data), pagination } : { success, data }).meta({
      id: name,
      description: list ? 'A page of results.' : 'A successful answer.',
    });
  envelopes.set(name, made);
  return made;
}

function webhook(name: string, when: string, data: z.ZodType) {
  const component = data.meta()?.id;
  const schema = z
    .object({
      id: z
        .string()
        .meta({ description: 'Id of the event: the same in every attempt, and in `webhook-id`.' }),
      event: z.literal(name).meta({ description: 'Name of the event.' }),
      type: z
        .literal(name)
        .meta({ description: 'The same name, as Standard Webhooks call the field.' }),
      created_at: timestamp('Time of the event.'),
      sequence: z.int().min(1).meta({
        description: 'Counts the changes of this resource: an event with a lower number is older.',
      }),
      // References the component of answers, if it is one, instead of creating a second one for input.
      data:
        component === undefined
          ? data
          : z.unknown().meta({
              override: {
                $ref: `#/components/schemas/${component}`,
                description: 'The resource after the change.',
              },
            }),
    })
    .meta({ id: `${pascal(name)}Event`, description: `Sent when ${when}.` });
  const text = z.string();
  return {
    post: {
      operationId: name,
      summary: name,
      description: `Sent when ${when}. Signed according to Standard Webhooks; a 2xx answer within ten seconds confirms it.`,
      requestParams: {
        header: z.object({
          'webhook-id': text,
          'webhook-timestamp': text,
          'webhook-signature': text,
        }),
      },
      requestBody: { content: { 'application/json': { schema } } },
      responses: { '2XX': { description: 'Received.' } },
    },
  } as const;
}

const linksOf = (links: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(links).map(([operationId, parameter]) => [
      operationId,
      { operationId, parameters: { [parameter]: '$response.body#/data/id' } },
    ]),
  );

/** The codes with which an operation can refuse: those of its own rules, and those that follow from its properties. */
function codesOf(operation: Operation): ErrorCode[] {
  const { access = 'key', method, params, idempotent, refusals = [] } = operation;
  const { feature, servedBy } = operation;
  const keyed = access !== 'provider' && access !== 'open';
  const sends = method !== 'get';
  return [
    'validation_error',
    ...(keyed ? KEY_REFUSALS : []),
    ...(feature || servedBy ? (['feature_not_enabled'] as const) : []),
    ...(params ? (['not_found'] as const) : []),
    ...(sends ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(idempotent ? (['idempotency_key_reused'] as const) : []),
    ...refusals,
    'rate_limit_exceeded',
    'internal_error',
    'service_unavailable',
  ];
}

const KEY_REFUSALS = [
  'unauthorized',
  'invalid_key',
  'expired_key',
  'wrong_environment',
  'forbidden',
  'ip_not_allowed',
] as const satisfies ErrorCode[];

/** Answers that operations share are written once: refusals by the name of their codes, envelopes by that of their data. */
type Shared = {
  refusals: Map<string, ZodOpenApiResponseObject>;
  envelopes: Map<string, z.ZodType>;
};

function refusals(operation: Operation, shared: Shared): [string, ZodOpenApiResponseObject][] {
  const codes = [...new Set(codesOf(operation))];
  const statuses = new Set(codes.map((code) => ERRORS[code][0]).toSorted((a, b) => a - b));
  return [...statuses].map((status) => {
    const alike = codes.filter((code) => ERRORS[code][0] === status);
    // The rules of an operation are its own.
    if (status === 422) return [String(status), refusal(status, alike, pascal(operation.id))];
    const id = nameOf(alike[0], alike.at(-1));
    const made = shared.refusals.get(id) ?? { ...refusal(status, alike, id), id };
    shared.refusals.set(id, made);
    return [String(status), made];
  });
}

/** A component name: `forbidden`, `ip_not_allowed` → `ForbiddenToIpNotAllowed`. */
function nameOf(...codes: readonly (ErrorCode | undefined)[]): string {
  return pascal([...new Set(codes)].join('_to_'));
}

/** `card.operation_failed` → `CardOperationFailed`. */
const pascal = (name: string) =>
  name.replaceAll(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function refusal(
  status: number,
  codes: readonly ErrorCode[],
  name: string,
): ZodOpenApiResponseObject {
  const error = z.object({
    code: z
      .enum(codes as [ErrorCode, ...ErrorCode[]])
      .meta({ description: 'The reason, for programs.' }),
    message: z.string().meta({ description: 'The reason, for people. It may change.' }),
    status: z.literal(status).meta({ description: 'The status of the response.' }),
    field: z.string().optional().meta({ description: 'The first field that is not valid.' }),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'More about the reason; its fields depend on `code`.' }),
  });
  const success = z.literal(false).meta({ description: 'False for every refusal.' });
  const schema = z
    .object({ success, error })
    .meta({ id: `${name}Refusal`, description: 'The refusal of a request.' });
  return {
    description: DESCRIPTIONS[status] ?? String(status),
    headers: z.object({ ...HEADERS, ...HEADERS_OF[status] }),
    content: {
      'application/json': { schema },
    },
  };
}
