import type { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.js';
import type { OperatorRole } from '../operators/operator.js';
import type { ProviderCapability } from '../../shared/provider-settings.js';
import type { Feature } from '../tenants/tenant.js';

/** The prefix of all API paths. Locations and idempotency fingerprints use it instead of the path as the caller spelt it. */
export const API_PREFIX = '/api/v1';
/** The prefix of all paths of the operator API, which listens on a port of its own. */
export const OPERATOR_PREFIX = '/operator/v1';

/**
 * The callers of an operation: every secret key whose level suits the method (`key`), also public keys (`public_key`),
 * only keys of level admin (`admin`), a provider by its signature over the raw bytes (`provider`), or anyone (`open`).
 */
export type Access = 'key' | 'public_key' | 'admin' | 'provider' | 'open';

/**
 * The complete definition of a method and path. The router, the validation, the OpenAPI document, the typed client and
 * the test of tenant isolation are derived from it. There is no other way to add a route.
 */
export type Operation = {
  /** Name in the OpenAPI document and in the client. Frozen once published. */
  id: string;
  tag: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Relative to `API_PREFIX`, with parameters in braces: `/transfers/{id}`. */
  path: `/${string}`;
  summary: string;
  description?: string;
  /** The name of the act in the audit log and in requests for approvals, if it is not the id. */
  act?: string;
  access?: Access;
  /** The roles that may call an operation of the operator API. Left out: every operator. */
  roles?: readonly OperatorRole[];
  /**
   * It only stops spending, such as the lock of a card: a tenant that is frozen may call it too, and it has a window of its own,
   * so that a tenant that has used up its requests can still make it.
   */
  onlyProtects?: true;
  /** The feature that the tenant must have. */
  feature?: Feature;
  /** The provider's capability that the operation needs; the composition sets it. */
  servedBy?: ProviderCapability;
  /** A value that does not match its schema gets 404, because no resource has it. */
  params?: z.ZodRawShape;
  /** The path names what the operation creates, so a value that does not match gets 400, before query and body are checked. */
  namesNew?: true;
  /** Without it, every query parameter is refused. */
  query?: z.ZodType;
  /**
   * The schema of the JSON body. Without it, only an absent body or `{}` is accepted; `provider` operations get raw
   * bytes.
   */
  body?: z.ZodType;
  maxBodyBytes?: number;
  /** The operation accepts an idempotency key. With `waits`, it starts a workflow and accepts `Prefer: wait`. */
  idempotent?: boolean;
  waits?: boolean;
  /** A repeat has no further effect, although the method is not GET: clients may repeat it freely. */
  safe?: boolean;
  answer: { status: 200 | 201; data: z.ZodType; list?: boolean };
  /** Codes with which the operation's own rules refuse. Codes that every operation has are added. */
  refusals?: readonly ErrorCode[];
  examples?: { body?: unknown; data?: unknown };
  /** Operations on the created resource, by the parameter that takes its id. */
  links?: Readonly<Record<string, string>>;
};

/** Preserves the types of an operation's schemas for its handler and for the client. */
export const operation = <const O extends Operation>(given: O): O => given;

type Output<O, Part extends string> = O extends { [part in Part]: infer S extends z.ZodType }
  ? z.output<S>
  : object;

/** The validated input of a handler, in the output types of the schemas. */
export type Input<O extends Operation> = {
  params: O extends { params: infer P extends z.ZodRawShape } ? z.output<z.ZodObject<P>> : object;
  query: Output<O, 'query'>;
  body: Output<O, 'body'>;
};

/** A path in the router's syntax: `/transfers/{id}` becomes `/transfers/:id`. */
export const routerPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');
