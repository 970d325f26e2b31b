// Writes the files that are generated from the build: openapi.json, the client's types, the tables of the guide, the settings.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { TEST_CUSTOMERS } from '../dist/sandbox-bank/billers/behaviours.js';
import { TEST_ACCOUNTS } from '../dist/sandbox-bank/transfers/behaviours.js';
import { fillTables, testAccountsTable, testCustomersTable } from '../dist/src/ops/docs/tables.js';
import { settingsPage } from '../dist/src/ops/docs/settings.js';
import { clientApi, openApi } from '../dist/src/composition/operations.js';

const inRoot = (path) => new URL(`../${path}`, import.meta.url);
const style = await resolveConfig(inRoot('package.json'));

writeFileSync(inRoot('openapi.json'), `${JSON.stringify(openApi(), null, 2)}\n`);
const client = await format(clientApi(), { ...style, parser: 'typescript' });
writeFileSync(inRoot('client/src/api.ts'), client);

const settings = await format(settingsPage(), { ...style, parser: 'markdown' });
writeFileSync(inRoot('docs/settings.md'), settings);

const tables = {
  'test-accounts': () => testAccountsTable(TEST_ACCOUNTS),
  'test-customers': () => testCustomersTable(TEST_CUSTOMERS),
};
const guide = inRoot('docs/guide/');
for (const name of readdirSync(guide)) {
  const file = new URL(name, guide);
  const text = fillTables(readFileSync(file, 'utf8'), tables);
  writeFileSync(file, await format(text, { ...style, parser: 'markdown' }));
}
