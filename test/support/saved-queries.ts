import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';

/** The queries that the guide has operators save, with their names, for this transfer. */
function savedQueries(tenantId: string, id: string): [string, string][] {
  const [, view = ''] = readFileSync('docs/operating/stuck-transfers.md', 'utf8').split(
    'Save these queries:',
  );
  const [table = ''] = view.split('The view has no outcome');
  const rows = [...table.matchAll(/^\| (\S.*?) +\| `(.+?)` +\|$/gm)];
  return rows.map(([, name = '', query = '']) => [
    name,
    query.replace('ten_…', tenantId).replace('trf_…', id),
  ]);
}

/** For each of these queries the search attributes of the transfer's workflow; null if the query does not find it. */
export async function foundBySavedQueries(client: Client, tenantId: string, id: string) {
  const found: Record<string, object | null> = {};
  for (const [name, saved] of savedQueries(tenantId, id)) {
    const query = `(${saved}) AND WorkflowId = "${transferWorkflowId(id)}"`;
    found[name] = null;
    for await (const one of client.workflow.list({ query })) found[name] = one.searchAttributes;
  }
  return found;
}
