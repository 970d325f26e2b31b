import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAccounts } from './accounts/accounts.js';
import { createBills } from './billers/bills.js';
import { createTransfers } from './transfers/transfers.js';
import { createTransferOutcomes } from './transfers/transfer-outcomes.js';
import { callbackBody } from './callback-body.js';
import { createCallbacks } from './shared/callbacks.js';
import { createFaults, type Fault, type Faults } from './shared/faults.js';
import { Refusal, send } from './shared/http.js';
import { createLaggingCopy } from './shared/lagging-copy.js';
import { createTurnAway } from './shared/request-handler.js';
import { createChecks } from './identity/checks.js';
import { createIssuer } from './issuer/issuer.js';
import { createJournal, type Journal } from './shared/journal.js';
import { openLog, type Log } from './shared/log.js';
import { createAcquirer } from './acquirer/acquirer.js';
import { createCallbackSender } from './shared/callback-sender.js';
import type { BankRecord } from './records.js';
import type { Route } from './shared/route.js';
import { createRoutes } from './routes.js';
import { createState, type State } from './state.js';
import { createTimers, type Timers } from './shared/timers.js';
import { errorAnswer, SILENCE, type Outcome } from './shared/wire.js';

const CONCLUSIVE_AFTER_MS = 5_000;

/** Settings of a sandbox bank. */
export type SandboxBankOptions = {
  /** 0 or undefined selects any free port. */
  port?: number;
  host?: string;
  /** Folder of the journal. Only one running bank may use it. */
  dataDir: string;
  /** Authenticates clients and signs callbacks. */
  secret: string;
  /** Authenticate clients too, while secrets are exchanged. */
  earlierSecrets?: readonly string[];
  /** A repeated request with the same reference gets the first answer and pays once. */
  deduplicate?: boolean;
  /** De-duplication ends this long after a request was accepted; null or undefined: never. */
  deduplicateForMs?: number | null;
  /** `new_reference`: the address of a payment page is given once, as at some real acquirers. */
  pages?: 'repeatable' | 'new_reference';
  /** Without de-duplication for ever, requests of this age are refused. */
  conclusiveAfterMs?: number;
  /** By default `idempotent`, or `conclusive_after` without `deduplicate`. It takes precedence over `deduplicate`. */
  resendSafety?: 'idempotent' | 'conclusive_after' | 'fence' | 'never' | null;
  /** Receives the outcomes of transfers, charges, refunds and bills. */
  callbackUrl?: string | null;
  /** Receives card events, and decides each authorization. */
  cardCallbackUrl?: string | null;
  /** Time limit of each of the two authorization requests. */
  answerWithinMs?: number;
  /** The party that holds the balances of cards; `issuer` by default. */
  cardBalances?: 'issuer' | 'ours';
  /** The party that keeps changes of a card's state in order; `issuer` by default. */
  cardStateSequence?: 'issuer' | 'ours';
  /** `id`: cards, fundings and disputes are found by the issuer's own ids alone; `reference` by default. */
  cardLookup?: 'reference' | 'id';
  /** The server's address as a browser reaches it; by default the address that it listens on. */
  publicUrl?: string | null;
};

/** A started bank; `close` flushes the journal. */
export type RunningSandboxBank = { url: string; port: number; close(): Promise<void> };

/**
 * Starts the bank: replays its journal, listens, then schedules the pending outcomes and callbacks. Everything that
 * it answers or calls back is on disk first.
 */
