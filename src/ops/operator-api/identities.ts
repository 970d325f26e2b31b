import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import type { Act } from '../../core/audit/entry.js';
import type { Audit } from '../../core/audit/store.js';
import type { Identity } from '../../platform/operators/oidc.js';
import type { OperatorAccount, Operators } from '../../platform/operators/store.js';
import { ApiError } from '../../shared/errors.js';

type Parts = {
  operators: Pick<Operators, 'ofIdentity' | 'create' | 'update'>;
  audit: Pick<Audit, 'act'>;
};

/**
 * The account of a person whom the issuer has named. The first sign-in makes it, or takes the account with the person's e-mail,
 * if the issuer has verified that. A later one brings the roles up to date. Each of these is an act of the issuer in the audit
 * log. An account whose last role the issuer has taken is returned without roles. Throws `forbidden` for a person without a role
 * who has no account, and for an e-mail that is another account's, and `unauthorized` for a token that is older than the present
 * roles.
 */
export async function accountOf(
  { operators, audit }: Parts,
  identity: Identity,
  requestId: string,
): Promise<OperatorAccount> {
  const { own } = await operators.ofIdentity(identity);
  if (own) refuseOlder(own, identity);
  if (own && isDeepStrictEqual(own.roles, identity.roles)) return own;
  if (!own && identity.roles.length === 0) throw withoutRole();
  const changed = await audit.act(actOf(identity, requestId), async (session) => {
    const found = await operators.ofIdentity(identity, session);
    const present = found.own ?? found.sameEmail;
    if (found.own) refuseOlder(found.own, identity);
    if (present && !found.own) refuseUnlessOwn(present, identity);
    const { issuer, subject, name, email, roles, issuedAt } = identity;
    const signsIn = { identity: { issuer, subject, roles_at: issuedAt } };
    const account = present
      ? await operators.update(present.id, { roles, ...signsIn }, session)
      : await operators.create({ name, email, roles, createdBy: [], ...signsIn }, session);
    return account && { result: account, before: shown(present), after: shown(account) };
  });
  if (!changed) throw new ApiError('unauthorized');
  return changed;
}

/** The refusal of a person to whom the issuer gives no role that exists here. */
export const withoutRole = (): ApiError =>
  new ApiError('forbidden', { message: 'The issuer gives you none of the roles of operators.' });

/** Also where the token has the present roles: they may have been taken and given again since it was made. */
function refuseOlder({ identity: known }: OperatorAccount, { issuedAt }: Identity): void {
  if (!known || known.roles_at <= issuedAt) return;
  const message = 'This sign-in is older than your present roles: sign in again.';
  throw new ApiError('unauthorized', { message });
}

/** Nobody gets an account by an e-mail that the issuer has not verified, nor one that is another person's at the issuer. */
function refuseUnlessOwn(sameEmail: OperatorAccount, { isEmailVerified }: Identity): void {
  if (isEmailVerified && sameEmail.identity === undefined) return;
  const message =
    'Another account has your e-mail, and the issuer has not verified that it is yours.';
  throw new ApiError('forbidden', { message });
}

const actOf = ({ issuer, email }: Identity, requestId: string): Act => ({
  id: randomUUID(),
  actor: { operator: null, name: issuer, roles: [] },
  action: 'operators.sign_in',
  target: email,
  tenantId: null,
  reason: 'the issuer has named this person',
  requestId,
  approval: null,
});

const shown = (account: OperatorAccount | null) =>
  account && { id: account.id, name: account.name, roles: account.roles };
