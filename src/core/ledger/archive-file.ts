import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { BSON, type Document } from 'mongodb';

/** One line of an archive: a document, and the collection that it was in. */
export type ArchiveLine = { collection: string; document: Document & { _id: string } };

/** A written archive: its path below the folder, its SHA-256 and the number of documents by collection. */
export type ArchiveFile = { file: string; sha256: string; counts: Record<string, number> };

/** Bytes that are collected before they are written. */
const CHUNK = 256 * 1024;
/** The first line says what the file is; the last one that it is complete. */
const FORMAT = 'bursar-ledger-archive-1';

/**
 * Writes the documents of a tenant and a day as NDJSON (canonical Extended JSON, which keeps every type). When it resolves, the file
 * and its name are on disk. The name contains the beginning of the SHA-256, so no file is ever replaced by another one.
 */
export async function writeArchive(
  folder: string,
  { tenantId, day }: { tenantId: string; day: string },
  lines: AsyncIterable<ArchiveLine>,
): Promise<ArchiveFile> {
  const own = join(folder, encodeURIComponent(tenantId));
  await mkdir(own, { recursive: true, mode: 0o700 });
  const part = join(own, `${day}.${randomUUID()}.part`);
  const hash = createHash('sha256');
  const counts: Record<string, number> = {};
  const handle = await open(part, 'wx', 0o600);
  try {
    let text = '';
    const flush = async () => {
      hash.update(text);
      await handle.appendFile(text);
      text = '';
    };
    const write = async (line: object) => {
      text += `${BSON.EJSON.stringify(line, { relaxed: false })}\n`;
      if (text.length > CHUNK) await flush();
    };
    await write({ format: FORMAT, tenant: tenantId, day });
    for await (const line of lines) {
      await write(line);
      counts[line.collection] = (counts[line.collection] ?? 0) + 1;
    }
    await write({ end: counts });
    await flush();
    await handle.sync();
  } finally {
    await handle.close();
  }
  const sha256 = hash.digest('hex');
  const file = join(encodeURIComponent(tenantId), `${day}.${sha256.slice(0, 16)}.ndjson`);
  await rename(part, join(folder, file));
  for (const parent of [own, folder, dirname(folder)]) await syncFolder(parent);
  return { file, sha256, counts };
}

/** Makes the names in a folder durable. */
async function syncFolder(path: string): Promise<void> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(path, 'r');
    await handle.sync();
  } finally {
    await handle?.close();
  }
}

/** An archive that can't be used: it is missing, incomplete, or not the one that was written. */
export class ArchiveError extends Error {}

/** Reads the documents of an archive in their order. Throws an `ArchiveError` at the end unless all bytes are those of the hash. */
export async function* readArchive(
  folder: string,
  { file, sha256 }: Pick<ArchiveFile, 'file' | 'sha256'>,
): AsyncGenerator<ArchiveLine> {
  const hash = createHash('sha256');
  let complete = false;
  try {
    for await (const text of linesOf(join(folder, file), (bytes) => hash.update(bytes))) {
      const line = BSON.EJSON.parse(text, { useBigInt64: true }) as Document;
      if (line['collection'] !== undefined) yield line as ArchiveLine;
      else complete = line['end'] !== undefined;
    }
  } catch (error) {
    throw new ArchiveError(`${file} can't be read`, { cause: error });
  }
  if (!complete || hash.digest('hex') !== sha256) {
    throw new ArchiveError(`${file} is not the archive that was written`);
  }
}

async function* linesOf(path: string, onBytes: (bytes: Buffer) => void): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    onBytes(bytes);
    const parts = (rest + decoder.write(bytes)).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
}
