import { Agent, fetch } from 'undici';
import type { z } from 'zod';
import { OPERATOR_PREFIX, type Operation } from '../../platform/http/operation.js';
import { readDevJson } from '../../shared/find-service.js';
import { withSecretFiles } from '../../shared/secret-files.js';
import { showWaiting, type ReadPosition } from './progress.js';

/** A command that could not be carried out: printed as one line, with exit code 1. */
export class CommandError extends Error {}

/** The people of `npm start` that a command may sign in as. */
export const SIGN_INS = ['operator', 'approver'] as const;
type SignIn = (typeof SIGN_INS)[number];

type Part<O, Name extends string> = O extends { [name in Name]: infer S extends z.ZodType }
  ? { [name in Name]: z.input<S> }
  : object;
type Params<O> = O extends { params: infer P extends z.ZodRawShape }
  ? { params: z.input<z.ZodObject<P>> }
  : object;
/** The input of an operation, as its schemas take it. */
type CallInput<O> = Params<O> & Part<O, 'query'> & Part<O, 'body'>;
type AnyInput = { params?: object; query?: object; body?: object };

/** A client of the operator API: one method for every operation, typed by the operation's schemas. */
export type OperatorClient = {
  /**
   * Returns the answer's data. Throws a `CommandError` with the API's message, or with `missing` for a 404. Where the service
   * keeps how far it has come, `position` reads that for a person who waits.
   */
  call<O extends Operation>(
    operation: O,
    input: CallInput<O>,
    missing?: string,
    position?: ReadPosition,
  ): Promise<z.output<O['answer']['data']>>;
};

/** No limit for an answer: a verification of the ledger takes as long as the ledger needs. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 5_000 });

/**
 * Finds the operator API and the sign-in: BURSAR_OPERATOR_URL first, then dev.json; BURSAR_OPERATOR_TOKEN (an ID token) or
 * BURSAR_OPERATOR_KEY first, then the file of `bursar sign-in`, then dev.json. A sign-in of a file is sent only to the service
 * that it was made for. Neither key nor token is an option, because the process list shows options.
 */
export function findOperatorApi(
  as: SignIn | undefined,
  env: NodeJS.ProcessEnv = process.env,
): OperatorClient {
  const url = findOperatorUrl(env);
  const dev = env.BURSAR_OPERATOR_URL ? null : readDevJson(env);
  return clientWith(url, async () => {
    if (as !== undefined) return required(dev?.operators?.[as]);
    const given = env.BURSAR_OPERATOR_TOKEN || withSecretFiles(env).BURSAR_OPERATOR_KEY;
    if (given) return given;
    const { currentIdToken } = await import('./id-token.js');
    return (await currentIdToken(url, env)) ?? required(dev?.operators?.operator);
  });
}

function required(found: string | undefined): string {
  if (found) return found;
  throw new CommandError(
    'nobody has signed in: run bursar sign-in, or set BURSAR_OPERATOR_KEY where there is no issuer',
  );
}

/** The address of the operator API: BURSAR_OPERATOR_URL, or that of dev.json. */
export function findOperatorUrl(env: NodeJS.ProcessEnv): string {
  const url = env.BURSAR_OPERATOR_URL || readDevJson(env)?.operator_url;
  if (url) return url;
  throw new CommandError(
    'the address of the operator API is missing: set BURSAR_OPERATOR_URL, or run npm start',
  );
}

/** The client of an operator API that sends this key or token. */
export const clientWith = (url: string, bearer: () => Promise<string>): OperatorClient => ({
  call: async (operation, input, missing, position) =>
    send({ url, bearer: await bearer(), position }, operation, input, missing),
});

async function send<O extends Operation>(
  { url, bearer, position }: { url: string; bearer: string; position: ReadPosition | undefined },
  { method, path }: O,
  input: AnyInput,
  missing: string | undefined,
): Promise<z.output<O['answer']['data']>> {
  const { params = {}, query = {}, body } = input;
  const target = new URL(`${OPERATOR_PREFIX}${filled(path, params)}`, url);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) target.searchParams.set(name, String(value));
  }
  const endWaiting = showWaiting(position);
  const response = await fetch(target, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(method !== 'get' && { body: JSON.stringify(body ?? {}) }),
    dispatcher: patient,
  }).catch(() => {
    endWaiting();
    throw new CommandError(
      `the operator API at ${url} does not answer. An act may have been carried out: show the record before you repeat it.`,
    );
  });
  const answer = (await response.json().catch(() => null)) as Answer | null;
  endWaiting();
  // The API builds its answers from the same schemas.
  if (answer?.success) {
    noteWaiting(answer.data);
    return answer.data as z.output<O['answer']['data']>;
  }
  if (response.status === 404 && missing !== undefined) throw new CommandError(missing);
  const { message = `answered ${response.status}`, field } = answer?.error ?? {};
  throw new CommandError(field === undefined ? message : `${message} (${field})`);
}

/** An act that waits for a second person was not done: the command prints its request, and ends with exit code 1. */
function noteWaiting(data: unknown): void {
  const { done, approval } = (data ?? {}) as { done?: unknown; approval?: unknown };
  if (done === false && approval !== undefined) process.exitCode = 1;
}

type Answer =
  { success: true; data: unknown } | { success: false; error: { message: string; field?: string } };

const filled = (path: string, params: object) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[name])),
  );
