import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../shared/package-root.js';
import { openApi } from '../../composition/operations.js';
import { reference } from './reference.js';
import { viewerScript } from './viewer.js';

/** A step of the build: writes the files of /docs and /console and the OpenAPI document beside the compiled code, so that only the build needs the viewer. */
const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'docs');
const guide = join(packageRoot, 'docs', 'guide');

cpSync(join(packageRoot, 'src', 'ops', 'docs', 'page'), folder, { recursive: true });
const api = openApi();
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(api));
const document = reference(api, (page) => readFileSync(join(guide, `${page}.md`), 'utf8'));
writeFileSync(join(folder, 'reference.json'), JSON.stringify(document));
writeFileSync(join(folder, 'viewer.js'), viewerScript());
// The MIT licence requires its notice beside every copy.
const licence = join(packageRoot, 'node_modules', '@scalar', 'fastify-api-reference', 'LICENSE');
cpSync(licence, join(folder, 'viewer.LICENSE'));

const page = join(packageRoot, 'src', 'ops', 'console', 'page');
cpSync(page, join(folder, '..', 'console'), { recursive: true });
cpSync(
  join(packageRoot, 'src', 'ops', 'docs', 'page', 'icon.svg'),
  join(folder, '..', 'console', 'icon.svg'),
);
