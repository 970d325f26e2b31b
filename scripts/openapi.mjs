// Writes the files that are generated from the build: openapi.json, the client's types, the tables of the guide.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { fillTables } from '../dist/src/ops/docs/tables.js';
import { clientApi, openApi } from '../dist/src/composition/operations.js';

const inRoot = (path) => new URL(`../${path}`, import.meta.url);
const style = await resolveConfig(inRoot('package.json'));

writeFileSync(inRoot('openapi.json'), `${JSON.stringify(openApi, null, 2)}\n`);
const client = await format(clientApi(), { ...style, parser: 'typescript' });
writeFileSync(inRoot('client/src/api.ts'), client);

const guide = inRoot('docs/guide/');
for (const name of readdirSync(guide)) {
  const file = new URL(name, guide);
  const text = fillTables(readFileSync(file, 'utf8'));
  writeFileSync(file, await format(text, { ...style, parser: 'markdown' }));
}
