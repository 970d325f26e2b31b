// Writes what is made from the operations that are built into dist/: openapi.json, and the client's view of it.
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { clientApi, openApi } from '../dist/src/operations.js';

const inRoot = (path) => new URL(`../${path}`, import.meta.url);

writeFileSync(inRoot('openapi.json'), `${JSON.stringify(openApi, null, 2)}\n`);
const client = inRoot('client/src/api.ts');
const style = await resolveConfig(client);
writeFileSync(client, await format(clientApi(), { ...style, parser: 'typescript' }));
