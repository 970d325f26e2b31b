import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { answer, errorAnswer, type Outcome } from './wire.js';

const MAX_BODY_BYTES = 64 * 1024;

/** Ends a call with its own answer when thrown. */
export class Refusal extends Error {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super('refused');
    this.outcome = outcome;
  }
}

/** Reads the body as JSON of the schema's shape; refuses with 400, 413 or 415. */
export async function readBody<Schema extends z.ZodType>(
  req: IncomingMessage,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (!/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new Refusal(errorAnswer(415, 'unsupported_media_type', 'send application/json'));
  }
  return validate(parseJson(await readBytes(req)), schema);
}

/** Reads the fields of a form; refuses with 400, 413 or 415. */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new Refusal(errorAnswer(415, 'unsupported_media_type', 'send a form'));
  }
  return new URLSearchParams((await readBytes(req)).toString('utf8'));
}

/** Rejects if the client disconnects before the last byte, so half a request is never executed. */
function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('close', () => reject(new Error('the client has gone')));
    req.on('error', reject);
  });
}

function tooLarge(): Refusal {
  const headers = { connection: 'close' };
  return new Refusal(errorAnswer(413, 'too_large', 'the body is too large', headers));
}

function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch {
    throw new Refusal(errorAnswer(400, 'invalid_request', 'the body is not JSON'));
  }
}

/** Returns the value in the schema's shape; refuses with a 400 that names the field and never repeats its value. */
export function validate<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const unknownKeys = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...(issue?.path ?? []), ...unknownKeys].join('.') || null;
  const error = { code: 'invalid_request', message: issue?.message ?? 'not valid', field };
  throw new Refusal(answer(400, { error }));
}

/** Sends the outcome as JSON or text; sends nothing for silence or if the client has disconnected. */
export function send(res: ServerResponse, requestId: string, outcome: Outcome): void {
  if (outcome.kind === 'silence' || res.destroyed) return;
  const isText = typeof outcome.body === 'string';
  const body = Buffer.from(isText ? String(outcome.body) : JSON.stringify(outcome.body));
  res.writeHead(outcome.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': requestId,
    ...outcome.headers,
  });
  if (outcome.sends === 'half') res.write(body.subarray(0, Math.ceil(body.length / 2)));
  else if (outcome.sends) {
    res.flushHeaders();
    setTimeout(() => res.destroyed || res.end(body), outcome.sends.bodyAfterMs).unref();
  } else res.end(body);
}
