import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Configuration,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client';
import { discoverIssuer } from '../../shared/oidc-issuer.js';
import type { OidcSettings } from '../../shared/oidc-settings.js';
import { CommandError } from './operator-client.js';
import { readSignIn, signInPath, writeSignIn, type SignInFile } from './sign-in-file.js';

/** A token that ends sooner is renewed before it is sent. */
const RENEW_BEFORE_SECONDS = 30;
/** A lock that is older belongs to a command that has died. */
const LOCK_FOR_MS = 30_000;

/**
 * The ID token of the sign-in for this operator API, renewed if it is about to end; null without a sign-in for it. Throws if the
 * issuer does not renew it.
 */
export async function currentIdToken(
  operatorUrl: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const path = signInPath(env);
  const kept = readSignIn(path);
  if (kept === null || originOf(kept.operator_url) !== originOf(operatorUrl)) return null;
  if (isFresh(kept)) return kept.id_token;
  return locked(path, async () => {
    // Another command may have renewed it meanwhile. A refresh token is used once: the issuer ends a sign-in that repeats one.
    const present = readSignIn(path);
    if (present === null) throw signInAgain();
    if (isFresh(present)) return present.id_token;
    const renewed = await renew(present);
    writeSignIn(path, renewed);
    return renewed.id_token;
  });
}

/** The sign-in of a token response of the issuer. */
export function toSignIn(
  { issuer, clientId }: Pick<OidcSettings, 'issuer' | 'clientId'>,
  operatorUrl: string,
  response: TokenEndpointResponse & TokenEndpointResponseHelpers,
  refreshToken: string | null = null,
): SignInFile {
  const { id_token: idToken, refresh_token: fresh } = response;
  const expiresAt = response.claims()?.exp;
  if (idToken === undefined || expiresAt === undefined) {
    throw new CommandError('the issuer gives no ID token: OIDC_SCOPES must have openid');
  }
  return {
    issuer,
    client_id: clientId,
    operator_url: operatorUrl,
    id_token: idToken,
    refresh_token: fresh ?? refreshToken,
    expires_at: expiresAt,
  };
}

/** Asks the issuer about itself. Throws a `CommandError` if it does not answer. */
export const askIssuer = (
  settings: Pick<OidcSettings, 'issuer' | 'clientId'>,
): Promise<Configuration> =>
  discoverIssuer(settings).catch(() => {
    throw new CommandError(`the issuer ${settings.issuer} does not answer`);
  });

async function renew(kept: SignInFile): Promise<SignInFile> {
  const { refresh_token: refreshToken, issuer, client_id: clientId } = kept;
  if (refreshToken === null) throw signInAgain();
  const settings = { issuer, clientId };
  const configuration = await askIssuer(settings);
  const { refreshTokenGrant, ResponseBodyError } = await import('openid-client');
  const response = await refreshTokenGrant(configuration, refreshToken).catch((error: unknown) => {
    if (error instanceof ResponseBodyError) throw signInAgain();
    throw new CommandError(`the issuer ${issuer} does not renew the sign-in: try again`);
  });
  return toSignIn(settings, kept.operator_url, response, refreshToken);
}

const signInAgain = () =>
  new CommandError('the sign-in has ended at the issuer: sign in again (bursar sign-in)');

const isFresh = ({ expires_at: end }: SignInFile): boolean =>
  end - Date.now() / 1000 > RENEW_BEFORE_SECONDS;

const originOf = (url: string): string => new URL(url).origin;

/** Runs `work` while no other command of this user does. */
async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  while (!take(lock)) await sleep(50);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - since > LOCK_FOR_MS) rmSync(lock, { force: true });
    return false;
  }
}
