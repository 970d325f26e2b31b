import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CommandError } from './operator-client.js';

/** A sign-in by OpenID Connect as the command line keeps it. It is as good as a key. */
const signIn = z.object({
  issuer: z.string(),
  client_id: z.string(),
  /** The operator API that the token is sent to, and no other one. */
  operator_url: z.string(),
  id_token: z.string(),
  refresh_token: z.string().nullable(),
  /** Seconds since 1970. */
  expires_at: z.number(),
});
/** A sign-in by OpenID Connect as the command line keeps it. */
export type SignInFile = z.infer<typeof signIn>;

/** The file of the sign-in: BURSAR_SIGN_IN_FILE, or one in the home directory of the user. */
export const signInPath = (env: NodeJS.ProcessEnv): string =>
  env.BURSAR_SIGN_IN_FILE || join(homedir(), '.bursar', 'sign-in.json');

/** Reads the sign-in; null if there is none. Refuses a file that other users of the machine may read. */
export function readSignIn(path: string): SignInFile | null {
  if (!existsSync(path)) return null;
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new CommandError(`other users can read ${path}: delete it, and sign in again`);
  }
  const parsed = signIn.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new CommandError(`${path} is not a sign-in: delete it, and sign in again`);
}

/** Writes the sign-in with mode 0600. Another process reads the old file or the new one, never a part. */
export function writeSignIn(path: string, content: SignInFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomUUID()}`;
  writeFileSync(fresh, JSON.stringify(content), { mode: 0o600, flag: 'wx' });
  renameSync(fresh, path);
}

/** Deletes the sign-in. */
export const removeSignIn = (path: string): void => rmSync(path, { force: true });
