// Writes openapi.json from the operations that are built into dist/.
import { writeFileSync } from 'node:fs';
import { openApi } from '../dist/src/operations.js';

writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(openApi, null, 2)}\n`);
