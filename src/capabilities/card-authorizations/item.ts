import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import type { AuthorizationFact } from './card-authorization.js';

/** Which authorization, and of whom: what the store found by the issuer's names. */
export type AuthorizationKey = {
  tenantId: string;
  id: string;
  card: string;
  provider: string;
  token: string;
};

export type DecideCardAuthorization = AuthorizationKey & {
  request: AuthorizationRequest;
  /** Names this asking: whoever comes with the same token later has another one. */
  authorizationRequestId: string;
  /** What is decided later than this is declined: the issuer has its answer by then. */
  answerBy: Date;
  holdMs: number;
};

export type ApplyCardAuthorizationFact = AuthorizationKey & {
  fact: AuthorizationFact;
  code: string | null;
  /** The issuer says so, or we: an asking that takes back what it may have decided, or a hold whose time is over. */
  by: 'issuer' | { withdrawsRequestId: string; request: AuthorizationRequest } | 'clock';
};
