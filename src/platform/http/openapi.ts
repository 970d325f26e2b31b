import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { ERRORS, type ErrorCode } from '../../shared/errors.js';
import { metadataLevels } from '../../shared/metadata.js';
import { API_PREFIX, OPERATOR_PREFIX, type Operation } from './operation.js';
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
  info: { title: string; version: string; description: string },
  { prefix, securitySchemes }: DescribedApi = PUBLIC_API,
) {
  const paths: ZodOpenApiPathsObject = {};
  const shared: Refusals = new Map();
  for (const operation of operations.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = `${prefix}${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describe(operation, shared) };
  }
  return createDocument(
    {
      openapi: '3.1.1',
      info,
      servers: [{ url: '/' }],
      tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
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
}

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
      'level includes the rights of the one before.',
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

function describe(operation: Operation, shared: Refusals): ZodOpenApiOperationObject {
  const { id, tag, summary, description } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: security(operation),
    ...parameters(operation),
    ...requestBody(operation),
    responses: {
      [String(operation.answer.status)]: success(operation),
      ...Object.fromEntries(refusals(operation, shared)),
    },
  };
}

function parameters({ params, query, idempotent, waits }: Operation) {
  const headers = {
    ...(idempotent && { 'Idempotency-Key': idempotencyKeyHeader.optional() }),
    ...(waits && { Prefer: prefer.optional() }),
  };
  const requestParams = {
    ...(params && { path: z.object(params) }),
    ...(query && { query: query as z.ZodObject }),
    ...(Object.keys(headers).length > 0 && { header: z.object(headers) }),
  };
  return Object.keys(requestParams).length > 0 ? { requestParams } : {};
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

function success(operation: Operation): ZodOpenApiResponseObject {
  const { answer, idempotent, waits, examples, links } = operation;
  const envelope = answer.list
    ? z.object({ success: z.literal(true), data: z.array(answer.data), pagination })
    : z.object({ success: z.literal(true), data: answer.data });
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
        schema: envelope,
        ...(examples?.data !== undefined && { example: { success: true, data: examples.data } }),
      },
    },
    ...(links && { links: linksOf(links) }),
  };
}

function webhook(name: string, when: string, data: z.ZodType) {
  const schema = z.object({
    id: z
      .string()
      .meta({ description: 'Id of the event: the same in every attempt, and in `webhook-id`.' }),
    event: z.literal(name),
    created_at: timestamp('Time of the event.'),
    sequence: z.int().min(1).meta({
      description: 'Counts the changes of this resource: an event with a lower number is older.',
    }),
    // References the component of answers instead of creating a second one for input.
    data: z.unknown().meta({ override: { $ref: `#/components/schemas/${data.meta()?.id}` } }),
  });
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

/** Answers that operations share are written once, named by their codes. */
type Refusals = Map<string, ZodOpenApiResponseObject>;

function refusals(operation: Operation, shared: Refusals): [string, ZodOpenApiResponseObject][] {
  const codes = [...new Set(codesOf(operation))];
  const statuses = new Set(codes.map((code) => ERRORS[code][0]).toSorted((a, b) => a - b));
  return [...statuses].map((status) => {
    const alike = codes.filter((code) => ERRORS[code][0] === status);
    // Refusals by an operation's own rules are written inline.
    if (status === 422) return [String(status), refusal(status, alike)];
    const id = nameOf(alike[0], alike.at(-1));
    const made = shared.get(id) ?? { ...refusal(status, alike), id };
    shared.set(id, made);
    return [String(status), made];
  });
}

/** A component name: `forbidden`, `ip_not_allowed` → `ForbiddenToIpNotAllowed`. */
function nameOf(...codes: readonly (ErrorCode | undefined)[]): string {
  return [...new Set(codes)]
    .join('_to_')
    .replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function refusal(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const error = z.object({
    code: z.enum(codes as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    status: z.literal(status),
    field: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  });
  return {
    description: DESCRIPTIONS[status] ?? String(status),
    headers: z.object({ ...HEADERS, ...HEADERS_OF[status] }),
    content: {
      'application/json': { schema: z.object({ success: z.literal(false), error }) },
    },
  };
}
