import {
  folderGraph,
  foreignImports,
  importsOf,
  knots,
  mutualPairs,
  sourceFiles,
  upwardImports,
} from '../../scripts/structure.mjs';

const imports = importsOf(sourceFiles());
const named = (found: { from: string; to: string }[]) =>
  found.map(({ from, to }) => `${from} -> ${to}`);

/** Folders that import each other on purpose; docs/decisions/0014 gives the reasons. */
const TIES: string[] = [];

/** Violations that are still there. These lists may only become shorter. */
const KNOWN_UPWARD: string[] = [];
const KNOWN_FOREIGN: string[] = [];

describe('the shelves of src/ (shared, platform, core, capabilities, composition, ops)', () => {
  test('no file imports from a higher shelf', () => {
    expect(named(upwardImports(imports))).toEqual(KNOWN_UPWARD);
  });

  test('a capability imports only the record, the mutations and the index of another capability', () => {
    expect(named(foreignImports(imports))).toEqual(KNOWN_FOREIGN);
  });

  test('two folders import each other only where the design says so', () => {
    expect(mutualPairs(folderGraph(imports))).toEqual(TIES);
  });

  test('no more than three folders reach each other', () => {
    const [largest = []] = knots(folderGraph(imports));
    expect(largest.length).toBeLessThanOrEqual(3);
  });
});
