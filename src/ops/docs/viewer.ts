import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';

/**
 * Returns Scalar's script for browsers. Only its Fastify plugin contains the script without 200 MB of build
 * dependencies, as a text in the plugin's one file.
 */
export function viewerScript(): string {
  const plugin = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'));
  const [, text] = /^var standalone_default = (".*");$/m.exec(readFileSync(plugin, 'utf8')) ?? [];
  if (text === undefined) throw new Error(`The viewer's script is not found in ${plugin}.`);
  // The text is a JavaScript literal that JSON.parse does not accept. The package does not contain the source map.
  return (runInNewContext(text) as string).replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}
