import { ApiError } from '../../shared/errors.js';
import { checkKey } from '../../core/idempotency/with-idempotency.js';
import { sendData, sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { withoutDeadline } from '../../platform/http/time-limit.js';
import type { RateLimits } from '../../platform/rate-limits/store.js';
import { listBanks, resolveAccount } from './api.js';
import { enquiryLimitOf, type BankList, type NameEnquiry } from './provider-calls.js';
import { presentBank, presentRecipient } from './presenter.js';
import { recipientOf } from './schema.js';

const RETRY_AFTER_SECONDS = 5;

/** The routes for questions before a transfer: the holder of an account, and the list of banks. */
export const transferDirectoryRoutes = ({
  banks: { nameEnquiry, list: bankList },
  rateLimits,
}: {
  banks: { nameEnquiry: NameEnquiry; list: BankList };
  rateLimits: Pick<RateLimits, 'take' | 'usedUp'>;
}): Route[] => [
  route(resolveAccount, async (ctx, { body }) => {
    checkKey(ctx);
    const { account, bankCode } = recipientOf(body);
    const refusal = await enquiryLimitOf(ctx, rateLimits).count();
    if (refusal) throw refusal;
    const answer = await withoutDeadline(ctx, nameEnquiry({ account, bankCode }));
    if (answer.kind === 'not_found') throw new ApiError('invalid_account');
    if (answer.kind === 'no_answer') throw bankUnavailable();
    const { name, bankName: bank } = answer;
    sendData(ctx, 200, presentRecipient({ account, bank_code: bankCode, name, bank }));
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
