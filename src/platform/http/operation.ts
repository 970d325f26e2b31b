import type { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.js';
import type { Feature } from '../tenants/tenant.js';

/**
 * Who may call: every secret key whose level suits the method (`key`), public keys too (`public_key`), only keys of
 * level admin (`admin`), a provider by its signature over the raw bytes (`provider`), or anybody (`open`).
 */
export type Access = 'key' | 'public_key' | 'admin' | 'provider' | 'open';

/**
 * A method and a path, whole: what the router, the validation, the OpenAPI document, the typed client and the test of
 * isolation are made of. There is no other way to add a route.
 */
export type Operation = {
  /** Its name in the document and in the client. Frozen once published. */
  id: string;
  tag: string;
  method: 'get' | 'post' | 'put' | 'delete';
  /** Relative to /api/v1, with parameters in braces: `/transfers/{id}`. */
  path: `/${string}`;
  summary: string;
  description?: string;
  access?: Access;
  /** The capability that its tenant must have. */
  feature?: Feature;
  /** A value that does not match belongs to nothing: 404. */
  params?: z.ZodRawShape;
  /** Without it every parameter is refused. */
  query?: z.ZodType;
  /** Of JSON. Without it only an absent body or `{}` is taken; `provider` routes get raw bytes. */
  body?: z.ZodType;
  maxBodyBytes?: number;
  /** It takes an idempotency key; one that also starts a workflow takes `Prefer: wait`. */
  idempotent?: boolean;
  waits?: boolean;
  /** Done again it does no more, although it is no GET: a client may repeat it at will. */
  safe?: boolean;
  answer: { status: 200 | 201; data: z.ZodType; list?: boolean };
  /** What its own rules refuse. What every route can answer is added by itself. */
  refusals?: readonly ErrorCode[];
  examples?: { body?: unknown; data?: unknown };
  /** Operations on what this one made, by the parameter that takes its id. */
  links?: Readonly<Record<string, string>>;
};

/** Keeps the types of an operation's schemas, for its handler and for the client. */
export const operation = <const O extends Operation>(given: O): O => given;

type Output<O, Part extends string> = O extends { [part in Part]: infer S extends z.ZodType }
  ? z.output<S>
  : object;

/** What a handler gets: everything checked, in the schemas' output types. */
export type Input<O extends Operation> = {
  params: O extends { params: infer P extends z.ZodRawShape } ? z.output<z.ZodObject<P>> : object;
  query: Output<O, 'query'>;
  body: Output<O, 'body'>;
};

/** `/transfers/{id}` as the router writes it. */
export const routerPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');
