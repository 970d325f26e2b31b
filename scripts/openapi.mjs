// Writes openapi.json, and the tables of the guide, from what is built into dist/.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { fillTables } from '../dist/src/docs/tables.js';
import { openApi } from '../dist/src/operations.js';

writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(openApi, null, 2)}\n`);

const guide = new URL('../docs/guide/', import.meta.url);
const style = await resolveConfig(new URL('../package.json', import.meta.url));
for (const name of readdirSync(guide)) {
  const file = new URL(name, guide);
  const text = fillTables(readFileSync(file, 'utf8'));
  writeFileSync(file, await format(text, { ...style, parser: 'markdown' }));
}
