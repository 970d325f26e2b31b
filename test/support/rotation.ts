import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.js';
import type { ManagedProcess } from './processes.js';
import type { Api, Service } from './service.js';
import { apiClient, transferBody } from './tenant.js';

/** A transfer that was accepted during a rotation, with the bytes of its answer. */
export type MadeTransfer = {
  id: string;
  key: string;
  body: ReturnType<typeof transferBody>;
  text: string;
};

/**
 * A client's pause between two rounds. The clients show that no request fails, so they need no throughput: transfers must end
 * faster than they are made, on a machine that runs other tests too.
 */
const PAUSE_MS = 400;

/**
 * Sends transfers, reads them and repeats them, at these APIs in turn, until it is stopped. A third of the recipients' accounts
 * have the digits `rare` at their end.
 */
export function startClients(apis: () => readonly Api[], apiKey: () => string, rare = '001') {
  const stopping = new AbortController();
  const failed: string[] = [];
  const made: MadeTransfer[] = [];
  /** Rounds that each client has begun. */
  const rounds = [0, 0, 0];
  async function client(number: number): Promise<void> {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      rounds[number] = round;
      await sleep(PAUSE_MS);
      const at = apis()[(number + round) % apis().length] as Api;
      const { call } = apiClient(at.url, apiKey());
      const key = `rotation ${number} ${round}`;
      const body = transferBody(round % 3 === 0 ? rare : '789');
      const send = () => call('POST', '/transfers', JSON.stringify(body), { key });
      const [first, again] = [await send(), await send()];
      const read = await call('GET', `/transfers/${first.body.data?.id}`, undefined);
      const isRight =
        again.text === first.text && read.body.data?.recipient_account === body.recipient_account;
      if (first.status !== 201 || read.status !== 200 || !isRight) {
        failed.push(`${first.status} ${again.status} ${read.status}`);
        continue;
      }
      made.push({ id: first.body.data.id, key, body, text: first.text });
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
