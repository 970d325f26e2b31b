import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Db } from 'mongodb';
import type { Client } from '@temporalio/client';

/** A kind of value that no file may have: the value itself, or a pattern. */
export type Sought = readonly [what: string, value: string | RegExp];

const PIECE = 8 * 1024 * 1024;
/** Longer than every value that is sought, which may lie across the end of a piece. */
const OVERLAP = 512;

/** Searches every byte of these folders' files. Returns the kinds that were found with the files' names, never the values. */
export async function searchFiles(
  folders: readonly string[],
  sought: readonly Sought[],
): Promise<string[]> {
  const found = new Set<string>();
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      for await (const text of piecesOf(path)) {
        for (const [what, value] of sought) {
          const has = typeof value === 'string' ? text.includes(value) : value.test(text);
          if (has) found.add(`${what} in ${relative(folder, path)}`);
        }
      }
    }
  }
  return [...found];
}

/** The bytes of a file as latin1, piece by piece. A file that its engine has removed meanwhile has none. */
async function* piecesOf(path: string): AsyncGenerator<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return;
  try {
    const buffer = Buffer.allocUnsafe(PIECE);
    for (let at = 0; ; at += PIECE - OVERLAP) {
      const { bytesRead } = await file.read(buffer, 0, PIECE, at);
      if (bytesRead > 0) yield buffer.toString('latin1', 0, bytesRead);
      if (bytesRead < PIECE) return;
    }
  } finally {
    await file.close();
  }
}

/** Neither is a secret. A compressor would cut off the beginning, which repeats. */
const control = (engine: string) => `${'planted-control-'.repeat(3)}${engine}`;
const FILLER = Array.from({ length: 50 }, (_, i) => `planted-control-${i}`).join(' ');

/**
 * Writes a value in clear to the database and to a history of Temporal, and flushes MongoDB's files. A search that does not find
 * both with `controls` would find no leak either.
 */
export async function plantControls(db: Db, { workflow }: Client): Promise<void> {
  const mongod = `${FILLER} ${control('mongod')}`;
  await db
    .collection('planted_controls')
    .insertOne({ value: mongod }, { writeConcern: { j: true } });
  await db.admin().command({ fsync: 1 });
  const handle = await workflow.start('plantedControl', {
    workflowId: `planted-control/${Date.now()}`,
    taskQueue: 'planted-control',
    args: [{ value: control('temporal') }],
  });
  await handle.terminate('it has no worker');
}

/** The values of `plantControls`. */
export const CONTROLS: readonly Sought[] = [
  ['the control of MongoDB', control('mongod')],
  ['the control of Temporal', control('temporal')],
];

/** The controls that were not found, as problems. MongoDB has it in a collection, in the oplog and in its journal. */
export function missingControls(found: readonly string[]): string[] {
  const files = (what: string) =>
    found.filter((each) => each.startsWith(`the control of ${what} `));
  const isIn = (what: string, pattern: RegExp) => files(what).some((each) => pattern.test(each));
  return [
    ...(files('MongoDB').length > 2 && isIn('MongoDB', /journal/)
      ? []
      : [`files of MongoDB are not readable: ${files('MongoDB').join(', ')}`]),
    ...(isIn('Temporal', /temporal/) ? [] : ['the files of Temporal are not readable']),
  ];
}
