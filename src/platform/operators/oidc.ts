import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { discoverIssuer } from '../../shared/oidc-issuer.js';
import { ApiError } from '../../shared/errors.js';
import type { OidcSettings } from '../../shared/oidc-settings.js';
import { OPERATOR_ROLES, type OperatorRole } from './operator.js';

/** The person of an ID token. */
export type Identity = {
  issuer: string;
  /** The issuer's name for the person, which never changes. */
  subject: string;
  name: string;
  email: string;
  isEmailVerified: boolean;
  /** The roles that the issuer gives and that exist here. */
  roles: OperatorRole[];
  issuedAt: Date;
};

/** The sign-in by OpenID Connect. */
export type Oidc = { issuer: string; identify(token: string): Promise<Identity> };

/** Signatures by keys that the issuer publishes. None of them can be made with what is published. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
];
/** Difference that the clocks of the issuer and of this process may have. */
const CLOCK_TOLERANCE_SECONDS = 5;
const TIMEOUT_MS = 5_000;
/** Keys that were read this long ago are read again. */
const REREAD_MS = 10 * 60_000;
/** If that fails, the keys stay, and are read again after this time. */
const RETRY_MS = 60_000;
/** Pause between reads for tokens by unknown keys, so that whoever makes such tokens cannot flood the issuer. */
const UNKNOWN_KEY_PAUSE_MS = 2_000;

/**
 * Creates the check of ID tokens. The issuer is asked for its keys when a token comes, and its last answer is kept: an issuer that
 * is away does not keep the API from starting, and ends no sign-in whose key is known.
 */
export function createOidc(settings: OidcSettings): Oidc {
  let loading: Promise<JWTVerifyGetKey> | null = null;

  async function keys(): Promise<JWTVerifyGetKey> {
    loading ??= readKeys(settings);
    return loading.catch((error: unknown) => {
      loading = null;
      throw unavailable(error);
    });
  }

  return {
    issuer: settings.issuer,

    /**
     * Returns the person of an ID token. Throws `unauthorized` for a token that is malformed, expired, signed by somebody else,
     * or made for another client or by another issuer, and `service_unavailable` if the issuer does not show its keys.
     */
    async identify(token: string): Promise<Identity> {
      const getKey = await keys();
      const { payload, protectedHeader } = await jwtVerify(token, getKey, {
        issuer: settings.issuer,
        audience: settings.clientId,
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp', 'iat'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      }).catch((error: unknown) => {
        throw refusalOf(error);
      });
      const { typ = 'JWT' } = protectedHeader;
      if (typ.toUpperCase() !== 'JWT') throw refused('It is not an ID token.');
      if (!isFor(settings.clientId, payload)) throw refused('It was made for another client.');
      return identityOf(payload, settings);
    },
  };
}

async function readKeys(settings: OidcSettings): Promise<JWTVerifyGetKey> {
  const { jwks_uri: address } = (await discoverIssuer(settings)).serverMetadata();
  if (address === undefined) throw new Error('the issuer publishes no keys');
  return keptKeys(new URL(address));
}

/** The keys at an address. A read that fails does not take them away. */
function keptKeys(address: URL): JWTVerifyGetKey {
  // It reads nothing by itself after the first time.
  const forever = { cacheMaxAge: Infinity, cooldownDuration: Infinity };
  const keys = createRemoteJWKSet(address, { timeoutDuration: TIMEOUT_MS, ...forever });
  let [askedAt, readAt] = [0, 0];
  const read = async () => {
    askedAt = Date.now();
    await keys.reload();
    readAt = Date.now();
  };
  let next: Promise<void> | null = null;
  /** Reads the keys after the pause: once for all tokens that wait for it. */
  const readNext = async () => {
    const pauseMs = Math.max(0, askedAt + UNKNOWN_KEY_PAUSE_MS - Date.now());
    next ??= sleep(pauseMs)
      .then(read)
      .finally(() => (next = null));
    await next;
  };

  return async (header, token) => {
    const now = Date.now();
    if (readAt === 0) await read();
    else if (now - readAt >= REREAD_MS && now - askedAt >= RETRY_MS) await read().catch(() => {});
    return Promise.resolve(keys(header, token)).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have exchanged its key.
      await readNext();
      return keys(header, token);
    });
  };
}

/** A token for several clients names the one that it was given to. */
const isFor = (clientId: string, { aud, azp }: JWTPayload): boolean =>
  azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === clientId;

function identityOf(
  payload: JWTPayload,
  { issuer, roleClaim }: Pick<OidcSettings, 'issuer' | 'roleClaim'>,
): Identity {
  const { sub: subject = '', name, preferred_username: username, email } = payload;
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  return {
    issuer,
    subject,
    name: text(name) ?? text(username) ?? subject,
    email: (text(email) ?? subject).toLowerCase(),
    isEmailVerified: text(email) !== null && payload['email_verified'] === true,
    roles: rolesOf(claimAt(payload, roleClaim)),
    issuedAt: new Date((payload.iat ?? 0) * 1000),
  };
}

/** The claim of this name, or the one at this path. */
const claimAt = (payload: JWTPayload, name: string): unknown =>
  name in payload
    ? payload[name]
    : name
        .split('.')
        .reduce<unknown>(
          (at, part) => (at as Record<string, unknown> | undefined)?.[part],
          payload,
        );

const rolesOf = (claim: unknown): OperatorRole[] => {
  const given: unknown[] = Array.isArray(claim) ? claim : [claim];
  return OPERATOR_ROLES.filter((role) => given.includes(role));
};

function refusalOf(error: unknown): ApiError {
  if (error instanceof errors.JWTExpired) return refused('It has expired: sign in again.');
  if (error instanceof errors.JWTClaimValidationFailed) {
    return refused(`Its claim ${error.claim} is not for this deployment.`);
  }
  const isTheirs =
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    error.code !== errors.JOSEError.code;
  return isTheirs ? refused('Its signature is not valid.') : unavailable(error);
}

const refused = (why: string) =>
  new ApiError('unauthorized', { message: `The sign-in is not accepted. ${why}` });

const unavailable = (cause: unknown) =>
  new ApiError('service_unavailable', {
    message: 'The issuer of the sign-in does not answer. Try again.',
    cause,
  });
