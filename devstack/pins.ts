import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { RELEASES, type EngineName } from './releases.js';

/** A program that is not the pinned one. No other source is tried: somebody may have changed it. */
export class ChangedProgramError extends Error {}

/** The pinned SHA-256 of an engine's program on this machine; undefined if there is none for it. */
export const pinOf = (engine: EngineName): string | undefined =>
  RELEASES[engine].programs[`${process.platform}-${process.arch}`];

/** Throws a `ChangedProgramError` that names the file if its SHA-256 is not the pinned one. It is not run before. */
export async function requirePinned(file: string, pin: string | undefined): Promise<void> {
  if (pin === undefined) {
    throw new Error(`no hash is pinned for ${process.platform}-${process.arch}`);
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') === pin) return;
  throw new ChangedProgramError(
    `${file} is not the program that was pinned: its SHA-256 differs from devstack/releases.ts. ` +
      'Find out who changed it; then delete its folder, and the next start fetches it again.',
  );
}