export async function startSandboxBank(options: SandboxBankOptions): Promise<RunningSandboxBank> {
  const { host = '127.0.0.1', port = 0 } = options;
  const state = createState();
  const log = await openLog(join(options.dataDir, 'journal.ndjson'), (line) => {
    for (const record of JSON.parse(line) as BankRecord[]) state.apply(record);
  });
  const timers = createTimers();
  const faults = createFaults();
  const callbackSender = createCallbackSender({ secret: options.secret, faults });
  const urls = { transfers: options.callbackUrl ?? null, cards: options.cardCallbackUrl ?? null };
  const callbacks = createCallbacks({
    urls,
    callbackSender,
    log,
    timers,
    bodyOf: (callback) => callbackBody(state, callback),
    done: (delivery, delivered) => journal.callbackDone(delivery, delivered),
  });
  const journal: Journal<BankRecord> = createJournal({ state, log, callbacks });
  const copy = createLaggingCopy();
  const turnAway = createTurnAway({ state, journal });
  const rules = { ...rulesOf(options), turnAway, timers, copy };
  const common = { journal, timers, rules };
  const sendsCallbacks = urls.transfers !== null;
  const publicUrl = () => (options.publicUrl ?? urlOf(server, host)).replace(/\/$/, '');
  const departments = createDepartments({
    ...options,
    ...common,
    state,
    urls,
    log,
    callbackSender,
    sendsCallbacks,
    publicUrl,
    pages: options.pages ?? 'repeatable',
  });
  const routes = createRoutes({
    ...departments,
    secrets: secretsOf(options),
    state,
    faults,
    copy,
    about: aboutOf(options, sendsCallbacks),
  });
  const server = createServer(
    createListener({ routes, faults, log, timers, secrets: secretsOf(options) }),
  );
  // Longer than clients keep idle connections: the client must close first, or its next request may hit a closed
  // connection.
  server.keepAliveTimeout = 65_000;

  await listen(server, { host, port }).catch(async (error: unknown) => {
    await log.close();
    throw error;
  });
  for (const each of [departments, journal]) each.resume();
  return {
    url: urlOf(server, host),
    port: (server.address() as AddressInfo).port,
    close: () => stop({ server, timers, callbacks, callbackSender, log }),
  };
}

type DepartmentParts = Omit<Parameters<typeof createIssuer>[0], 'state'> &
  Pick<Parameters<typeof createAcquirer>[0], 'sendsCallbacks' | 'publicUrl' | 'pages'> & {
    state: State;
    journal: Journal<BankRecord>;
  };

/** Creates the parts of the bank that clients call. `resume` schedules what was still open at the last stop. */
function createDepartments(parts: DepartmentParts) {
  const { state } = parts;
  const outcomes = createTransferOutcomes({ ...parts, state: state.transfers });
  const issuer = createIssuer({ ...parts, state: state.issuer });
  const acquirer = createAcquirer({ ...parts, state: state.acquirer });
  const virtualAccounts = createAccounts({ ...parts, state: state.virtualAccounts });
  const checks = createChecks({ ...parts, state: state.identity });
  const bills = createBills({ ...parts, state: state.bills });
  return {
    transfers: createTransfers({ ...parts, state: state.transfers, outcomes }),
    issuer,
    acquirer,
    virtualAccounts,
    checks,
    bills,
    resume(): void {
      const services = [acquirer, virtualAccounts, checks, bills];
      for (const each of [outcomes, ...Object.values(issuer), ...services]) each.resume();
    },
  };
}

const resendSafetyOf = ({ resendSafety, deduplicate = true }: SandboxBankOptions) =>
  resendSafety ?? (deduplicate ? 'idempotent' : 'conclusive_after');

function rulesOf(options: SandboxBankOptions) {
  const { deduplicateForMs = null, conclusiveAfterMs = CONCLUSIVE_AFTER_MS } = options;
  const resendSafety = resendSafetyOf(options);
  const deduplicate = resendSafety === 'idempotent';
  const refusesOld = deduplicate || resendSafety === 'conclusive_after';
  const fences = resendSafety === 'fence';
  return { deduplicate, deduplicateForMs, conclusiveAfterMs, refusesOld, fences };
}

async function stop(parts: {
  server: Server;
  timers: Timers;
  callbacks: { close(): void };
  callbackSender: { close(): Promise<void> };
  log: Log;
}): Promise<void> {
  const { server, timers, callbacks, callbackSender, log } = parts;
  timers.clear();
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  callbacks.close();
  await callbackSender.close();
  await log.flushed().catch(() => {});
  server.closeAllConnections();
  await stopped;
  await log.close();
}

