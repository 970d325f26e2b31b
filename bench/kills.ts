/**
 * Applies the same five kills to Bursar, to a bare Temporal workflow and to a naive service, at a bank that pays
 * every request. The bank's journal shows what happened to each transfer. See docs/reliability/results.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failpoint } from '../src/shared/failpoints.js';
import {
  breathe,
  openTargets,
  type TransferBody,
  type SubjectStatus,
  type Target,
} from './kill-subjects.js';
import { openStack } from './stack.js';
import { isShort, printGoals, printMachine, printTable, spreadOf } from './support.js';
import { transferBody } from './transfers.js';

const ROUNDS = isShort ? 1 : 3;
const TRANSFERS = 8;
/** Time limit for each transfer to end, and for each client's retries. */
const END_WITHIN_MS = 60_000;
const CLIENT_TRIES_FOR_MS = 40_000;
const CLIENT_WAITS_MS = 10_000;
const CLIENT_PAUSES_MS = 300;
/** A slow bank, still within everyone's time limits. */
const SLOW_MS = 1_500;
const DIES_WITHIN_MS = 30_000;

type Fault = { call: 'submit'; kind: 'slow' | 'drop_after'; probability: 1; ms?: number };
type Arena = { target: Target; bank: string };

const KILLS = {
  'service killed before the bank is asked': (arena: Arena) => dieAt(arena, 'submit.permitted'),
  'service killed after the bank has paid, its answer not recorded': (arena: Arena) =>
    dieAt(arena, 'submit.answered'),
  'answer lost: paid, and the connection is cut': loseAnswers,
  'database killed while the answer is recorded': killDatabase,
  'client gives up at once, and repeats its request': repeatRequests,
};

/** A client that retries with the same reference and key until its transfer is accepted. */
async function insist(
  target: Target,
  transfer: TransferBody,
  firstWaitMs = CLIENT_WAITS_MS,
): Promise<void> {
  const giveUpAt = Date.now() + CLIENT_TRIES_FOR_MS;
  for (let waitMs = firstWaitMs; Date.now() < giveUpAt; waitMs = CLIENT_WAITS_MS) {
    const isAccepted = await target.submit(transfer, AbortSignal.timeout(waitMs)).then(
      () => true,
      () => false,
    );
    if (isAccepted) return;
    await sleep(CLIENT_PAUSES_MS);
  }
}

let count = 0;
const newTransfers = () => Array.from({ length: TRANSFERS }, () => transferBody((count += 1)));

async function dieAt({ target }: Arena, point: Failpoint): Promise<TransferBody[]> {
  await target.kill();
  await target.start(point);
  const transfers = newTransfers();
  const clients = transfers.map((transfer) => insist(target, transfer));
  for (const giveUpAt = Date.now() + DIES_WITHIN_MS; !target.isDead(); await sleep(5)) {
    if (Date.now() > giveUpAt) throw new Error(`nothing died at ${point}`);
  }
  await target.kill();
  await breathe();
  await target.start();
  await Promise.all(clients);
  return transfers;
}

async function loseAnswers({ target, bank }: Arena): Promise<TransferBody[]> {
  const transfers = newTransfers();
  await setFaults(bank, { call: 'submit', kind: 'drop_after', probability: 1 });
  const clients = transfers.map((transfer) => insist(target, transfer));
  await untilPaid(bank, transfers, TRANSFERS);
  await setFaults(bank);
  await Promise.all(clients);
  return transfers;
}

/** Freezes the database at the bank's first payment, and then kills it, so the outcomes cannot be recorded. */
async function killDatabase({ target, bank }: Arena): Promise<TransferBody[]> {
  const transfers = newTransfers();
  const clients = transfers.map((transfer) => insist(target, transfer));
  await untilPaid(bank, transfers, 1);
  for (const database of target.keptIn) database.freeze();
  await breathe();
  for (const database of target.keptIn) database.kill();
  await breathe();
  await Promise.all(target.keptIn.map((database) => database.back()));
  await Promise.all(clients);
  return transfers;
}

async function repeatRequests({ target, bank }: Arena): Promise<TransferBody[]> {
  const transfers = newTransfers();
  await setFaults(bank, { call: 'submit', kind: 'slow', probability: 1, ms: SLOW_MS });
  // Both at once, like a client that times out while its first request is still in flight.
  const clients = transfers.flatMap((transfer) => [
    insist(target, transfer, 1),
    insist(target, transfer, 20),
  ]);
  await Promise.all(clients);
  await setFaults(bank);
  return transfers;
}

