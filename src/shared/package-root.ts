import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, the same in src/ (tests), dist/ and dist-bench/. */
export const packageRoot = findPackageRoot(dirname(fileURLToPath(import.meta.url)));

function findPackageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`No package.json above ${fileURLToPath(import.meta.url)}`);
  return findPackageRoot(parent);
}

/** The path of a file of the build in dist/. Processes that are started separately always run from there. */
export function compiled(...parts: string[]): string {
  return join(packageRoot, 'dist', ...parts);
}
