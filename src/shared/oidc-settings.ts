import { z } from 'zod';

/** The hosts to which a token may go without TLS. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

const issuer = z.url().refine((text) => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || LOOPBACK.has(hostname);
}, 'must begin with https://');

/** The environment variables of the sign-in of operators by OpenID Connect. */
export const oidcFields = {
  OIDC_ISSUER: issuer
    .optional()
    .describe('issuer at which operators sign in; without one, they sign in by keys'),
  OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe('our client at the issuer; set together with `OIDC_ISSUER`'),
  OIDC_ROLE_CLAIM: z
    .string()
    .min(1)
    .default('roles')
    .describe('claim of the ID token with the roles; a dotted path for one inside of another'),
  OIDC_SCOPES: z
    .string()
    .min(1)
    .default('openid profile email offline_access')
    .describe(
      'scopes that the command line asks for: they bring name, e-mail, roles and a refresh token',
    ),
};

type Variables = z.output<z.ZodObject<typeof oidcFields>>;

/** The settings of the sign-in by OpenID Connect. */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  roleClaim: string;
  scopes: string;
};

/** Refuses an issuer without a client, and a client without an issuer. */
export function checkOidc(e: Variables, ctx: z.RefinementCtx): void {
  if ((e.OIDC_ISSUER === undefined) === (e.OIDC_CLIENT_ID === undefined)) return;
  const path = [e.OIDC_ISSUER === undefined ? 'OIDC_ISSUER' : 'OIDC_CLIENT_ID'];
  const message = 'OIDC_ISSUER and OIDC_CLIENT_ID must be set together';
  ctx.addIssue({ code: 'custom', path, message, input: null });
}

/** The settings; null without an issuer. */
export const oidcOf = (e: Variables): OidcSettings | null =>
  e.OIDC_ISSUER !== undefined && e.OIDC_CLIENT_ID !== undefined
    ? {
        issuer: e.OIDC_ISSUER,
        clientId: e.OIDC_CLIENT_ID,
        roleClaim: e.OIDC_ROLE_CLAIM,
        scopes: e.OIDC_SCOPES,
      }
    : null;

/** The settings for the command line, which needs no others. Null without an issuer. */
export function readOidcSettings(env: NodeJS.ProcessEnv): OidcSettings | null {
  const given = Object.entries(env).filter(([name, value]) => name in oidcFields && value !== '');
  return oidcOf(z.object(oidcFields).superRefine(checkOidc).parse(Object.fromEntries(given)));
}
