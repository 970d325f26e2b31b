import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answers.js';
import { createContext, type PaystackOptions } from './context.js';
import { createDesk } from './desk.js';
import { createFakeServer, type Request } from './http.js';
import { createMessages } from './messages.js';
import { pageFor } from './pages.js';
import type { SavedOutcome } from './records.js';
import { answerOf, createPlans, type Fault, type FaultRule } from './plans.js';
import type { RefundForm } from './refunds.js';
import { noSuchPath, routesOf, wrongKey } from './routes.js';
import { openStore, type RecordedRequest } from './store.js';

/** A running fake. */
export type Paystack = Awaited<ReturnType<typeof startPaystack>>;

/** Pause before a request of which the answer is awaited no longer. */
const LATE_MS = 3_000;
const SLOW_MS = 4_000;
const BALANCE = 100_000_000_000;

/**
 * Starts a Paystack of our own, for tests: an HTTP server with its state and its journal in a folder, written from the
 * official document. It never sends a request but its messages.
 */
export async function startPaystack(options: PaystackOptions) {
  const store = openStore(options.dataDir);
  const plans = createPlans();
  const ctx = createContext(store, plans, options);
  if (ctx.isFirst('balance')) store.move(options.balance ?? BALANCE);
  const messages = createMessages(
    ctx,
    { keys: options.keys, webhookUrl: options.webhookUrl ?? null },
    ({ does, key, status }) => void moves[does](key, status),
  );
  const desk = createDesk(ctx, messages);
  const moves = {
    transfer: desk.moveTransfer,
    refund: desk.moveRefund,
    assign: (key: string, status: string) => desk.assignAccount(key, status),
    identify: (key: string, status: string) => desk.concludeCheck(key, status),
  };
  const routes = routesOf(ctx, desk);
  const requests: RecordedRequest[] = [];
  const record = (request: RecordedRequest): void => {
    requests.push(request);
    if (options.recordTo) appendFileSync(options.recordTo, `${JSON.stringify(request)}\n`);
  };

  async function handle(request: Request): Promise<Answer> {
    if (request.path.startsWith('/_fake/')) return control(request);
    const shown = pageFor(ctx, desk, request);
    if (shown) return shown;
    const { method, path, query, body } = request;
    const found = routes.find((route) => route.method === method && route.path.test(path));
    if (!found) return noSuchPath;
    record({ method, path, query, body: method === 'POST' ? body : undefined });
    if (!options.keys.some((key) => request.authorization === `Bearer ${key}`)) return wrongKey;
    const parameter = decodeURIComponent(found.path.exec(path)?.[1] ?? '');
    return withFault(plans.next(found.call), () => found.handle({ ...request, parameter }));
  }

  async function withFault(fault: Fault | undefined, carryOut: () => Answer): Promise<Answer> {
    if (fault === undefined) return carryOut();
    if (fault === 'hang' || fault === 'hang_after') {
      if (fault === 'hang_after') carryOut();
      await sleep(20_000, undefined, { ref: false });
      return { status: 0, body: null, cut: true };
    }
    if (fault === 'late') {
      await sleep(LATE_MS);
      return { ...carryOut(), cut: true };
    }
    if (fault === 'slow') {
      await sleep(SLOW_MS);
      return carryOut();
    }
    const instead = answerOf(fault, Date.now());
    if (instead) return instead;
    const answer = carryOut();
    return fault === 'drop_after'
      ? { ...answer, cut: true }
      : { status: 500, body: { status: false, message: 'Internal error' } };
  }

  /** The control routes, for tests of another process and for people. */
  function control({ path, body }: Request): Answer {
    const [, , what = '', act = ''] = path.split('/');
    if (what === 'health') return { status: 200, body: { ok: true, waiting: messages.waiting() } };
    if (what === 'journal') return { status: 200, body: { entries: store.journal() } };
    if (what === 'faults') plans.setRules(body['rules'] as FaultRule[]);
    else if (what === 'plan')
      plans.plan(String(body['call']), body['fault'] as Fault, Number(body['times'] ?? 1));
    else if (what === 'desk') {
      const acts = desk as unknown as Record<string, (...args: unknown[]) => unknown>;
      return { status: 200, body: { result: acts[act]?.(...(body['args'] as unknown[])) ?? null } };
    } else return noSuchPath;
    return { status: 200, body: {} };
  }

  const server = createFakeServer(handle);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...desk,
    plan: plans.plan,
    setRules: plans.setRules,
    requests,
    journal: store.journal,
    balance: store.balance,
    pauseMessages: messages.pause,
    sendInDisorder: messages.sendInDisorder,
    messagesWaiting: messages.waiting,
    changesPlanned: messages.planned,
    sendTo: messages.sendTo,
    /** Sets the form of the messages about refunds. */
    setRefundForm: (form: RefundForm | null): void => void (ctx.refundForm.value = form),
    transfer: (reference: string) => ctx.transfers.get(reference),
    transaction: (reference: string) => ctx.transactions.get(reference),
    transactions: () => ctx.transactions.all(),
    authorizations: () => ctx.authorizations.all(),
    /** The outcome of the next charge of a saved method. */
    setNext(code: string, next: SavedOutcome): void {
      const found = ctx.authorizations.get(code);
      if (found) ctx.authorizations.put(code, { ...found, next });
    },
    refunds: () => ctx.refunds.all(),
    disputes: () => ctx.disputes.all(),
    customers: () => ctx.customers.all(),
    dedicatedAccounts: () => ctx.dedicated.all(),
    async close(): Promise<void> {
      messages.stop();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
