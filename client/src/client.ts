import { operations, type Operations, type Pagination } from './api.js';
import { send, type Answer } from './send.js';
import { VERSION } from './version.js';

/** Settings of a client. */
export type ClientSettings = {
  /** Address of the service, without `/api/v1`. */
  baseUrl: string;
  /** An API key: a secret key on a server, a public key in a browser. */
  key: string;
  /** Time limit of one attempt. Default: 30 s plus the seconds of `wait`. */
  timeoutMs?: number;
  /** Number of retries. Default: 5, over about 6 s. */
  maxRetries?: number;
  fetch?: typeof globalThis.fetch;
};

/**
 * A browser has a User-Agent of its own, and asks the service before it sends another one across origins, so there the header is
 * left out.
 */
const USER_AGENT: Record<string, string> =
  'process' in globalThis || 'Deno' in globalThis
    ? { 'user-agent': `bursar-client/${VERSION}` }
    : {};

type Id = keyof Operations;
type Table = typeof operations;
type When<Name extends Id, Flag extends string, Then> =
  Table[Name] extends Record<Flag, true> ? Then : object;

/** Options of one call. They override the settings of the client. */
export type CallOptions<Name extends Id = Id> = Partial<
  Pick<ClientSettings, 'timeoutMs' | 'maxRetries'>
> & { signal?: AbortSignal } & When<
    Name,
    'idempotent',
    {
      /**
       * Default: a new key for every call that is not safe to repeat. Set it if you may repeat the call after your own process has
       * crashed.
       */
      idempotencyKey?: string;
    }
  > &
  When<
    Name,
    'waits',
    {
      /**
       * Seconds to wait until the record has ended, at most 30. Without it, the call returns when the request is
       * accepted.
       */
      wait?: number;
    }
  >;

/** The result of a call: `data` of the answer, and its metadata. */
export type Result<Name extends Id = Id> = {
  data: Table[Name] extends { list: true } ? Operations[Name]['data'][] : Operations[Name]['data'];
  /** Id of the request, for support by the operator of the service. */
  requestId: string | null;
} & When<Name, 'list', { pagination: Pagination }> &
  When<
    Name,
    'idempotent',
    {
      /** Null for a call that is safe to repeat, if it was made without a key. */
      idempotencyKey: Table[Name] extends { safe: true } ? string | null : string;
      /** True if this is the saved response to an earlier request with the same key. */
      replayed: boolean;
    }
  >;

type Given<Name extends Id> = object extends Operations[Name]['input']
  ? [input?: Operations[Name]['input'], options?: CallOptions<Name>]
  : [input: Operations[Name]['input'], options?: CallOptions<Name>];

type Method<Name extends Id> = ((...given: Given<Name>) => Promise<Result<Name>>) &
  When<
    Name,
    'list',
    {
      /** Iterates over all items from `page` on, page by page. No item is returned twice. */
      all: (...given: Given<Name>) => AsyncGenerator<Operations[Name]['data'], void, undefined>;
    }
  >;

/** A method for every operation. Each takes parameters and body in one object. */
export type Client = { readonly [Name in keyof Operations]: Method<Name> };

/** Values in paths and queries are plain; the body may be any JSON. */
type Plain = string | number | boolean | undefined;
type Input = Record<string, unknown>;
type AnyOptions = CallOptions & { idempotencyKey?: string; wait?: number };
type AnyOperation = {
  method: string;
  path: string;
  idempotent?: true;
  waits?: true;
  list?: true;
  safe?: true;
};
type AnyResult = { data: unknown; pagination: Pagination };
type Call = (input?: Input, options?: AnyOptions) => Promise<AnyResult>;

/** Creates a client. Its methods retry when that is safe, and reject with `BursarError`. */
export function createClient(settings: ClientSettings): Client {
  checkSettings(settings);
  const methods = Object.entries(operations).map(([id, operation]) => {
    const call = caller(settings, id, operation);
    return [id, 'list' in operation ? Object.assign(call, { all: pager(call) }) : call];
  });
  return Object.fromEntries(methods) as Client;
}

function checkSettings({ baseUrl, key }: ClientSettings): void {
  if (!/^https?:\/\//.test(baseUrl))
    throw new TypeError('baseUrl must be an http or https address');
  // Checked here, because the error of fetch would contain the key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('key must be an API key');
}

function caller(settings: ClientSettings, id: string, operation: AnyOperation): Call {
  const { method, idempotent = false, safe = false } = operation;
  const fetch = settings.fetch ?? globalThis.fetch;
  return async (given = {}, options = {}) => {
    const { path, rest } = fillIn(id, operation.path, given);
    const sends = method === 'POST' || method === 'PUT' || method === 'PATCH';
    // A repeat of a safe operation needs no key, and without one it sees the present state.
    const ownKey = safe ? null : crypto.randomUUID();
    const idempotencyKey = idempotent ? (options.idempotencyKey ?? ownKey) : null;
    const wait = operation.waits ? options.wait : undefined;
    const headers = new Headers({
      authorization: `Bearer ${settings.key}`,
      ...USER_AGENT,
      ...(sends && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      ...(wait !== undefined && { prefer: `wait=${wait}` }),
    });
    const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? 30_000 + (wait ?? 0) * 1000;
    const answer = await send(fetch, {
      url:
        settings.baseUrl.replace(/\/+$/, '') +
        path +
        (sends ? '' : query(rest as Record<string, Plain>)),
      method,
      headers,
      body: sends ? JSON.stringify(rest) : undefined,
      safe,
      repeatable: safe || idempotent || method !== 'POST',
      idempotencyKey,
      signal: options.signal,
      timeoutMs,
      maxRetries: options.maxRetries ?? settings.maxRetries ?? 5,
    });
    return present(operation, answer, idempotencyKey);
  };
}

function present(
  { list, idempotent }: AnyOperation,
  { body, headers }: Answer,
  key: string | null,
) {
  const { data, pagination } = body;
  return {
    data,
    requestId: headers.get('x-request-id'),
    ...(list && { pagination }),
    ...(idempotent && {
      idempotencyKey: key,
      replayed: headers.get('idempotent-replayed') === 'true',
    }),
  } as AnyResult;
}

/** Fills in the path parameters and returns the remaining input. */
function fillIn(id: string, template: string, input: Input): { path: string; rest: Input } {
  const rest = { ...input };
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = String((rest[name] as Plain) ?? '');
    // Empty values, `.` and `..` would change the path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${id}: ${name} is required`);
    delete rest[name];
    return encodeURIComponent(value);
  });
  return { path, rest };
}

function query(input: Record<string, Plain>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined) text.set(name, String(value));
  }
  return text.size === 0 ? '' : `?${text.toString()}`;
}

const LONGEST_PAGE = 100;

/** Items that are created during the iteration move others to the next page; those are returned once. */
const pager = (call: Call) =>
  async function* all(input: Input = {}, options?: AnyOptions) {
    let before = new Set<unknown>();
    for (let page = Number(input.page ?? 1); ; page += 1) {
      const { data, pagination } = await call({ limit: LONGEST_PAGE, ...input, page }, options);
      const items = data as { id?: unknown }[];
      yield* items.filter((item) => !before.has(identity(item)));
      if (!pagination.has_more) return;
      before = new Set(items.map(identity));
    }
  };

const identity = (item: { id?: unknown }) => item.id ?? item;