const aboutOf = (options: SandboxBankOptions, sendsCallbacks: boolean) => ({
  resend_safety: resendSafetyOf(options),
  deduplicate: resendSafetyOf(options) === 'idempotent',
  deduplicate_for_ms: options.deduplicateForMs ?? null,
  final_after_ms: options.conclusiveAfterMs ?? CONCLUSIVE_AFTER_MS,
  sends_callbacks: sendsCallbacks,
  sends_card_callbacks: (options.cardCallbackUrl ?? null) !== null,
});

const listen = (server: Server, { host, port }: { host: string; port: number }) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

type ListenerParts = {
  routes: (method: string, path: string) => Route | Outcome;
  faults: Faults;
  log: Log;
  timers: Timers;
  secrets: readonly string[];
};

/** All secrets that authenticate clients, the first one first. */
const secretsOf = ({ secret, earlierSecrets = [] }: SandboxBankOptions) => [
  secret,
  ...earlierSecrets,
];

function createListener({ routes, faults, log, timers, secrets }: ListenerParts) {
  const accepted = secrets.map((secret) => Buffer.from(`Bearer ${secret}`));
  const processId = randomBytes(6).toString('hex');
  let requests = 0;

  function isAuthentic(req: IncomingMessage): boolean {
    const given = Buffer.from(req.headers.authorization ?? '');
    return accepted.some(
      (expected) => given.length === expected.length && timingSafeEqual(given, expected),
    );
  }

  /** Runs the call with the fault that is set for it; returns null if the connection was reset. */
  async function run(req: IncomingMessage): Promise<Outcome | null> {
    const url = req.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const route = routes(req.method ?? 'GET', path);
    if ('kind' in route) return route;
    if (route.call !== null && !isAuthentic(req)) {
      return errorAnswer(401, 'unauthorized', 'the secret is missing or wrong');
    }
    const execute = await route.read(req, new URLSearchParams(mark === -1 ? '' : url.slice(mark)));

    const fault = route.call === 'other' || !route.call ? null : faults.next(route.call);
    if (fault?.kind === 'hang') return SILENCE;
    if (fault?.kind === 'conflict') return errorAnswer(409, 'reference_conflict', 'a fault');
    if (fault?.kind === 'drop_before') return reset(req);
    if (fault?.kind === 'error_500') return errorAnswer(500, 'internal_error', 'a fault');
    if (fault?.kind === 'throttle') {
      return errorAnswer(429, 'throttled', 'a fault', { 'retry-after': '1' });
    }
    if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    const outcome = await execute();
    await log.flushed();
    const waitMs = outcome.kind === 'answer' ? (outcome.afterMs ?? 0) : 0;
    if (waitMs > 0) await new Promise<void>((resolve) => timers.after(waitMs, resolve));
    if (fault?.kind === 'reset' || fault?.kind === 'drop_after') return reset(req);
    return fault && outcome.kind === 'answer' ? disturbed(outcome, fault) : outcome;
  }

  return (req: IncomingMessage, res: ServerResponse): void => {
    requests += 1;
    const requestId = `sbr_${processId}_${requests}`;
    run(req).then(
      (outcome) => outcome && send(res, requestId, outcome),
      (error: unknown) => {
        const failure = errorAnswer(500, 'internal_error', 'something went wrong');
        send(res, requestId, error instanceof Refusal ? error.outcome : failure);
      },
    );
  };
}

/** The answer of an executed request, as a fault disturbs it. */
function disturbed(outcome: Extract<Outcome, { kind: 'answer' }>, { kind, ms }: Fault): Outcome {
  if (kind === 'half_open') return { ...outcome, sends: 'half' };
  if (kind === 'slow_body') return { ...outcome, sends: { bodyAfterMs: ms } };
  if (kind !== 'unknown_word' || !isStatusBody(outcome.body)) return outcome;
  return { ...outcome, body: { ...outcome.body, status: 'reticulating' } };
}

const isStatusBody = (body: unknown): body is { status: string } =>
  typeof body === 'object' && body !== null && 'status' in body;

function reset(req: IncomingMessage): null {
  req.socket.resetAndDestroy();
  return null;
}
