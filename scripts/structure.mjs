// Reads the source tree and counts its shape: imports between folders, arrows against the shelves, file names of
// capabilities, comments and exports. `npm run structure` prints the figures; docs/structure.md says how each is counted.
// Tests import the same functions, so the printed figures and the enforced rules cannot differ.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const byName = (a, b) => (a < b ? -1 : 1);

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Folders of the product. Tests, benches, scripts and the client package are not counted. */
export const PRODUCT = ['src', 'workflows', 'activities', 'worker', 'sandbox-bank', 'devstack'];

/** Shelves of src/, lowest first. A file may import from its own shelf and from those before it. */
export const SHELVES = ['shared', 'platform', 'core', 'capabilities', 'composition', 'ops'];

/** All TypeScript files below these folders, as paths from the top of the repository, sorted. */
export function sourceFiles(folders = PRODUCT, at = root) {
  const found = [];
  const visit = (folder) => {
    for (const entry of readdirSync(path.join(at, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(name);
      else if (entry.name.endsWith('.ts')) found.push(name);
    }
  };
  folders.filter((folder) => existsSync(path.join(at, folder))).forEach(visit);
  return found.toSorted(byName);
}

/** The text of a source file. */
export const readSource = (file, at = root) => readFileSync(path.join(at, file), 'utf8');

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** Imports between source files, type imports included: `[{ from, to }]` with paths from the top. */
export function importsOf(files, at = root) {
  const known = new Set(files);
  return files.flatMap((from) => {
    const targets = [...readSource(from, at).matchAll(IMPORT)].map(([, specifier]) =>
      path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, '.ts'),
    );
    return [...new Set(targets)].filter((to) => known.has(to)).map((to) => ({ from, to }));
  });
}

const folderOf = (file) => path.posix.dirname(file);

/** The folder graph: each folder with the folders that it imports. */
export function folderGraph(imports) {
  const graph = new Map();
  for (const { from, to } of imports) {
    const [a, b] = [folderOf(from), folderOf(to)];
    if (!graph.has(a)) graph.set(a, new Set());
    if (!graph.has(b)) graph.set(b, new Set());
    if (a !== b) graph.get(a).add(b);
  }
  return graph;
}

/** Pairs of folders that import each other, as `a <-> b`, sorted. */
export function mutualPairs(graph) {
  const pairs = [];
  for (const [a, targets] of graph) {
    for (const b of targets) if (a < b && graph.get(b)?.has(a)) pairs.push(`${a} <-> ${b}`);
  }
  return pairs.toSorted(byName);
}

/** Sets of two or more folders that all reach each other (strongly connected components), largest first. */
export function knots(graph) {
  const reach = new Map([...graph.keys()].map((folder) => [folder, reachable(graph, folder)]));
  const seen = new Set();
  const found = [];
  for (const folder of graph.keys()) {
    if (seen.has(folder)) continue;
    const knot = [...graph.keys()].filter(
      (other) => other === folder || (reach.get(folder).has(other) && reach.get(other).has(folder)),
    );
    knot.forEach((each) => seen.add(each));
    if (knot.length > 1) found.push(knot.toSorted(byName));
  }
  return found.toSorted((a, b) => b.length - a.length);
}

function reachable(graph, start) {
  const found = new Set();
  const queue = [start];
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const next of graph.get(folder) ?? []) {
      if (!found.has(next)) {
        found.add(next);
        queue.push(next);
      }
    }
  }
  return found;
}

/** The shelf of a file as an index into SHELVES; null where the file is on none. */
export function shelfOf(file) {
  const [top, shelf] = file.split('/');
  if (top !== 'src') return null;
  const index = SHELVES.indexOf(shelf ?? '');
  // src/main.ts and src/composition/capabilities.ts stand above and beside the shelves; see docs/decisions/0014.
  return index < 0 ? null : index;
}

const OUTSIDE = new Set(['workflows', 'activities', 'worker', 'sandbox-bank', 'devstack']);

/** Imports that point up: to a higher shelf, or from the product's lower parts to the processes around it. */
export function upwardImports(imports) {
  return imports.filter(({ from, to }) => {
    const [a, b] = [shelfOf(from), shelfOf(to)];
    if (a !== null && b !== null) return b > a;
    // Nothing of src/ imports the processes, the stack for developers or the sandbox bank.
    if (from.startsWith('src/')) return OUTSIDE.has(to.split('/')[0]);
    const folder = from.split('/')[0];
    if (folder === 'sandbox-bank') return !to.startsWith('sandbox-bank/');
    if (folder === 'devstack') {
      return !/^(?:devstack\/|src\/shared\/|src\/platform\/)/.test(to);
    }
    return to.startsWith('src/ops/') || to.startsWith('devstack/');
  });
}

/** Files of a capability that other capabilities may import, beside its record. */
const OPEN_TO_OTHERS = new Set(['mutations.ts', 'index.ts']);

/** Imports from one capability into another that reach past its record, its mutations and its index. */
export function foreignImports(imports) {
  const capability = (file) => /^src\/capabilities\/([^/]+)\/([^/]+)$/.exec(file) ?? [];
  return imports.filter(({ from, to }) => {
    const [, a] = capability(from);
    const [, b, name] = capability(to);
    if (!a || !b || a === b) return false;
    return !OPEN_TO_OTHERS.has(name) && !isRecord(to);
  });
}

