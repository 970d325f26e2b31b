import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.js';
import { chargeBody } from './payments.js';
import type { ManagedProcess } from './processes.js';
import type { Api, Service } from './service.js';
import { apiClient, transferBody, untilTaken } from './tenant.js';

/** A transfer that was accepted during a rotation, with the bytes of its answer. */
export type MadeTransfer = {
  id: string;
  key: string;
  body: ReturnType<typeof transferBody>;
  text: string;
};

/** A client's pause between two rounds. The clients show that no request fails, so they need no throughput. */
const PAUSE_MS = 400;
/**
 * Transfers of a client that are open at most. On a machine that runs other proofs too, transfers may end more slowly than clients
 * without this limit make them, and the last one would wait for minutes.
 */
const OPEN = 4;

/** A further request of a client: its status, or null in a round in which it is not sent. */
export type Beside = (at: Api, round: number) => Promise<number | null>;

/** Each is sent in one round of so many. */
const BESIDE_EVERY = 4;

/** A name enquiry, which asks the bank for an account that nobody has asked for before. */
export function nameEnquiries(apiKey: () => string): Beside {
  let asked = 0;
  return async (at, round) => {
    if (round % BESIDE_EVERY !== 0) return null;
    const account = `${String((asked += 1)).padStart(7, '0')}789`;
    const body = JSON.stringify({ recipient_account: account, recipient_bank_code: '058' });
    const { call } = apiClient(at.url, apiKey());
    return (await untilTaken(() => call('POST', '/transfers/resolve-account', body))).status;
  };
}

/** Charges on a page that a public key makes, as a shop's page does. `pay` ends them. */
export async function publicCharges({ deps, bank }: Service, tenantId: string) {
  const { key } = await deps.apiKeys.create({ tenantId, level: 'write', kind: 'public' });
  const made: string[] = [];
  const send: Beside = async (at, round) => {
    if (round % BESIDE_EVERY !== 1) return null;
    const { reference: _, ...body } = chargeBody();
    const { call } = apiClient(at.url, key);
    const answer = await untilTaken((under) =>
      call('POST', '/payments/charges', JSON.stringify(body), under),
    );
    if (answer.status === 201) made.push(answer.body.data.reference);
    return answer.status;
  };
  return {
    send,
    async pay(): Promise<number> {
      for (const id of made) {
        await eventually('the page of the charge is open at the bank, and paid', async () =>
          (await bank.setChargeOutcome(`${id}-1`, 'paid')) === 200 ? true : undefined,
        );
      }
      return made.length;
    },
  };
}

/**
 * Sends transfers, reads them and repeats them, at these APIs in turn, until it is stopped. A third of the recipients' accounts
 * have the digits `rare` at their end. `beside` are further requests, none of which may fail either. A request has failed if its
 * repeats after a 503 have failed too.
 */
export function startClients(
  apis: () => readonly Api[],
  apiKey: () => string,
  {
    rare = '001',
    beside = [],
    pauseMs = PAUSE_MS,
    openAtMost = OPEN,
  }: {
    rare?: string;
    beside?: readonly Beside[];
    pauseMs?: number;
    /** Of a client, without those to rare accounts. */
    openAtMost?: number;
  } = {},
) {
  const stopping = new AbortController();
  const failed: string[] = [];
  const made: MadeTransfer[] = [];
  /** Rounds that each client has begun. */
  const rounds = [0, 0, 0];
  const waitForEnd = (id: string) =>
    eventually(`${id} is completed`, async () => {
      if (stopping.signal.aborted) return true;
      await sleep(PAUSE_MS);
      const { call } = apiClient((apis()[0] as Api).url, apiKey());
      const { body } = await call('GET', `/transfers/${id}`, undefined);
      return body.data?.status === 'completed' ? true : undefined;
    }).catch((error: Error) => failed.push(error.message));
  async function client(number: number): Promise<void> {
    const open: string[] = [];
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      rounds[number] = round;
      await sleep(pauseMs);
      if (open.length === openAtMost) await waitForEnd(String(open.shift()));
      const at = apis()[(number + round) % apis().length] as Api;
      for (const send of beside) {
        const status = await send(at, round);
        if (status !== null && status >= 300) failed.push(`beside: ${status}`);
      }
      const { call } = apiClient(at.url, apiKey());
      const key = `rotation ${number} ${round}`;
      const body = transferBody(round % 3 === 0 ? rare : '789');
      const send = () =>
        untilTaken((under) => call('POST', '/transfers', JSON.stringify(body), under), key);
      const [first, again] = [await send(), await send()];
      const path = `/transfers/${first.body.data?.id}`;
      const read = await untilTaken(() => call('GET', path, undefined));
      const isRight =
        again.text === first.text && read.body.data?.recipient_account === body.recipient_account;
      if (first.status !== 201 || read.status !== 200 || !isRight) {
        failed.push(`${first.status} ${again.status} ${read.status}`);
        continue;
      }
      made.push({ id: first.body.data.id, key, body, text: first.text });
      if (round % 3 !== 0) open.push(first.body.data.id);
    }
  }
  const running = rounds.map((_, number) => client(number));
  return {
    failed,
    made,
    /** Waits until every client has begun a round after this moment, so that none uses what it had before. */
    async turnOver() {
      const before = [...rounds];
      await eventually('every client has begun a new round', () =>
        rounds.every((round, number) => round > Number(before[number])) ? true : undefined,
      );
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Two APIs and a worker whose settings are exchanged while clients go on. */
export type Rolling = { first: Api; second: Api; worker: ManagedProcess };

/**
 * Restarts of two APIs and a worker, one after the other, with other settings. Clients use the APIs of `apis`, as those of a
 * balancer: not the one that is about to stop.
 */
export function rollingRestarts(service: Service, started: Rolling) {
  let running = started;
  let apis: readonly Api[] = [started.first, started.second];
  return {
    apis: () => apis,
    running: () => running,
    /** `goOn` waits until no client uses an API that has left `apis`, and each has done a whole round. */
    async restart(settings: Record<string, string>, goOn: () => Promise<void>): Promise<void> {
      const { first, second, worker } = running;
      const other = service.newWorker(settings);
      await other.start();
      await worker.stop();
      apis = [first];
      await goOn();
      await second.stop();
      const newSecond = await service.newApi(settings);
      await newSecond.start();
      apis = [first, newSecond];
      await goOn();
      apis = [newSecond];
      await goOn();
      await first.stop();
      const newFirst = await service.newApi(settings, first.port);
      await newFirst.start();
      apis = [newFirst, newSecond];
      await goOn();
      running = { first: newFirst, second: newSecond, worker: other };
    },
  };
}
