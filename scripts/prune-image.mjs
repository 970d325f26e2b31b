// Removes files that this machine never loads from an installed tree: builds of Temporal's native core for other
// platforms, and its Rust sources. For the image: `node scripts/prune-image.mjs [folder, default: the current one]`.
import { readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';

const folder = resolve(process.argv[2] ?? '.');
const require = createRequire(join(folder, 'package.json'));
const bridge = dirname(require.resolve('@temporalio/core-bridge/package.json'));
// The package itself selects the build that it loads, and throws if it has none for this machine.
const own = basename(dirname(require('@temporalio/core-bridge/common').getPrebuiltPath()));

const releases = join(bridge, 'releases');
const others = readdirSync(releases).filter((name) => name !== own);
const sources = ['sdk-core', 'src', 'bridge-macros', 'Cargo.lock', 'Cargo.toml'];
for (const path of [
  ...others.map((name) => join(releases, name)),
  ...sources.map((name) => join(bridge, name)),
]) {
  rmSync(path, { recursive: true, force: true });
}
console.log(`kept ${own}; removed ${others.join(', ') || 'nothing'}`);
