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

/** Folders that import each other on purpose; docs/structure.md gives the reasons. */
const TIES: string[] = [
  'src/capabilities/card-fundings <-> src/capabilities/cards',
  'src/capabilities/card-unloads <-> src/capabilities/cards',
  'src/capabilities/charges <-> src/capabilities/recurring-charges',
  'src/core/approvals <-> src/core/commit',
  'src/core/commit <-> src/core/ledger',
  'src/core/instructions <-> src/core/supervision',
  'src/core/instructions <-> src/core/webhooks',
  'workflows <-> workflows/instruction',
];

describe('the shelves of src/ (shared, platform, core, capabilities, composition, ops)', () => {
  test('no file imports from a higher shelf', () => {
    expect(named(upwardImports(imports))).toEqual([]);
  });

  test('no import of a capability reaches past the record, the mutations and the index of another', () => {
    expect(named(foreignImports(imports))).toEqual([]);
  });

  test('two folders import each other only where the design says so', () => {
    expect(mutualPairs(folderGraph(imports))).toEqual(TIES);
  });

  test('no more than three folders reach each other', () => {
    const [largest = []] = knots(folderGraph(imports));
    expect(largest.length).toBeLessThanOrEqual(3);
  });
});
