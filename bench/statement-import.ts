import type { Break } from '../src/core/reconciliation/break.js';
import { matchStatement, type MatchingDeps } from '../src/core/reconciliation/matching.js';
import type { StatementRow, StatementRun } from '../src/core/reconciliation/statement.js';
import { rowId } from '../src/core/reconciliation/statement.js';
import { mappingSchema } from '../src/ops/cli/statement-mapping.js';
import { rowsOf } from '../src/ops/cli/statements.js';
import { rowOf } from '../src/ops/operator-api/statements.js';
import { HOUR_MS } from '../src/shared/durations.js';
import { MAPPING, PROVIDER, type Planted } from './planted-statement.js';

const AT_ONCE = 1_000;

/** Imports a file as the command line and the operator API do, without HTTP between them, and compares it with the ledger. */
export async function importAndMatch(parts: MatchingDeps, file: string) {
  const began = performance.now();
  const begun = await parts.statements.begin({
    provider: PROVIDER,
    name: 'bench',
    digest: 'bench',
    order: 'oldest_first',
    from: null,
    to: null,
    slackMs: HOUR_MS,
  });
  let portion: StatementRow[] = [];
  const send = async (isLast: boolean) => {
    await parts.statements.add(begun._id, portion, { isLast });
    portion = [];
  };
  for await (const row of rowsOf(file, mappingSchema.parse(MAPPING))) {
    portion.push(rowOf(row));
    if (portion.length === AT_ONCE) await send(false);
  }
  await send(true);
  const imported = performance.now();
  const stored = await parts.statements.find(begun._id);
  await matchStatement(parts, stored ?? begun);
  const run = (await parts.statements.find(begun._id)) ?? begun;
  const [importedS, matchedS] = [imported - began, performance.now() - imported];
  return { run, importedS: importedS / 1_000, matchedS: matchedS / 1_000 };
}

/** The planted faults that were not found with their kind, the false breaks, and a balance that the breaks do not explain. */
export function problemsOf(
  planted: readonly Planted[],
  found: readonly Break[],
  run: StatementRun,
): string[] {
  const expected = new Set(
    planted.map(({ kind, reference }) =>
      kind === 'gap' ? `gap ${rowId(run._id, Number(reference))}` : `${kind} ${reference}`,
    ),
  );
  const open = new Set(found.map(({ kind, reference }) => `${kind} ${reference}`));
  return [
    ...[...expected].filter((each) => !open.has(each)).map((each) => `not found: ${each}`),
    ...[...open].filter((each) => !expected.has(each)).map((each) => `false: ${each}`),
  ];
}