/** A record file declares its collection. */
const isRecord = (file) => /(?<!\.)\bcollection</.test(readSource(file));

/** File names in capability folders: how many folders use each. */
export function capabilityFileNames(files) {
  const names = new Map();
  for (const file of files.filter((each) => each.startsWith('src/capabilities/'))) {
    const name = path.posix.basename(file);
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  return names;
}

/** Comments of a source text: one for each block and for each run of line comments, without their marks. */
export function commentsOf(text) {
  const found = [];
  const pattern =
    /\/\*\*?([\s\S]*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n?)+)|(?<=[;,{}()\]\s])\/\/ ([^\n]*)/gm;
  for (const match of text.matchAll(pattern)) {
    const body = (match[1] ?? match[2] ?? match[3] ?? '')
      .split('\n')
      .map((line) => line.replace(/^\s*(?:\/\/|\*)?\s?/, '').trim())
      .join(' ')
      .trim();
    if (body !== '' && !/^(?:oxlint|eslint|prettier|@ts)-/.test(body)) found.push(body);
  }
  return found;
}

/** A sentence that begins with one of these has its subject in another file. */
export const BARE_OPENING =
  /^(?:What|Who|Whose|Whom|Whoever|Whatever|Whether|How|Where|When|Which)\b/;

/** Exported declarations, and whether a comment stands right before each. */
export function exportsOf(text) {
  const lines = text.split('\n');
  return lines.flatMap((line, i) => {
    const name = /^export (?:async )?(?:const|function|class|type|interface|enum) (\w+)/.exec(
      line,
    )?.[1];
    if (!name) return [];
    const before = (lines[i - 1] ?? '').trim();
    return [{ name, documented: before.endsWith('*/') || before.startsWith('//') }];
  });
}

/** All figures of the tree at `at`. */
export function figures(at = root) {
  const files = sourceFiles(PRODUCT, at);
  const imports = importsOf(files, at);
  const graph = folderGraph(imports);
  const [largest = []] = knots(graph);
  const names = capabilityFileNames(files);
  const texts = files.map((file) => readSource(file, at));
  const comments = texts.flatMap(commentsOf);
  const exported = texts.flatMap(exportsOf);
  const share = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  return {
    'folders that import others': graph.size,
    'pairs of folders that import each other': mutualPairs(graph).length,
    'largest set of folders that reach each other': largest.length,
    'imports against the shelves': upwardImports(imports).length,
    'file names in capability folders': names.size,
    'capability file names used once': [...names.values()].filter((count) => count === 1).length,
    comments: comments.length,
    'comments that begin with What, Who, Whose, Whether, How, Where …': share(
      comments.filter((comment) => BARE_OPENING.test(comment)).length,
      comments.length,
    ),
    'exports with a sentence': share(
      exported.filter((each) => each.documented).length,
      exported.length,
    ),
    'product files': files.length,
    'product lines': texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0),
  };
}

/** Bounds of docs/structure.md. A number is the most that a figure may be. */
const BOUNDS = {
  'pairs of folders that import each other': 8,
  'largest set of folders that reach each other': 3,
  'imports against the shelves': 0,
  'file names in capability folders': 34,
  'capability file names used once': 16,
  'comments that begin with What, Who, Whose, Whether, How, Where …': 3,
  'exports with a sentence': { atLeast: 90 },
  'product lines': 37_200,
};

/** The bound of a figure as text, and whether the figure is within it. */
function judge(name, figure) {
  const bound = BOUNDS[name];
  if (bound === undefined) return { text: '', within: true };
  const value = Number.parseFloat(figure);
  if (typeof bound === 'number') return { text: `≤ ${bound}`, within: value <= bound };
  return { text: `≥ ${bound.atLeast}`, within: value >= bound.atLeast };
}

/** The lists behind the figures. */
function printLists(at) {
  const files = sourceFiles(PRODUCT, at);
  const imports = importsOf(files, at);
  const graph = folderGraph(imports);
  const once = [...capabilityFileNames(files)].filter(([, count]) => count === 1);
  const lists = {
    pairs: mutualPairs(graph),
    knots: knots(graph).map((knot) => knot.join(' ')),
    upward: upwardImports(imports).map(({ from, to }) => `${from} -> ${to}`),
    'names used once': once.map(([name]) => name).toSorted(byName),
  };
  for (const [name, lines] of Object.entries(lists)) {
    console.log(['', `${name}:`, ...lines].join('\n'));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv.slice(2).find((word) => !word.startsWith('--'));
  const at = path.resolve(folder ?? root);
  for (const [name, figure] of Object.entries(figures(at))) {
    const { text, within } = judge(name, figure);
    if (!within) process.exitCode = 1;
    const line = `${name.padEnd(66)} ${String(figure).padStart(8)}  ${text.padEnd(8)}`;
    console.log(`${line}${within ? '' : ' out of bounds'}`.trimEnd());
  }
  if (process.argv.includes('--list')) printLists(at);
}