async function setFaults(bank: string, ...rules: Fault[]): Promise<void> {
  const body = JSON.stringify(rules.length === 0 ? {} : { seed: 'bench', rules });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${bank}/faults`, { method: 'POST', headers, body });
}

/** Counts the bank's payments by client reference. */
async function payments(bank: string): Promise<Map<string, number>> {
  const response = await fetch(`${bank}/journal`);
  const { entries } = (await response.json()) as { entries: { client_reference: string }[] };
  const paid = new Map<string, number>();
  for (const { client_reference: reference } of entries) {
    paid.set(reference, (paid.get(reference) ?? 0) + 1);
  }
  return paid;
}

async function untilPaid(bank: string, transfers: TransferBody[], least: number): Promise<void> {
  for (const giveUpAt = Date.now() + DIES_WITHIN_MS; Date.now() < giveUpAt; await sleep(2)) {
    const paid = await payments(bank);
    if (transfers.filter(({ reference }) => paid.has(reference)).length >= least) return;
  }
  throw new Error(`the bank has not paid ${least} of these`);
}

type Verdict = 'right' | 'paidTwice' | 'wrong' | 'attention' | 'stuck';

/** `wrong`: paid and reported as failed, not paid and reported as completed, or unknown to the service. */
function verdictOf(paid: number, status: SubjectStatus): Verdict {
  if (paid > 1) return 'paidTwice';
  if (status === 'attention') return 'attention';
  if (status === 'open') return 'stuck';
  const isRight = status === (paid === 1 ? 'completed' : 'failed');
  return isRight ? 'right' : 'wrong';
}

/** The verdict on each transfer, once nothing changes any more. */
async function outcomes({ target, bank }: Arena, transfers: TransferBody[]): Promise<Verdict[]> {
  const readStatuses = async () =>
    Promise.all(transfers.map(({ reference }) => target.readStatus(reference).catch(() => 'open')));
  const giveUpAt = Date.now() + END_WITHIN_MS;
  let present = await readStatuses();
  while (present.includes('open') && Date.now() < giveUpAt) {
    await sleep(500);
    present = await readStatuses();
  }
  const paid = await payments(bank);
  return transfers.map(({ reference }, i) =>
    verdictOf(paid.get(reference) ?? 0, present[i] as SubjectStatus),
  );
}

const stack = await openStack();
try {
  const { targets, bank, versions, close } = await openTargets(stack);
  const rows: string[][] = [];
  for (const [what, kill] of Object.entries(KILLS)) {
    for (const [name, target] of Object.entries(targets)) {
      process.stderr.write(`${name}: ${what}\n`);
      const arena = { target, bank };
      await target.start();
      const transfers: TransferBody[] = [];
      for (let round = 0; round < ROUNDS; round += 1) transfers.push(...(await kill(arena)));
      const found = await outcomes(arena, transfers);
      await target.kill();
      const many = (verdict: Verdict) => String(found.filter((one) => one === verdict).length);
      const figures = [many('right'), many('paidTwice'), many('stuck'), many('wrong')];
      const row = [what, name, String(transfers.length), ...figures, many('attention')];
      process.stderr.write(`${row.slice(2).join(' ')}\n`);
      rows.push(row);
    }
  }
  printMachine(versions, {});
  const head = ['kill', 'service', 'transfers', 'right', 'paid twice', 'stuck', 'wrong'];
  printTable([...head, 'operator called'], rows);
  const ownRows = rows.filter(([, name]) => name === 'ours');
  const sumOf = (column: number) => ownRows.reduce((sum, row) => sum + Number(row[column]), 0);
  printGoals([
    {
      what: 'transfers of Bursar that end right after a kill',
      measured: spreadOf([(100 * sumOf(3)) / sumOf(2)]),
      unit: '%',
      goal: { least: 100 },
    },
  ]);
  const lost = rows.filter(([, name, transfers, right]) => name === 'ours' && transfers !== right);
  console.log(lost.length === 0 ? 'ours: all right' : `ours: NOT right in ${lost.length} rows`);
  if (lost.length > 0) process.exitCode = 1;
  await close();
} finally {
  await stack.stop();
}
