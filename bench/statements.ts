/**
 * Imports the statement of a million payments with 500 planted faults, and compares it with the ledger. Fails unless each fault is
 * found with its kind, and nothing else. Measures the time of each part, and the memory, which must not grow with the statement.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../src/composition/migrations.js';
import { createStatementStore, matchingParts } from '../src/composition/reconciliation.js';
import { createBreaks } from '../src/core/reconciliation/breaks.js';
import { connectDatabase } from '../src/platform/database/client.js';
import { migrate } from '../src/platform/database/migrations.js';
import { createTenants } from '../src/platform/tenants/store.js';
import { importAndMatch, problemsOf } from './statement-import.js';
import { plant } from './planted-statement.js';
import { environmentOf, openStack } from './stack.js';
import { isShort, printGoals, printMachine, printTable, whole } from './support.js';

const PAYMENTS = isShort ? 20_000 : 1_000_000;
const FAULTS = 500;
const TENANTS = 10;
const MOST_MB = 400;

const stack = await openStack();
const folder = mkdtempSync(join(tmpdir(), 'bursar-bench-statement-'));
try {
  const mongod = await stack.mongod();
  const unused = await stack.freePort();
  const { config } = environmentOf(stack, {
    mongodbUri: mongod.uri,
    temporalAddress: `127.0.0.1:${unused}`,
    bankPort: unused,
    apiPort: unused,
  });
  printMachine({ MongoDB: mongod.version }, {});
  const database = await connectDatabase(config.mongodb, 'bursar-bench', { operationLimitMs: 0 });
  await migrate(database.db, migrations);
  const tenants = createTenants({ db: database.db, environment: config.environment });
  const ids: string[] = [];
  while (ids.length < TENANTS) {
    ids.push((await tenants.create({ name: 'Bench', plan: 'enterprise' })).id);
  }
  const file = join(folder, 'statement.csv');
  const planted = await plant(database.db, file, {
    payments: PAYMENTS,
    faults: FAULTS,
    tenants: ids,
  });
  const breaks = createBreaks(database.db);
  const statements = createStatementStore(database.db, breaks);
  const parts = await matchingParts({ database, statements, breaks, tenants });
  let mostMb = 0;
  const watch = setInterval(() => {
    mostMb = Math.max(mostMb, process.memoryUsage().rss / 2 ** 20);
  }, 100);
  const { run, importedS, matchedS } = await importAndMatch(parts, file);
  clearInterval(watch);
  const problems = problemsOf(planted, await breaks.list({ status: 'open', limit: 10_000 }), run);
  if (problems.length > 0) throw new Error(problems.slice(0, 20).join('\n'));
  printTable(
    ['payments', 'faults', 'rows', 'import', 'comparison', 'memory'],
    [
      [
        whole(PAYMENTS),
        whole(FAULTS),
        whole(run.rows),
        `${whole(importedS)} s`,
        `${whole(matchedS)} s`,
        `${whole(mostMb)} MB`,
      ],
    ],
  );
  printGoals([
    {
      what: `memory of the import and comparison of ${whole(run.rows)} rows; all ${FAULTS} planted faults found, no other`,
      measured: { least: mostMb, median: mostMb, most: mostMb },
      unit: 'MB',
      goal: { most: MOST_MB },
    },
  ]);
  await database.client.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
  await stack.stop();
}
