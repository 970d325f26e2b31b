import type { Command } from 'commander';
import { EXPORTED, exportAudit, listAudit, verifyAudit } from '../operator-api/audit.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand } from './command.js';
import { print, printLatest, printTable } from './print.js';
import { createProgress } from './progress.js';

type List = { target?: string; operator?: string; action?: string };

/** Adds the commands for the audit log. */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit');
  addApiCommand<List>(
    audit,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} acts of operators, newest first`)
        .option('--target <id>', 'only acts on this target')
        .option('--operator <id>', 'only acts of this operator')
        .option('--action <name>', 'only acts of this kind, such as transfers.fail'),
    async (client, { json, options: { target, operator, action } }) => {
      const query = {
        ...(target !== undefined && { target }),
        ...(operator !== undefined && { operator }),
        ...(action !== undefined && { action }),
      };
      printLatest(json, await client.call(listAudit, { query }), LISTED);
    },
  );

  addApiCommand(
    audit,
    'export',
    (command) =>
      command.description(
        'print all entries with their hashes, the oldest first, as a JSON line each',
      ),
    async (client) => {
      const progress = createProgress('entries exported');
      for (let after = 0, count = EXPORTED; count === EXPORTED;) {
        const entries = await client.call(exportAudit, { query: { after: String(after) } });
        for (const entry of entries) console.log(JSON.stringify(entry));
        count = entries.length;
        after = Number(entries.at(-1)?.['sequence'] ?? after);
        progress.at(after);
      }
      progress.end();
    },
  );

  addApiCommand(
    audit,
    'verify',
    (command) =>
      command.description(
        'find changed, removed and reordered entries; keep last_hash elsewhere, as proof; exit code 1 on any problem',
      ),
    async (client, { json }) => {
      const { problems, ...report } = await client.call(verifyAudit, {});
      print(json, json ? { ...report, problems } : report);
      if (!json && problems.length > 0) printTable(json, problems);
      if (!report.ok) process.exitCode = 1;
    },
  );
}
