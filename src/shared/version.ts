import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** Returns the release of this build, as package.json names it, in a clone and in the image. */
export function readVersion(): string {
  const manifest = readFileSync(join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
