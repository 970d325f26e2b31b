import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Deps } from '../../composition/deps.js';
import {
  CHAIN_START,
  followChain,
  type Act,
  type AuditEntry,
  type ChainEnd,
} from '../../core/audit/entry.js';
import { revocationsIn } from '../revocations.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printTable } from './print.js';
import { whileWaiting } from './progress.js';

const ACTION = 'database.restored';

/** The act of the person who has the database: nobody can sign in before API and worker start. */
const restoredAct = (): Act => ({
  id: randomUUID(),
  actor: { operator: null, name: 'restored database', roles: [] },
  action: ACTION,
  target: 'database',
  tenantId: null,
  reason: 'restored',
  requestId: null,
  approval: null,
});

/** Adds the command that prepares a database that was restored from a backup. It needs the database, before API and worker start. */
export function addRestoredCommand(program: Command): void {
  addCommand<{ yes?: boolean; audit?: string }>(
    program,
    'restored',
    (command) =>
      addYes(command).option(
        '--audit <file>',
        'an export of the audit log from before the loss: list what took rights away since the backup',
      ),
    async (deps, { json, options }) => {
      const question = 'Are API and worker stopped, and was the database restored?';
      await confirm(question, { json, yes: options.yes });
      const { report, revocations } = await whileWaiting(() => prepare(deps, options.audit));
      print(json, json && revocations ? { ...report, revocations } : report);
      if (!json && revocations) printTable(json, revocations);
    },
  );
}

/** Presumes that the bank has what the database did not see, and reads what took rights away since the backup. */
async function prepare(deps: Deps, audit: string | undefined) {
  const exported = audit === undefined ? null : readExport(audit);
  const newest = await newestEntry(deps.audit);
  if (exported) refuseOlder(exported, newest);
  const lost = exported && (await entriesAfterBackup(deps.audit, exported));
  const revocations =
    lost &&
    (await revocationsIn(lost, async (tenantId, id) => {
      const customer = await deps.customers.store.getById(tenantId, id);
      return customer?.customer_id ?? null;
    }));
  const { capabilities } = await import('../../composition/capabilities.js');
  // Before the records change, as every act that is no single transaction.
  await deps.audit.record(restoredAct());
  const presumed: Record<string, number> = {};
  for (const { name, instruction } of capabilities) {
    if (instruction) presumed[name] = await instruction.records(deps).store.presumeSubmitted();
  }
  const report = {
    presumed_submitted: presumed,
    newest_audit_entry: presentPlace(newest),
    ...(lost && { newest_exported_entry: presentPlace(exported?.at(-1)) }),
  };
  return { report, revocations };
}

type Log = { after(sequence: number, limit: number): Promise<AuditEntry[]> } & {
  latest(selection: object, limit: number): Promise<AuditEntry[]>;
};

const presentPlace = (entry: AuditEntry | undefined) =>
  entry ? { sequence: entry._id, at: entry.at.toISOString() } : null;

const SEARCHED = 100;

/** The newest entry that came with the backup. An earlier run of this command has left its own. */
const newestEntry = async (log: Log): Promise<AuditEntry | undefined> =>
  (await log.latest({}, SEARCHED)).find(({ action }) => action !== ACTION);

/** An export that does not reach the newest entry of the backup lists nothing, as one without revocations does. */
function refuseOlder(exported: readonly AuditEntry[], newest: AuditEntry | undefined): void {
  const end = exported.at(-1)?._id ?? 0;
  const needed = newest?._id ?? 0;
  if (end > 0 && end >= needed) return;
  throw new CommandError(
    `the export is empty, cut off or older than the backup: it ends at entry ${end}, and the database has entry ${needed}`,
  );
}

const PAGE = 1_000;

/**
 * The exported entries that the restored database does not have. Throws if they do not follow the newest one that both have: one is
 * missing or changed, or the file is of another database.
 */
async function entriesAfterBackup(
  log: Log,
  exported: readonly AuditEntry[],
): Promise<AuditEntry[]> {
  const hashes = new Map(exported.map(({ _id, hash }) => [_id, hash]));
  let common: ChainEnd = CHAIN_START;
  for (let page = await log.after(0, PAGE); page.length > 0;) {
    const known = page.findLast(({ _id, hash }) => hashes.get(_id) === hash);
    if (known) common = { sequence: known._id, hash: known.hash };
    page = await log.after(page.at(-1)?._id ?? 0, PAGE);
  }
  const lost = exported.filter(({ _id }) => _id > common.sequence);
  const chain = followChain(common);
  for (const entry of lost) chain.check(entry);
  const [first] = chain.finish(lastOf(lost) ?? common).problems;
  if (first) {
    throw new CommandError(
      `the export does not continue the restored audit log: ${first.problem}, number ${first.sequence}`,
    );
  }
  return lost;
}

function lastOf(entries: readonly AuditEntry[]): ChainEnd | null {
  const last = entries.at(-1);
  return last ? { sequence: last._id, hash: last.hash } : null;
}

type ExportedEntry = Omit<AuditEntry, '_id' | 'at'> & { sequence: number; at: string };

/** Reads the lines of `bursar audit export`. */
function readExport(file: string): AuditEntry[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line, i) => {
    try {
      const { sequence, at, ...entry } = JSON.parse(line) as ExportedEntry;
      if (typeof sequence === 'number' && typeof entry.hash === 'string') {
        return { ...entry, _id: sequence, at: new Date(at) };
      }
    } catch {
      // As a line without these fields.
    }
    throw new CommandError(`line ${i + 1} of ${file} is no entry of bursar audit export`);
  });
}
