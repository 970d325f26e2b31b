import { ApiError } from '../../shared/errors.js';
import { callerOf } from '../../platform/http/context.js';
import { refuseUnlessAllowed, showTighterLimit } from '../../platform/http/rate-limit.js';
import { withSavedAnswer, type AnswerKeeper } from '../../core/idempotency/with-saved-answer.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { withoutDeadline } from '../../platform/http/time-limit.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { listBanks, resolveAccount } from './api.js';
import type { BankList, EnquiryLimit, NameEnquiry } from './provider-calls.js';
import { presentBank, presentRecipient } from './presenter.js';
import { recipientOf } from './schema.js';

const RETRY_AFTER_SECONDS = 5;

/** The purpose of the fingerprints of name enquiries. */
const FINGERPRINT = 'banks.fingerprint';

/** The routes for questions before a transfer: the holder of an account, and the list of banks. */
export const transferDirectoryRoutes = ({
  banks: { nameEnquiry, enquiryLimit, list: bankList },
  sealing,
  idempotency,
  groupCommit,
}: AnswerKeeper & {
  banks: {
    nameEnquiry: NameEnquiry;
    enquiryLimit: (tenant: Tenant) => EnquiryLimit;
    list: BankList;
  };
  sealing: Pick<Sealing, 'blindIndexes'>;
}): Route[] => [
  route(resolveAccount, async (ctx, { body }) => {
    const key = {
      path: `${API_PREFIX}/transfers/resolve-account`,
      // An account number under a plain hash is found by trying all of them.
      fingerprints: (request: string) => sealing.blindIndexes(request, FINGERPRINT),
    };
    await withSavedAnswer(ctx, { idempotency, groupCommit }, key, async () => {
      const { account, bankCode } = recipientOf(body);
      const limit = await enquiryLimit(callerOf(ctx).tenant).count();
      showTighterLimit(ctx, limit);
      refuseUnlessAllowed(limit);
      const answer = await withoutDeadline(ctx, nameEnquiry({ account, bankCode }));
      if (answer.kind === 'not_found') throw new ApiError('invalid_account');
      if (answer.kind === 'no_answer') throw bankUnavailable();
      const { name, bankName: bank } = answer;
      return presentRecipient({ account, bank_code: bankCode, name, bank });
    });
  }),

  route(listBanks, async (ctx, { query }) => {
    const banks = await withoutDeadline(ctx, bankList());
    if (!banks) throw bankUnavailable();
    sendPage(ctx, banks.map(presentBank), query);
  }),
];

function bankUnavailable(): ApiError {
  const message = 'The bank does not answer now. Try again.';
  return new ApiError('service_unavailable', { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
