import { readFileSync } from 'node:fs';

const bundle = readFileSync(String(process.env.BURSAR_TEST_BUNDLE), 'utf8');
/** The bundler names every module by its path in the folder that is built: `./dist-next/src/…`. */
const modulesOf = (pattern: RegExp) =>
  [...new Set([...bundle.matchAll(pattern)].map((match) => String(match[1])))].toSorted();

/** The packages that the sandbox of the workflows is made of. None has effects. */
const PACKAGES = new Set(['@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc']);

/** The files of src/ whose values a workflow may use; .oxlintrc.json has the same list for imports. */
const PURE_FILES = [
  /\/workflow-contract\.js$/,
  /^src\/core\/instructions\/(?:instruction|operator-commands)\.js$/,
  /^src\/platform\/temporal\/(?:failure-types|search-attributes)\.js$/,
];

describe('the workflow bundle', () => {
  test('contains no package with effects: no driver, server, validator or clock', () => {
    const packages = modulesOf(/node_modules\/((?:@[^/"'\s]+\/)?[^/"'\s\\]+)/g);
    expect(packages).toContain('@temporalio/workflow');
    expect(packages.filter((name) => !PACKAGES.has(name))).toEqual([]);
  });

  test('contains the workflows, the workflow contracts and the pure files that lint allows, and no other file of src/', () => {
    const files = modulesOf(/\.\/dist[a-z-]*\/((?:src|workflows|activities|worker)\/[\w/-]+\.js)/g);
    expect(files).toContain('workflows/transfer.js');
    expect(files).toContain('src/capabilities/transfers/workflow-contract.js');
    const other = files.filter((file) => !file.startsWith('workflows/'));
    expect(other.filter((file) => !PURE_FILES.some((pure) => pure.test(file)))).toEqual([]);
  });
});
