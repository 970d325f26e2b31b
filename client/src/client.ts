import { operations, type Operations, type Pagination } from './api.js';
import { send, type Answer } from './send.js';

export type ClientSettings = {
  /** Where the service is, without `/api/v1`. */
  baseUrl: string;
  /** A secret key belongs on a server; in a browser, a public one. */
  key: string;
  /** How long one attempt may take. Default: 30 s, and what `wait` asks for on top. */
  timeoutMs?: number;
  /** How many further attempts there may be. Default: 5, over about 6 s. */
  maxRetries?: number;
  fetch?: typeof globalThis.fetch;
};

type Id = keyof Operations;
type Table = typeof operations;
type When<Name extends Id, Flag extends string, Then> =
  Table[Name] extends Record<Flag, true> ? Then : object;

export type CallOptions<Name extends Id = Id> = Partial<
  Pick<ClientSettings, 'timeoutMs' | 'maxRetries'>
> & { signal?: AbortSignal } & When<
    Name,
    'idempotent',
    {
      /** Default: one of its own for every call. Name it where the call may be repeated after a crash of yours. */
      idempotencyKey?: string;
    }
  > &
  When<
    Name,
    'waits',
    {
      /** Seconds to wait for its end, 30 at the most. Without it the answer comes when it is accepted. */
      wait?: number;
    }
  >;

export type Result<Name extends Id = Id> = {
  data: Table[Name] extends { list: true } ? Operations[Name]['data'][] : Operations[Name]['data'];
  /** Names the request to whoever runs the service. */
  requestId: string | null;
} & When<Name, 'list', { pagination: Pagination }> &
  When<
    Name,
    'idempotent',
    {
      idempotencyKey: string;
      /** True if it had been done before, under this key. */
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
      /** Goes through all pages, from `page` on. */
      all: (...given: Given<Name>) => AsyncGenerator<Operations[Name]['data'], void, undefined>;
    }
  >;

/** A method for every operation. It takes parameters and body in one object. */
export type Client = { readonly [Name in keyof Operations]: Method<Name> };

/** What goes into an address is plain; the body is JSON as it is. */
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

export function createClient(settings: ClientSettings): Client {
  checkSettings(settings);
  const methods = Object.entries(operations).map(([id, operation]) => {
    const call = caller(settings, id, operation);
    return [id, 'list' in operation ? Object.assign(call, { all: pager(call) }) : call];
  });
  return Object.fromEntries(methods) as Client;
}

function checkSettings({ baseUrl, key }: ClientSettings): void {
  if (!/^https?:\/\//.test(baseUrl)) throw new TypeError('baseUrl: an http or https address');
  // Here, because fetch would put it into the message of its own error.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('key: an API key is needed');
}

function caller(settings: ClientSettings, id: string, operation: AnyOperation): Call {
  const { method, idempotent = false, safe = false } = operation;
  const fetch = settings.fetch ?? globalThis.fetch;
  return async (given = {}, options = {}) => {
    const { path, rest } = fillIn(id, operation.path, given);
    const sends = method === 'POST' || method === 'PUT';
    const idempotencyKey = idempotent ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
    const wait = operation.waits ? options.wait : undefined;
    const headers = new Headers({
      authorization: `Bearer ${settings.key}`,
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

function present({ list }: AnyOperation, { body, headers }: Answer, key: string | null) {
  const { data, pagination } = body;
  return {
    data,
    requestId: headers.get('x-request-id'),
    ...(list && { pagination }),
    ...(key !== null && {
      idempotencyKey: key,
      replayed: headers.get('idempotent-replayed') === 'true',
    }),
  } as AnyResult;
}

/** The path with its parameters, and what is left of the input. */
function fillIn(id: string, template: string, input: Input): { path: string; rest: Input } {
  const rest = { ...input };
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = String((rest[name] as Plain) ?? '');
    // Empty, and what an address takes for folders, would lead somewhere else.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${id}: ${name} is needed`);
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

/** What comes in meanwhile pushes others to the next page: those are told once. */
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
