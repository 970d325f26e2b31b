import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../sandbox-bank/shared/signature.js';
import type { Sought } from './data-files.js';

/** A card number with its check digit, as no test and no provider has it. */
const NUMBER = '5264071938254613';
const GROUPED = '5264 0719 3825 4613';
/** Stands for a security code, whose three digits are in every file. */
const CODE = '80613947215';

/** The eight bytes of a number in BSON. */
function bytesOf(write: (bytes: Buffer) => void): string {
  const bytes = Buffer.alloc(8);
  write(bytes);
  return bytes.toString('latin1');
}

/** The planted values, in each form in which they may be stored. */
export const PLANTED_CARD_DATA: readonly Sought[] = [
  ['a card number', NUMBER],
  ['a card number in groups', GROUPED],
  ['a card number as a double', bytesOf((bytes) => bytes.writeDoubleLE(Number(NUMBER)))],
  ['a card number as a long', bytesOf((bytes) => bytes.writeBigInt64LE(BigInt(NUMBER)))],
  ['a security code', CODE],
];

/** Fields that no port names, and some that have the name of one within another object. */
const FIELDS = {
  pan: NUMBER,
  embossed: GROUPED,
  pan_as_number: Number(NUMBER),
  cvv: CODE,
  track2: `${NUMBER}=29121010000${CODE}`,
  [`pan${NUMBER}`]: CODE,
  unmasked: { reference: NUMBER, code: NUMBER, status: Number(NUMBER), lines: [NUMBER, CODE] },
};

/** A copy with the planted fields in each object of it. */
function withCardData(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withCardData);
  const entries = Object.entries(value).map(([name, each]) => [name, withCardData(each)]);
  return { ...Object.fromEntries(entries), ...FIELDS };
}

/** An answer that ends too early, after the planted values. */
const HALF = `${JSON.stringify(FIELDS).slice(0, -1)},"reference":`;

type Proxied = { status: number; headers: [string, string][]; text: string };

/**
 * Starts a proxy to a port that adds card data to each object of the bodies that pass it: to the `answers` of a provider, or to
 * its `messages`, which are signed again with this secret. `isPlanted` selects the paths.
 */
export async function startPlantingProxy(
  port: number,
  isPlanted: (path: string) => boolean,
  direction: { of: 'answers' } | { of: 'messages'; secret: string },
) {
  const planted = new Set<string>();
  const halved = new Set<string>();

  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = req;
    const given = await buffer(req);
    const call = `${method} ${path}`;
    const mustPlant = isPlanted(path);
    const isMessage = mustPlant && direction.of === 'messages';
    const body = isMessage ? Buffer.from(plantIn(given.toString('utf8'), nameIn(given))) : given;
    const headers = new Headers();
    for (const [name, value] of Object.entries(req.headers)) {
      if (typeof value === 'string' && !HOP.has(name)) headers.set(name, value);
    }
    if (isMessage) signAgain(headers, body.toString('utf8'), direction.secret);
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      signal: gone.signal,
      redirect: 'manual',
      ...(given.length > 0 && { body }),
    });
    const text = await answer.text();
    respond(res, mustPlant && direction.of === 'answers' ? call : null, {
      status: answer.status,
      headers: [...answer.headers].filter(([name]) => !HOP.has(name)),
      text,
    });
  }

  function respond(res: ServerResponse, call: string | null, { status, headers, text }: Proxied) {
    const extra = call !== null && { 'x-request-id': NUMBER };
    res.writeHead(status, { ...Object.fromEntries(headers), ...extra });
    if (call === null) return void res.end(text);
    if (halved.delete(call)) return void res.end(HALF);
    res.end(plantIn(text, call));
  }

  /** Only JSON is planted. */
  function plantIn(text: string, what: string): string {
    try {
      const body = JSON.stringify(withCardData(JSON.parse(text)));
      planted.add(what);
      return body;
    } catch {
      return text;
    }
  }

  const server = createServer((req, res) => {
    // The bank hangs up, or the caller has: neither has an answer.
    void pass(req, res).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** The next answer to this call (`POST /v1/fundings`) ends too early. */
    halve: (call: string) => void halved.add(call),
    /** The calls whose answers, or the events whose messages had card data. */
    planted: planted as ReadonlySet<string>,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A proxy that adds card data. */
export type PlantingProxy = Awaited<ReturnType<typeof startPlantingProxy>>;

/** Headers that are of one connection, or of the body as it was. */
const HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'host',
  'expect',
]);

function nameIn(body: Buffer): string {
  const { event = '' } = JSON.parse(body.toString('utf8')) as { event?: string };
  return event;
}

function signAgain(headers: Headers, body: string, secret: string): void {
  const timestamp = String(headers.get(TIMESTAMP_HEADER));
  headers.set(SIGNATURE_HEADER, sign(secret, timestamp, body));
}
